"""Passes on a fresh kernel, before its loops are optimised."""
