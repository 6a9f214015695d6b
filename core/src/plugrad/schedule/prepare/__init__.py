"""Passes over the graph of tensors before values get their loops."""
