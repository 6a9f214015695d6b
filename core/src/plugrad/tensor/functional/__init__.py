"""Compute the layers of neural networks: convolution, pooling, norms, attention, losses."""
