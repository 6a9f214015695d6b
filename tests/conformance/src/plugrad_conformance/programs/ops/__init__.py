"""The operations of random programs, one module a topic: what each means to NumPy and to plugrad."""
