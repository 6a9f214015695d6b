"""Extremes of elements as PyTorch and NumPy call them, least and greatest together."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, Unpack

from plugrad.tensor.base import TensorBase
from plugrad.tensor.keywords import ReduceNames, renamed
from plugrad.tensor.shapes import Axes, is_sequence, several

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

T_co = TypeVar("T_co", covariant=True)


class Extremes(NamedTuple, Generic[T_co]):
    """What `Tensor.aminmax` gives.

    Attributes:
        min: the least elements.
        max: the greatest elements.

    Example:
        >>> Tensor([3, 1, 2]).aminmax().max.item()
        3
    """

    min: T_co
    max: T_co


class ExtremeMixin(TensorBase):
    """Extremes; NaN where there is one. Equal ones share the gradient."""

    __slots__ = ()

    def amax(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
        """Return the greatest elements, as `max`; `()` means all axes, as in PyTorch.

        Raises:
            AxisError: an axis does not exist.
            ShapeError: there are no elements.

        Example:
            >>> Tensor([[1, 5], [3, 4]]).amax(1).tolist()
            [5, 4]
        """
        if names:
            axis, keepdim = renamed(self.amax, names, axis=axis, keepdim=keepdim)
        return self.max(self._nonempty_axes(_all_or(axis), "amax"), keepdim)

    def amin(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
        """Return the least elements, as `min`; `()` means all axes, as in PyTorch.

        Raises:
            AxisError: an axis does not exist.
            ShapeError: there are no elements.

        Example:
            >>> Tensor([[1, 5], [3, 4]]).amin(1).tolist()
            [1, 3]
        """
        if names:
            axis, keepdim = renamed(self.amin, names, axis=axis, keepdim=keepdim)
        return self.min(self._nonempty_axes(_all_or(axis), "amin"), keepdim)

    def aminmax(
        self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]
    ) -> Extremes[Tensor]:
        """Return the least and the greatest elements, as `.min` and `.max` of a tuple.

        Raises:
            AxisError: an axis does not exist.
            ShapeError: there are no elements.

        Example:
            >>> least, greatest = Tensor([[1, 5], [3, 4]]).aminmax(axis=1)
            >>> least.tolist(), greatest.tolist()
            ([1, 3], [5, 4])
        """
        if names:
            axis, keepdim = renamed(self.aminmax, names, axis=axis, keepdim=keepdim)
        axes = self._nonempty_axes(_all_or(axis), "aminmax")
        return Extremes(self.min(axes, keepdim), self.max(axes, keepdim))

    def ptp(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
        """Return how far the greatest elements are from the least, in this dtype, as in NumPy.

        Raises:
            AxisError: an axis does not exist.
            DtypeError: these are bools.
            ShapeError: there are no elements.

        Example:
            >>> Tensor([[1, 5], [3, 4]]).ptp(1).tolist()
            [4, 1]
        """
        if names:
            axis, keepdim = renamed(self.ptp, names, axis=axis, keepdim=keepdim)
        axes = self._nonempty_axes(axis, "ptp")
        return self.max(axes, keepdim) - self.min(axes, keepdim)


def _all_or(axis: Axes) -> Axes:
    """Return axes, of which none stands for all."""
    return None if is_sequence(axis) and not several(axis) else axis
