"""Rewrite the graph of a model once, when it is loaded."""
