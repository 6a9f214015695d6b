"""Compute each element from the elements at its place in the operands."""
