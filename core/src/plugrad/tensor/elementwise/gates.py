"""Activations with gates, thresholds and learned slopes."""

from __future__ import annotations

from typing import Unpack

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise import special_graphs as graphs
from plugrad.tensor.elementwise.operands import as_tensor_operand, composed
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.shape.joins import equal_parts
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_number, one_axis, show, size_today


def glu(self: Tensor, axis: int = -1, **names: Unpack[AxisNames]) -> Tensor:
    """Return half of an axis times the sigmoid of the rest: (.., 2n, ..) -> (.., n, ..).

    Source: Dauphin et al. 2017, section 2.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis has an odd number of elements.

    Example:
        >>> Tensor([4.0, 0.0]).glu().tolist()
        [2.0]
    """
    if names:
        (axis,) = renamed(self.glu, names, axis=axis)
    at = one_axis(axis, self.ndim, "glu")
    size = self.shape[at]
    if size_today(size) % 2:
        raise ShapeError(
            f"glu: axis {axis} of shape {show(self.shape)} has no two equal halves. Pad or cut it."
        )
    if not isinstance(size, int):
        first, second = equal_parts(self, at, 2)
        return first * second.sigmoid()
    return interval(self, at, 0, size // 2) * interval(self, at, size // 2, size).sigmoid()


def prelu(self: Tensor, weight: Tensor | float) -> Tensor:
    """Return values below 0 times `weight`, a number or one for each channel (axis 1).

    Source: He et al. 2015, section 2.1.

    Raises:
        ShapeError: `weight` has another number of elements than 1 and the channels.
        DtypeError: `weight` is neither a tensor nor a number.

    Example:
        >>> Tensor([[-2.0, 3.0]]).prelu(Tensor([0.5, 0.1])).tolist()
        [[-1.0, 3.0]]
    """
    weight = as_tensor_operand(self, weight)
    count = weight.numel()
    channels = self.shape[1] if self.ndim > 1 else 1
    if weight.ndim > 1 or (count != 1 and count is not channels and count != channels):
        raise ShapeError(
            f"prelu of shape {show(self.shape)}: weight has shape {show(weight.shape)}. Give one slope, "
            f"or {channels if isinstance(channels, int) else 'one'} for the channels on axis 1."
        )
    slopes = weight.reshape(()) if count == 1 else weight.reshape(-1, *(1,) * (self.ndim - 2))
    # one product, not a choice of two: a slope that is NaN has no part in what is above 0. True is 1 in
    # every dtype, also of bools, which an integer would make integers.
    return self * (self > 0).where(True, slopes)


def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
    """Return values up to `threshold` as `value`.

    Example:
        >>> Tensor([1.0, 2.0, 3.0]).threshold(2, -1).tolist()
        [-1.0, -1.0, 3.0]
    """
    # the comparison this way round keeps NaN
    return (self <= threshold).where(value, self)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return values of a magnitude up to `lambd` as 0.

    Raises:
        DtypeError: `lambd` is no number.
        ArgumentError: `lambd` is negative.

    Example:
        >>> Tensor([-2.0, 0.25]).hardshrink().tolist()
        [-2.0, 0.0]
    """
    width = _width(lambd, "hardshrink")
    return ((self <= width) & (self >= -width)).where(0.0, self)


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return values nearer to 0 by `lambd`, those of a lesser magnitude as 0.

    Raises:
        DtypeError: `lambd` is no number.
        ArgumentError: `lambd` is negative.

    Example:
        >>> Tensor([-2.0, 0.25]).softshrink().tolist()
        [-1.5, 0.0]
    """
    width = _width(lambd, "softshrink")
    below = (self < -width).where(self + width, self * 0.0)
    return (self > width).where(self - width, below)


def tanhshrink(self: Tensor) -> Tensor:
    """Return `self - tanh(self)`.

    Example:
        >>> Tensor([0.0]).tanhshrink().tolist()
        [0.0]
    """
    return composed(self, lambda x: x - graphs.tanh(x))


def _width(lambd: float, what: str) -> float:
    width = as_number(lambd, what)
    if width < 0:
        raise ArgumentError(f"{what}: lambd={lambd} is negative. Give the width of the part that becomes 0.")
    return width
