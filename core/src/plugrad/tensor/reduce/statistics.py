"""Statistics, and reductions that leave NaN out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Unpack

from plugrad.dtype import is_bool, is_complex, is_float, is_int
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import check_tensors, float_dtypes, real_number, require_tensors
from plugrad.tensor.base import DTypeLike, Tensor
from plugrad.tensor.keywords import AxisNames, ReduceNames, SpreadNames, renamed
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shape.joins import fix_size, joined_tensors
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import (
    Axes,
    Dim,
    as_int,
    as_number,
    axes_along,
    broadcast_shapes,
    one_axis,
    show,
    size_today,
)
from plugrad.uop import UOp, add_sizes

# so many places take gibibytes, before anything is computed
_TOO_MANY = 1 << 28


def diff(
    self: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return differences of neighbours along an axis, `n` times; for bools, where they differ.

    Args:
        n: how often.
        axis: along which axis.
        prepend: what comes before this tensor on that axis, of the same other sizes.
        append: what comes behind it.

    Raises:
        ArgumentError: `n` is no integer, or negative.
        AxisError: the axis does not exist.
        DtypeError: `prepend` or `append` is no tensor.
        ShapeError: one of them has another shape; or the axis is symbolic, of fewer than `n` elements.

    Example:
        >>> Tensor([1, 4, 9, 16]).diff().tolist(), Tensor([1, 4, 9, 16]).diff(2).tolist()
        ([3, 5, 7], [2, 2])
    """
    if names:
        (axis,) = renamed(self.diff, names, axis=axis)
    at, count = one_axis(axis, self.ndim), as_int(n, "n")
    if count < 0:
        raise ArgumentError(f"n={count} is negative. Give 0 or more.")
    parts = [part for part in (prepend, self, append) if part is not None]
    check_tensors(parts)
    rest = self.shape[:at] + self.shape[at + 1 :]
    for part in parts:
        if part.ndim != self.ndim or part.shape[:at] + part.shape[at + 1 :] != rest:
            raise ShapeError(f"{show(part.shape)} beside {show(self.shape)} differs in more than axis {at}.")
    out = parts[0].cat(*parts[1:], axis=at)
    size = out.shape[at]
    if not isinstance(size, int) and size_today(size) < count:
        raise ShapeError(
            f"n={count} of an axis that has {size_today(size)} elements today. Sizes that vary end "
            "at 0: take fewer differences."
        )
    for _ in range(count if not isinstance(size, int) else min(count, size)):
        size = out.shape[at]
        last = max(size - 1, 0) if isinstance(size, int) else add_sizes(size, -1)
        first = min(size, 1) if isinstance(size, int) else 1
        after, before = interval(out, at, first, size), interval(out, at, 0, last)
        out = after != before if is_bool(out.dtype) else after - before
    return out


def cov(
    self: Tensor,
    *,
    correction: float = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    **names: Unpack[SpreadNames],
) -> Tensor:
    """Return the covariances of variables, the rows, over observations.

    (m, n) -> (m, m); of one variable, (1, n) or (n,), -> ().

    Floats, the default float for integers. A divisor below 0 counts as 0.

    Args:
        correction: what is taken from the number of observations to divide by.
        fweights: how often each observation was made: integers, (n,).
        aweights: how much each counts beside the others: (n,).

    Raises:
        DtypeError: `fweights` holds no integers, a weight is no tensor, or `correction` no number.
        ShapeError: there are more than two axes, or weights are not one for each observation.

    Source: numpy.cov, for the weights.

    Example:
        >>> Tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]).cov().tolist()
        [[1.0, -2.0], [-2.0, 4.0]]
    """
    if names:
        (correction,) = renamed(self.cov, names, correction=correction)
    return _covariances(self, as_number(correction), fweights, aweights)


def corrcoef(self: Tensor) -> Tensor:
    """Return the correlations of variables, the rows, from -1 to 1.

    (m, n) -> (m, m); of one variable, (1, n) or (n,), -> ().

    Raises:
        ShapeError: there are more than two axes.

    Example:
        >>> Tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]).corrcoef().round(decimals=3).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = _covariances(self, 1, None, None)
    if not c.ndim:
        return c / c
    deviation = c.diagonal().real.sqrt()
    r = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if is_complex(r.dtype):
        return type(r).complex(r.real.clamp(-1, 1), r.imag.clamp(-1, 1))
    return r.clamp(-1, 1)


def _covariances(tensor: Tensor, correction: Any, often: Any, much: Any) -> Tensor:
    if tensor.ndim > 2:
        raise ShapeError(f"operation of shape {show(tensor.shape)}: rows are variables, of two axes at most.")
    of_complex = is_complex(tensor.dtype)
    narrow, wide = (tensor.dtype, tensor.dtype) if of_complex else float_dtypes(tensor)
    x = tensor.cast(wide).atleast_2d()
    count = x.shape[1]
    weights = [_weights_of(w, name, count) for w, name in ((often, "fweights"), (much, "aweights"))]
    given = [w.cast(tensor.real.dtype if of_complex else wide) for w in weights if w is not None]
    if not given:
        away = x - x.mean(1, keepdim=True)
        left = size_beside(x, count, x.dtype) - correction
        left = max(left, 0) if isinstance(count, int) else left.maximum(0)
        out = away @ away.mH / left
    else:
        w = given[0] * given[1] if len(given) > 1 else given[0]
        total = w.sum()
        away = x - (x * w).sum(1, keepdim=True) / total
        bias = total - correction if much is None else total - correction * (w * given[-1]).sum() / total
        out = away @ (away * w).mH / bias.maximum(0)
    out = out.cast(narrow)
    return out.reshape(()) if x.shape[0] == 1 else out


def _weights_of(weights: Any, name: str, count: Any) -> Any:
    if weights is None:
        return None
    require_tensors(**{name: weights})
    if name == "fweights" and not is_int(weights.dtype):
        raise DtypeError(f"fweights of {weights.dtype.name}: numbers of times are integers.")
    if weights.shape != (count,):
        raise ShapeError(
            f"{name} of shape {show(weights.shape)} for {show((count,))} observations. Give one each."
        )
    return weights


def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors, which broadcast: `(self - other).norm(p)`.

    Raises:
        ArgumentError: `p` is no number.
        DtypeError: `other` is no tensor.
        ShapeError: they do not broadcast.

    Example:
        >>> Tensor([1.0, 2.0]).dist(Tensor([4.0, 6.0])).item()
        5.0
    """
    check_tensors((other,))
    if (number := real_number(p, "p")) != number:
        raise ArgumentError("p=nan is no number. Pass one.")
    broadcast_shapes(self.shape, other.shape)
    narrow, _ = float_dtypes(self)
    x = self if is_float(self.dtype) or is_float(other.dtype) else self.cast(narrow)
    return (x - other).norm(p)


