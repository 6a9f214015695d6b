"""Reduce and scan along axes: sums, extremes, statistics."""
