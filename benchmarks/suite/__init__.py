"""The benchmark runner: cases, one module a library, limits, the table."""
