"""From a graph of tensors to kernels in order: which values get memory, and the loops that compute them."""
