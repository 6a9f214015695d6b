"""Tensors: lazy graphs behind the interface of NumPy and PyTorch, one mixin a topic."""

from plugrad.tensor.tensor import Tensor

__all__ = ["Tensor"]
