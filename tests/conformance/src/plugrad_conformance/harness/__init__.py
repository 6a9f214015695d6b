"""One device under test: its guarded memory, the oracle's results, and each outcome."""
