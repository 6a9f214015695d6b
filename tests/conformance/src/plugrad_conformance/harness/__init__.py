"""One device under test: its guarded memory, the oracle's results, and the outcome of each case."""
