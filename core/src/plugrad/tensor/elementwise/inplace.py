"""`+=` and its kin: they write into the memory that a tensor shows, as in NumPy and PyTorch."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING

from plugrad.dtype import Number
from plugrad.tensor.base import TensorBase

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class InPlaceMixin(TensorBase):
    """Operators that write their result into the tensor on their left, so that its views show it too.

    Where a gradient is asked for, nothing may be overwritten: if the left side was computed from tensors that
    require a gradient, or the right side requires one, the name on the left stands for a new tensor instead.
    A parameter itself is written to, as in `w -= rate * w.grad`.

    Raises:
        ShapeError: the result does not fit the left side.
        DtypeError: the result has another dtype, such as that of an integer tensor and 0.5.
        ViewError: the left side was expanded.

    Example:
        >>> t = Tensor([[1, 2], [3, 4]])
        >>> row = t[0]
        >>> row += 10
        >>> t.tolist()
        [[11, 12], [3, 4]]
    """

    __slots__ = ()

    def _updated(self: Tensor, result: Tensor, other: Tensor | Number) -> Tensor:
        is_asked = isinstance(other, InPlaceMixin) and other.requires_grad and not self._forgets
        if self._is_tracked or is_asked:
            return result
        return self.assign(result)

    def __iadd__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self + other, other)

    def __isub__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self - other, other)

    def __imul__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self * other, other)

    def __itruediv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self / other, other)

    def __ifloordiv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self // other, other)

    def __imod__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self % other, other)

    def __ipow__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self**other, other)

    def __iand__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self & other, other)

    def __ior__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self | other, other)

    def __ixor__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self ^ other, other)

    def __ilshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self << other, other)

    def __irshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self >> other, other)
