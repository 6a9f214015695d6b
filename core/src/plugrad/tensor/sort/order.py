"""Sorting along an axis, and order statistics: top k, medians, quantiles.

NaN counts as greater than every number, as in NumPy and PyTorch. Indices of positions are of the default int.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from plugrad.dtype import DType, dtypes, is_bool, is_float
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.elementwise.operands import as_tensor_operand
from plugrad.tensor.keywords import AxisNames, InterpolationNames, OrderNames, ReduceNames, renamed
from plugrad.tensor.lookup import counted, moved_back, moved_last, number_of, position_dtype, size_beside
from plugrad.tensor.reduce.value_index import Ranked
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import (
    Dim,
    as_flag,
    as_int,
    as_number,
    check_choice,
    cut_to,
    expanded,
    filled,
    fixed_shape,
    is_sequence,
    nonempty_axes,
    one_axis,
    show,
    size_today,
)
from plugrad.tensor.sort.kth_value import is_searched, place_of_rank, places_of_least
from plugrad.tensor.sort.row_utils import mask_behind
from plugrad.tensor.sort.sorting import argsort_rows, sort_keys
from plugrad.uop import UOp, add_sizes, greatest, least

Interpolation = Literal["linear", "lower", "higher", "nearest", "midpoint"]

# So many quantiles of long rows are searched one by one; more are read from sorted rows.
_FEW = 4


def sort(
    self: Tensor,
    axis: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = None,
    **names: Unpack[AxisNames],
) -> Ranked[Tensor]:
    """Return the elements in order along an axis, and their positions.

    Equal ones keep their order, whatever `stable` asks for. The tuple has the two as `.values` and
    `.indices` too.

    Raises:
        ArgumentError: `stable` is neither True, False nor None.
        AxisError: the axis does not exist.

    Example:
        >>> values, positions = Tensor([3, 1, 2]).sort()
        >>> values.tolist(), positions.tolist()
        ([1, 2, 3], [1, 2, 0])
    """
    if names:
        (axis,) = renamed(self.sort, names, axis=axis)
    one_axis(axis, self.ndim or 1)
    positions = self.argsort(axis, descending, stable=stable)
    return Ranked(self.gather(axis, positions) if self.ndim else self, positions)


def argsort(
    self: Tensor,
    axis: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = None,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return the positions that sort this tensor along an axis.

    Equal elements keep their order, whatever `stable` asks for.

    Raises:
        ArgumentError: `stable` is neither True, False nor None.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([3, 1, 2]).argsort(descending=True).tolist()
        [0, 2, 1]
    """
    if names:
        (axis,) = renamed(self.argsort, names, axis=axis)
    at = one_axis(axis, self.ndim or 1)
    if stable is not None:
        as_flag(stable, "stable")
    if not self.ndim:
        return self._make(self._const(0, position_dtype(1)), self._device)
    shape = self.shape
    if 0 in shape:
        return self._make(counted(shape[at], position_dtype(shape[at]), shape, at), self._device)
    keys = filled_keys(self, at, as_flag(descending, "descending"))
    out = cut_to(moved_back(argsort_rows(keys), at), shape)
    out = out.cast(position_dtype(keys.shape[-1]))
    # used at least twice: for the elements and by whoever asked
    return self._make(out.contiguous(), self._device)


def topk(
    self: Tensor,
    k: int,
    axis: int = -1,
    largest: bool = True,
    sorted_: bool = True,
    **names: Unpack[OrderNames],
) -> Ranked[Tensor]:
    """Return the `k` greatest (or least) elements along an axis, and their positions.

    They come in order, the first of equals first, whatever `sorted_` asks for. The tuple has
    the two as `.values` and `.indices` too.

    Raises:
        AxisError: the axis does not exist.
        ArgumentError: there are fewer than `k` elements, or `k` is no integer.

    Example:
        >>> [x.tolist() for x in Tensor([3, 1, 2]).topk(2)]
        [[3, 2], [0, 2]]
    """
    if names:
        axis, sorted_ = renamed(self.topk, names, axis=axis, sorted_=sorted_)
    at, k = one_axis(axis, self.ndim or 1), as_int(k, "k")
    if not self.ndim:
        values, places = self.reshape(1).topk(k, 0, largest, sorted_)
        return Ranked(values.squeeze(0), places.squeeze(0)) if k else Ranked(values, places)
    size: Any = size_today(self.shape[at])
    if not 0 <= k <= size:
        raise ArgumentError(f"k={k} of {size} elements on axis {axis}. Ask for 0 to {size}.")
    descending = as_flag(largest, "largest")
    size = least(self.shape[at])
    if not k or 0 in self.shape or k > size or not is_searched(size, k):
        # of a symbolic size, a replay asks again whether there are as many
        positions = interval(self.argsort(at, descending), at, 0, k)
    else:
        keys = filled_keys(self, at, descending).contiguous()
        positions = _restore_axis(self, places_of_least(keys, k, self._device), at)
    return Ranked(self.gather(at, positions), positions)


