"""Tensors: lazy graphs behind the interface of NumPy and PyTorch, one mixin a topic.

This module can itself be called: `plugrad.tensor(data)` makes a tensor, as `torch.tensor(data)` does.
"""

from plugrad._util import make_callable
from plugrad.tensor.tensor import Tensor

__all__ = ["Tensor"]

make_callable(__name__, Tensor)
