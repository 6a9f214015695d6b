"""Exchange elements with the host: Python values, NumPy arrays, DLPack, other dtypes."""
