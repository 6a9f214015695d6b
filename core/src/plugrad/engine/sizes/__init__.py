"""Kernels that serve all graphs of one skeleton, whatever their sizes and positions."""
