"""Tensors: a lazy graph behind the interface that users of NumPy and PyTorch know, one mixin a topic."""

from plugrad.engine import storage
from plugrad.tensor.tensor import Tensor

__all__ = ["Tensor"]

# values that a user still holds are computed before the memory they read is overwritten
storage.register_holder(Tensor.held_graphs)
