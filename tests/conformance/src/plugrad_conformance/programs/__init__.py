"""Random programs over the tensor API, on which devices and NumPy are compared."""
