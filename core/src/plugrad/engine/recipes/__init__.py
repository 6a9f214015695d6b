"""Realize graphs once more that differ only in buffers from one that was realized before."""
