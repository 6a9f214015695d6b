"""The operations of random programs, one module a topic."""