def median(self: Tensor, axis: int | None = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Any:
    """Return the lower middle element, as in PyTorch; NaN if there is one.

    With an axis, also the position of that element: `.values` and `.indices` of a tuple.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> Tensor([4, 1, 3, 2]).median().item()
        2
    """
    if names:
        axis, keepdim = renamed(self.median, names, axis=axis, keepdim=keepdim)
    if axis is None:
        nonempty_axes(self.shape, None)
        middle = self.flatten().median(0)[0]
        return middle.reshape((1,) * self.ndim) if keepdim else middle
    nonempty_axes(self.shape, axis)
    if not self.ndim:
        return Ranked(self, self.argsort())
    at = one_axis(axis, self.ndim)
    size: Any = self.shape[at]
    position = positions_of_rank(self, at, (size - 1) // 2)
    if is_float(self.dtype):
        is_nan = self.isnan()
        position = is_nan.any(at, keepdim=True).where(is_nan.argmax(at, keepdim=True), position)
    return ranked_at(self, at, position, keepdim)


def quantile(
    self: Tensor,
    q: float | Sequence[float] | Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    interpolation: Interpolation = "linear",
    **names: Unpack[InterpolationNames],
) -> Tensor:
    """Return the value below which the fraction `q` of elements lies; NaN if any is.

    Args:
        q: a fraction, or a tensor or list `(Q,)` of them: then the result has an axis of size Q in front.
        axis: along which axis; None takes all elements.
        keepdim: keep that axis with size 1.
        interpolation: what lies between two elements.

    Raises:
        ArgumentError: a number `q` outside of 0..1, or an unknown interpolation.
        DtypeError: this tensor holds no floats, or `q` no numbers.
        ShapeError: there are no elements, or `q` has more than one axis.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([0.0, 1.0, 2.0]).quantile(0.75).item()
        1.5
    """
    if names:
        axis, keepdim, interpolation = renamed(
            self.quantile, names, axis=axis, keepdim=keepdim, interpolation=interpolation
        )
    wanted = _check_fractions(self, q, interpolation)
    if axis is None:
        nonempty_axes(self.shape, None)
        out = self.flatten().quantile(wanted, 0, False, interpolation)
        return out.reshape(*out.shape, *(1,) * self.ndim) if keepdim else out
    nonempty_axes(self.shape, axis)
    if not self.ndim:
        return self.quantile(wanted, None, False, interpolation)
    at = one_axis(axis, self.ndim)
    size: Any = self.shape[at]
    # narrow floats do not hold all positions
    wide = dtypes.float64 if self.dtype is dtypes.float64 or greatest(size) > 1 << 24 else dtypes.float32
    fractions = (
        wanted
        if isinstance(wanted, TensorBase)
        else self.full((), float(wanted), wide, device=self.device, requires_grad=False)
    )
    last = size_beside(self, size - 1, wide)
    place = fractions.flatten().cast(wide) * last
    low = place.floor()
    share = _upper_weight(place, low, wide, interpolation)
    lower = low.cast(position_dtype(size))
    weight = share.reshape(*(-1 if a == at else 1 for a in range(self.ndim)))
    most = last if isinstance(last, int) else last.cast(lower.dtype)
    upper = (lower + 1).minimum(most)
    a, b = _elements_of_rank(self, at, lower, upper)
    # a choice where one of them has no part, so that it may be infinite
    between = _interpolate(a, b, weight)
    out = (weight == 0).where(a, (weight == 1).where(b, between)).cast(self.dtype)
    has_nan = self.isnan().any(at, keepdim=True)
    out = has_nan.where(float("nan"), out)
    front = (at, *[a for a in range(self.ndim) if a != at])
    out = out.permute(front)
    if keepdim:
        out = out.unsqueeze(at + 1)
    return out if isinstance(wanted, TensorBase) and wanted.ndim else out.squeeze(0)


def _elements_of_rank(x: Tensor, axis: int, *ranks: Tensor) -> list[Tensor]:
    """Return the elements of several ranks (m,) along an axis, searching or sorting."""
    if fixed_shape(ranks[0].shape)[0] <= _FEW and is_searched(greatest(x.shape[axis]), 1):
        return [x.gather(axis, positions_of_rank(x, axis, rank)) for rank in ranks]
    ordered = x.sort(axis)[0]
    ordered = ordered._like(ordered._graph.contiguous())
    return [ordered.index_select(axis, rank) for rank in ranks]


def _check_fractions(x: Tensor, q: float | Sequence[float] | Tensor, interpolation: str) -> float | Tensor:
    """Return the fractions of `quantile`: a number, or a tensor with at most one axis."""
    if not is_float(x.dtype):
        raise DtypeError(f"quantile of {x.dtype.name}: it takes floats. Cast first: .float().")
    modes = ("linear", "lower", "higher", "nearest", "midpoint")
    check_choice(interpolation, modes, "quantile: interpolation")
    if is_sequence(q) or getattr(q, "shape", ()) != ():
        # digits of Python's numbers that float64 has
        digits = x.dtype if x.dtype is dtypes.float64 else None
        q = as_tensor_operand(x, q if hasattr(q, "shape") else x._from_host(q, digits))
    if not isinstance(q, TensorBase):
        q = as_number(q)
        if 0 <= q <= 1:
            return q
        raise ArgumentError(f"q={q} lies outside of 0..1. It is a fraction of the elements.")
    if q.ndim > 1:
        raise ShapeError(f"q of shape {show(q.shape)}. Give a number or one axis of them.")
    return q


def filled_keys(x: Tensor, axis: int, descending: bool) -> UOp:
    """Return keys with `axis` last, symbolic sizes filled with the greatest key."""
    keys = sort_keys(moved_last(x._graph.detach(), axis), descending)
    # the order is stable: what is behind the end goes behind all
    return mask_behind(filled(keys), keys.shape[-1])


def ranked_at(x: Tensor, axis: int, position: Tensor, keepdim: bool) -> Ranked[Tensor]:
    """Return the elements of an axis at one position for each row, and the positions."""
    values = x.gather(axis, position)
    return Ranked(values, position) if keepdim else Ranked(values.squeeze(axis), position.squeeze(axis))


def _restore_axis(x: Tensor, places: UOp, axis: int) -> Tensor:
    """Return positions that were found with `axis` last, of all rows that there may be."""
    shape = list(x.shape)
    shape[axis] = places.shape[-1]
    out = cut_to(moved_back(places, axis), tuple(shape))
    return x._make(out.contiguous(), x._device)


def positions_of_rank(x: Tensor, axis: int, rank: Dim | Tensor) -> Tensor:
    """Return the position of the element of rank `rank`; its axis keeps size 1.

    Args:
        axis: along which axis, whose size is not 0.
        rank: a number, or integers (m,), for each row or for all: then the axis gets size m.
    """
    size = greatest(x.shape[axis])
    if not is_searched(size, 1):
        order = x.argsort(axis)
        if isinstance(rank, TensorBase):
            return order.gather(axis, rank) if rank.ndim == x.ndim else order.index_select(axis, rank)
        return interval(order, axis, rank, add_sizes(rank, 1))
    keys = filled_keys(x, axis, False).contiguous()
    dtype = position_dtype(size)
    rows: Any = keys.shape[:-1]
    if not isinstance(rank, TensorBase):
        ranks = number_of(rank, dtype).reshape((1,) * (len(rows) + 1)).expand((*rows, 1))
    elif rank.ndim == x.ndim:
        ranks = filled(moved_last(rank._graph, axis)).cast(dtype)
    else:
        ranks = expanded(rank._graph.cast(dtype), (*rows, *rank.shape))
    return _restore_axis(x, place_of_rank(keys, ranks.contiguous(), x._device), axis)


def count_nonzero(
    self: Tensor, axis: Any = None, keepdim: bool = False, **names: Unpack[ReduceNames]
) -> Tensor:
    """Return the number of nonzero elements.

    Example:
        >>> Tensor([0, 5, -1]).count_nonzero().item()
        2
    """
    if names:
        axis, keepdim = renamed(self.count_nonzero, names, axis=axis, keepdim=keepdim)
    truths = self if is_bool(self.dtype) else self != 0
    return truths.sum(axis, keepdim, position_dtype(greatest(self.numel())))


def _upper_weight(place: Any, low: Any, wide: DType, interpolation: Interpolation) -> Any:
    """Return the weight of the element after `low` in a quantile at `place`."""
    return {
        "linear": place - low,
        "lower": place * 0,
        "higher": (place > low).cast(wide),
        "nearest": place.round() - low,
        "midpoint": (place > low).cast(wide) * 0.5,
    }[interpolation]


def _interpolate(a: Any, b: Any, weight: Any) -> Any:
    gap = b - a
    is_plain = gap.isfinite()
    # what lies near infinity is infinite, but a sum with its negative would be NaN
    return is_plain.where(a + is_plain.where(gap, 0.0) * weight, a * (1 - weight) + b * weight)