def vander(self: Tensor, N: Dim | None = None, increasing: bool = False) -> Tensor:
    """Return the powers `N - 1` to 0 as rows: (n,) -> (n, N), in the dtypes of `cumprod`.

    Args:
        N: how many powers; by default as many as elements.
        increasing: begin with 0.

    Raises:
        ArgumentError: `N` is no integer, or negative.
        ShapeError: there is more than one axis, or none.

    Example:
        >>> Tensor([1, 2, 3]).vander().tolist()
        [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    if self.ndim != 1:
        raise ShapeError(f"vander of shape {show(self.shape)}: it takes one axis. Flatten first.")
    count = self.shape[0] if N is None else N if isinstance(N, UOp) else as_int(N, "N")
    if isinstance(count, int) and count < 0:
        raise ArgumentError(f"N={count} is negative. Give 0 or more.")
    rows = self.unsqueeze(1).expand(-1, count)
    # the first power is 1
    first: Any = type(self).arange(count, device=self.device) == 0
    powers = first.where(1, rows).cast(self.dtype).cumprod(1)
    return powers if increasing else powers.flip(1)


def cartesian_prod(self: Tensor, *others: Tensor) -> Tensor:
    """Return all choices of one element of each vector: (n,), (m,) -> (n * m, 2).

    The last one changes fastest. Of one vector, itself. Also `Tensor.cartesian_prod(x, y)`.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: one is no vector.

    Example:
        >>> Tensor([1, 2]).cartesian_prod(Tensor([3, 4])).tolist()
        [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    given, _ = joined_tensors("cartesian_prod", self, others)
    if other := [x for x in given if x.ndim != 1]:
        raise ShapeError(f"cartesian_prod of shape {show(other[0].shape)}: it takes vectors. Flatten first.")
    if len(given) == 1:
        return given[0]
    columns = [grid.flatten() for grid in given[0].meshgrid(*given[1:])]
    return columns[0].stack(*columns[1:], axis=1)


def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of `r` elements of a vector, in its order: (n,) -> (count, r).

    Of a symbolic one, of as many as it has today; a replay with another size is refused.

    Args:
        r: how many.
        with_replacement: an element may come more than once.

    Raises:
        ArgumentError: `r` is no integer, or negative.
        ShapeError: this is no vector, or a symbolic size has no value.

    Example:
        >>> Tensor([1, 2, 3]).combinations().tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    count = as_int(r, "r")
    if count < 0:
        raise ArgumentError(f"r={count} is negative. Give 0 or more.")
    if self.ndim != 1:
        raise ShapeError(f"combinations of shape {show(self.shape)}: it takes one axis. Flatten first.")
    choose: Any = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    if not isinstance(self.shape[0], int):
        return fix_size(self, 0).combinations(r, with_replacement)
    size = self.shape[0]
    chosen = math.comb(size + count - 1 if with_replacement and size else size, count)
    if chosen * count >= _TOO_MANY:
        raise ArgumentError(f"{chosen} of {count} elements each are beyond all memory.")
    rows: Sequence[Any] = list(choose(range(size), count)) if count and chosen else []
    if not rows:
        return interval(self, 0, 0, 0).reshape(0, count) if count else interval(self, 0, 0, 0)
    places = self._from_host(rows, "int32", self.device)
    return self.gather(0, places.flatten()).reshape(-1, count)


def nansum(
    self: Tensor,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    **names: Unpack[ReduceNames],
) -> Tensor:
    """Return sums without NaN, in the dtypes of `sum`, 0 where all is NaN.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([1.0, float("nan"), 2.0]).nansum().item()
        3.0
    """
    if names:
        axis, keepdim = renamed(self.nansum, names, axis=axis, keepdim=keepdim)
    return _without_nan(self).sum(axes_along(axis, self.ndim), keepdim, dtype)


def nanmean(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
    """Return means without NaN, in the dtypes of `mean`, NaN where all is NaN.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([1.0, float("nan"), 2.0]).nanmean().item()
        1.5
    """
    if names:
        axis, keepdim = renamed(self.nanmean, names, axis=axis, keepdim=keepdim)
    axes = axes_along(axis, self.ndim)
    if not is_float(self.dtype):
        return self.mean(axes, keepdim)
    narrow, wide = float_dtypes(self)
    total = _without_nan(self).cast(wide).sum(axes, keepdim)
    return (total / self.isnan().logical_not().sum(axes, keepdim).cast(wide)).cast(narrow)


def _without_nan(x: Tensor) -> Tensor:
    return x.masked_fill(x.isnan(), 0) if is_float(x.dtype) else x
