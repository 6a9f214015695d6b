"""Tensors: lazy graphs behind the interface of NumPy and PyTorch, one mixin a topic.

This module can itself be called: `plugrad.tensor(data)` makes a tensor, as `torch.tensor(data)` does.
"""

import sys
from types import ModuleType
from typing import Any

from plugrad.tensor.tensor import Tensor

__all__ = ["Tensor"]


class _Maker(ModuleType):
    def __call__(self, data: Any, **settings: Any) -> Tensor:
        return Tensor(data, **settings)


sys.modules[__name__].__class__ = _Maker
