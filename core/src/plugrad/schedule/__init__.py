"""From a graph of tensors to kernels in the order of their launches."""
