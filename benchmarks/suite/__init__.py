"""What the benchmark runner is made of: cases, one module a library, the machine's limits, the table."""
