"""Optimisations of one kernel's axes: their list, their effect, and their choice."""
