"""Make tensors of constants, ranges and random numbers."""
