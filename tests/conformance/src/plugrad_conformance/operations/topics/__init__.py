"""Cases of operations, written by topic: calls, and their meaning to NumPy."""
