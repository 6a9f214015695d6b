"""The parts of the class `UOp`: operators, builders and properties."""
