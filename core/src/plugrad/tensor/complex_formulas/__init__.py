"""Functions of complex numbers, as formulas of their real and imaginary parts."""
