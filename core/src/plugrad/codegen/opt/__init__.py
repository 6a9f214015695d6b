"""Optimisations of one kernel's axes: what they are, how they apply, and which to choose."""
