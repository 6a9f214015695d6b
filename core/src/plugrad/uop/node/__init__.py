"""Parts of the class `UOp`: its operators and builders, and the properties that its sources decide."""
