"""The search for the fastest optimisations of a kernel (BEAM), and what it has found."""
