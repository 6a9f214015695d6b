"""Tensors: a lazy graph behind the interface that users of NumPy and PyTorch know, one mixin a topic."""

from plugrad.tensor.tensor import Tensor

__all__ = ["Tensor"]
