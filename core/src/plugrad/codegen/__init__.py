"""Passes from one kernel's graph to its linear program, driven by `Capabilities`."""
