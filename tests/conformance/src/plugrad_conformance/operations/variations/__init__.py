"""Cases derived from those of the topics: other dtypes, shapes, and values."""
