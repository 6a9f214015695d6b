"""Properties of tensors by the names of PyTorch and NumPy."""

from __future__ import annotations

from plugrad.tensor.base import Tensor


def dim(self: Tensor) -> int:
    """Return the number of axes, `ndim`.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).dim()
        2
    """
    return self.ndim


@property
def itemsize(self: Tensor) -> int:
    """The size of one element in bytes, `element_size()`.

    Example:
        >>> Tensor([1, 2]).itemsize
        4
    """
    return self.element_size()
