"""Backends with one defect each, to show that the suite finds it.

Each mutant wraps an allocator, a renderer, a compiler, a runner or a hook of a backend that works, and names
the cases that must fail. `python -m plugrad_conformance.mutants` runs them and prints the kill matrix.
"""
