"""Properties of tensors by the names of PyTorch and NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.tensor.shapes import Dim

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


def dim(self: Tensor) -> int:
    """Return the number of axes, `ndim`.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).dim()
        2
    """
    return self.ndim


def ndimension(self: Tensor) -> int:
    """Return the number of axes, `ndim`.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).ndimension()
        2
    """
    return self.ndim


def nelement(self: Tensor) -> Dim:
    """Return the number of elements, `numel()`.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).nelement()
        4
    """
    return self.numel()


@property
def itemsize(self: Tensor) -> int:
    """The size of one element in bytes, `element_size()`.

    Example:
        >>> Tensor([1, 2]).itemsize
        4
    """
    return self.element_size()
