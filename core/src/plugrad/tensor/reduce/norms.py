"""Norms, extremes, and pairs of statistics."""

from __future__ import annotations

import math
from typing import Generic, Literal, NamedTuple, TypeVar, Unpack

from plugrad.dtype import is_complex, is_float
from plugrad.errors import ArgumentError
from plugrad.tensor.argument_checks import float_dtypes
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.keywords import AxisNames, NormNames, ReduceNames, SpreadNames, renamed
from plugrad.tensor.shapes import Axes, is_sequence, nonempty_axes, several

T_co = TypeVar("T_co", covariant=True)


class Extremes(NamedTuple, Generic[T_co]):
    """Result of `Tensor.aminmax`.

    Attributes:
        min: the least elements.
        max: the greatest elements.

    Example:
        >>> Tensor([3, 1, 2]).aminmax().max.item()
        3
    """

    min: T_co
    max: T_co


def norm(
    self: Tensor,
    p: float | Literal["fro"] = 2.0,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    **names: Unpack[NormNames],
) -> Tensor:
    """Return `sum(|self| ** p) ** (1 / p)`: the Euclidean length for 2. The gradient of length 0 is 0.

    Args:
        p: `inf` and `-inf` give the greatest and least magnitude, 0 how many elements are not 0; "fro" is
            PyTorch's name of 2.
        axis: what to sum over.
        keepdim: keep those axes with size 1.
        dtype: compute in, and return, this float dtype.

    Raises:
        ArgumentError: `p` is no number.
        AxisError: an axis does not exist.
        ShapeError: there are no elements, for an infinite `p`.

    Example:
        >>> Tensor([[3.0, 4.0], [0.0, -5.0]]).norm(axis=1).tolist()
        [5.0, 5.0]
        >>> Tensor([3.0, -4.0]).norm(float("inf")).item()
        4.0
    """
    if names:
        p, axis, keepdim = renamed(self.norm, names, p=p, axis=axis, keepdim=keepdim)
    p = 2.0 if isinstance(p, str) and p == "fro" else p
    if not isinstance(p, (int, float)) or p != p:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"p={p!r} is no number. Norms of matrices are in the linear algebra.")
    x = self.abs() if is_complex(self.dtype) else self
    narrow, wide = float_dtypes(x)
    if dtype is not None:
        narrow = wide = the_dtype(dtype, narrow)
    size = x.cast(wide).abs()
    if math.isinf(p):
        out = size.max(axis, keepdim) if p > 0 else size.min(axis, keepdim)
    elif p == 0:
        out = (size != 0).cast(wide).sum(axis, keepdim)
    elif p == 1:
        out = size.sum(axis, keepdim)
    else:
        total = (size.square() if p == 2 else size**p).sum(axis, keepdim)
        # a root has no gradient at 0
        is_zero = total == 0
        safe = is_zero.where(1.0, total)
        root = safe.sqrt() if p == 2 else safe ** (1 / p)
        out = is_zero.where(0.0 if p > 0 else float("inf"), root)
    return out.cast(narrow)


def normalize(
    self: Tensor, p: float = 2.0, axis: Axes = 1, eps: float = 1e-12, **names: Unpack[AxisNames]
) -> Tensor:
    """Return this divided by its norm along an axis; norms below `eps` count as that.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([[3.0, 4.0], [0.0, 0.0]]).normalize().tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    if names:
        (axis,) = renamed(self.normalize, names, axis=axis)
    # float16 has no number as small as eps, and vectors of zeros would be NaN
    dtype, wide = float_dtypes(self)
    x = self.cast(wide)
    return (x / x.norm(p, axis, keepdim=True).clamp(eps)).cast(dtype)


def softmin(
    self: Tensor, axis: int = -1, dtype: DTypeLike | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return `softmax(-self)` along an axis.

    Raises:
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([0.0, 0.0]).softmin().tolist()
        [0.5, 0.5]
    """
    if names:
        (axis,) = renamed(self.softmin, names, axis=axis)
    x = self if is_float(self.dtype) else self.cast(float_dtypes(self)[0])
    return (-x).softmax(axis, dtype)


def var_mean(
    self: Tensor,
    axis: Axes = None,
    *,
    keepdim: bool = False,
    correction: float = 1,
    **names: Unpack[SpreadNames],
) -> tuple[Tensor, Tensor]:
    """Return `var(...)` and `mean(...)`.

    Raises:
        AxisError: an axis does not exist.
        DtypeError: `correction` is no number.

    Example:
        >>> [x.item() for x in Tensor([1.0, 3.0]).var_mean()]
        [2.0, 2.0]
    """
    if names:
        axis, keepdim, correction = renamed(
            self.var_mean, names, axis=axis, keepdim=keepdim, correction=correction
        )
    return self.var(axis, keepdim=keepdim, correction=correction), self.mean(axis, keepdim)


def std_mean(
    self: Tensor,
    axis: Axes = None,
    *,
    keepdim: bool = False,
    correction: float = 1,
    **names: Unpack[SpreadNames],
) -> tuple[Tensor, Tensor]:
    """Return `std(...)` and `mean(...)`.

    Raises:
        AxisError: an axis does not exist.
        DtypeError: `correction` is no number.

    Example:
        >>> [x.item() for x in Tensor([1.0, 1.0]).std_mean()]
        [0.0, 1.0]
    """
    if names:
        axis, keepdim, correction = renamed(
            self.std_mean, names, axis=axis, keepdim=keepdim, correction=correction
        )
    return self.std(axis, keepdim=keepdim, correction=correction), self.mean(axis, keepdim)


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
    return self.max(nonempty_axes(self.shape, _empty_as_all(axis)), keepdim)


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
    return self.min(nonempty_axes(self.shape, _empty_as_all(axis)), keepdim)


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
    axes = nonempty_axes(self.shape, _empty_as_all(axis))
    return Extremes(self.min(axes, keepdim), self.max(axes, keepdim))


def ptp(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
    """Return the difference of maximum and minimum in this dtype, as in NumPy.

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
    axes = nonempty_axes(self.shape, axis)
    return self.max(axes, keepdim) - self.min(axes, keepdim)


def _empty_as_all(axis: Axes) -> Axes:
    return None if is_sequence(axis) and not several(axis) else axis
