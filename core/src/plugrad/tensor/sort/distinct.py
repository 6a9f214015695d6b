"""Unique elements, runs of equal ones, and counts of values."""

from __future__ import annotations

import math
from typing import Any, Unpack

from plugrad.dtype import dtype_max, dtype_min, dtypes, is_bool, is_float, is_int
from plugrad.engine.capture import current_capture
from plugrad.engine.checks import unchecked
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.dispatch import OnGrids
from plugrad.tensor.elementwise.operands import as_tensor_operand
from plugrad.tensor.keywords import AxisNames, ClampNames, OrderNames, renamed
from plugrad.tensor.lookup import number_of, pick_first, position_dtype
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_int, as_number, fixed_shape, one_axis, product, show, size_today
from plugrad.tensor.sort.order import filled_keys
from plugrad.tensor.sort.row_utils import bit_numbers
from plugrad.tensor.sort.search import (
    check_values_are_read,
    len_of,
    no_positions,
    true_positions,
    with_zeros_behind,
)
from plugrad.tensor.sort.sorted_scatter import counts_of_numbers
from plugrad.tensor.sort.sorting import search_rows, sort_keys
from plugrad.uop import UOp, add_sizes, greatest

# Up to so many comparisons, a grid counts all values against all places in less time than it sorts them.
_FEW = 1 << 22


def unique_consecutive(
    self: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **names: Unpack[AxisNames],
) -> Any:
    """Return the first element of each run of equal ones: (...) -> (count,). NaN equals nothing.

    Computes this tensor at once, because the count depends on it.

    Args:
        return_inverse: also return the run of each element, in this shape; of each place on the axis.
        return_counts: also return how long the runs are.
        axis: compare the slices of this axis; None compares all elements in row-major order.

    Raises:
        AxisError: the axis does not exist.
        JitError: inside a jitted function.

    Example:
        >>> [x.tolist() for x in Tensor([1, 1, 2, 1]).unique_consecutive(return_counts=True)]
        [[1, 2, 1], [2, 1, 1]]
    """
    if names:
        (axis,) = renamed(self.unique_consecutive, names, axis=axis)
    shape = self.shape
    flat = self.flatten() if axis is None else self
    at = 0 if axis is None else one_axis(axis, self.ndim)
    size: Any = flat.shape[at]
    places = shape if axis is None else (size,)
    if size_today(size) == 0:
        none = no_positions(self)
        out = (flat, *[none.reshape(*places)] * return_inverse, *[none] * return_counts)
        return out if len(out) > 1 else flat
    values = self._make(flat._graph.detach(), self._device).movedim(at, 0)
    rows = values.reshape(size, product(values.shape[1:]))
    is_other = (interval(rows, 0, 1, size) != interval(rows, 0, 0, add_sizes(size, -1))).any(1)
    begins = self._make(UOp.const(dtypes.bool, True).reshape((1,)), self._device).cat(is_other)
    starts = true_positions(with_zeros_behind(begins))
    results = [flat.index_select(at, starts)]
    if return_inverse:
        results.append((begins.cumsum(0, starts.dtype) - 1).reshape(*places))
    if return_counts:
        end = self._make(number_of(size, starts.dtype).reshape((1,)), self._device)
        results.append(interval(starts, 0, 1, len_of(starts)).cat(end) - starts)
    return results[0] if len(results) == 1 else tuple(results)


def unique(
    self: Tensor,
    *,
    return_inverse: bool = False,
    return_counts: bool = False,
    sorted_: bool = True,
    axis: int | None = None,
    **names: Unpack[OrderNames],
) -> Any:
    """Return the different elements, sorted: (...) -> (count,). All NaNs are one, as in NumPy.

    Computes this tensor at once, because the count depends on it. Integers that lie closer together than
    there are of them are counted, all others sorted. What else to return is said by name: what comes first
    by position means one thing to PyTorch and another to NumPy.

    Args:
        return_inverse: also return where in the result each element is, in this shape.
        return_counts: also return how often each comes.
        sorted_: changes nothing: they come in order.
        axis: compare the slices of this axis, by their first elements, equal ones by their second, and so
            on; None compares all elements.

    Raises:
        AxisError: the axis does not exist.
        JitError: inside a jitted function.

    Example:
        >>> [x.tolist() for x in Tensor([2, 1, 2]).unique(return_counts=True)]
        [[1, 2], [1, 2]]
        >>> Tensor([[2, 1], [0, 3], [2, 1]]).unique(axis=0).tolist()
        [[0, 3], [2, 1]]
    """
    if names:
        sorted_, axis = renamed(self.unique, names, sorted_=sorted_, axis=axis)
    if axis is not None:
        return _unique_slices(self, one_axis(axis, self.ndim), return_inverse, return_counts)
    size = product(self.shape)
    flat = self._make(self._graph.detach().reshape((size,)), self._device)
    if 0 in self.shape:
        empty = no_positions(self)
        inverse = empty.reshape(self.shape)
        out = (flat, *[inverse] * return_inverse, *[empty] * return_counts)
        return out if len(out) > 1 else flat
    if is_int(self.dtype) or is_bool(self.dtype):
        least, most = _limits(flat)
        if most - least < size_today(size):
            # of a power of two, so that other limits are likely to be the same kernels
            bins = 1 << (most - least).bit_length()
            return _unique_by_counting(self, flat, least, bins, return_inverse, return_counts)
    return _unique_by_sorting(self, flat, return_inverse, return_counts)


def _limits(x: Tensor) -> tuple[int, int]:
    """Return bounds of the elements: without reading them where a byte holds each."""
    if x.dtype.itemsize == 1:
        return int(dtype_min(x.dtype)), int(dtype_max(x.dtype))
    check_values_are_read()
    least, most = x.min().stack(x.max()).tolist()
    return least, most


def _unique_by_counting(
    x: Tensor, flat: Tensor, least: int, bins: int, return_inverse: bool, return_counts: bool
) -> Any:
    """Return the unique integers of a tensor from the counts of `least`, `least + 1`, ..."""
    wide = dtypes.uint64 if x.dtype is dtypes.uint64 else dtypes.int64
    numbers = (flat.cast(wide) - least).cast(dtypes.int64)
    counts = _count_numbers(numbers, bins, None)
    counts = counts._like(counts._graph.contiguous())
    if current_capture() is None:
        # finding the positions reads them: they are counted once
        counts.realize()
    is_there = counts > 0
    found = true_positions(is_there)
    results = [(found.cast(wide) + least).cast(x.dtype)]
    if return_inverse:
        ranks = is_there.cumsum(0, counts.dtype) - 1
        results.append(ranks.gather(0, numbers).reshape(x.shape))
    if return_counts:
        results.append(counts.gather(0, found))
    return results[0] if len(results) == 1 else tuple(results)


def _unique_by_sorting(x: Tensor, flat: Tensor, return_inverse: bool, return_counts: bool) -> Any:
    size: Any = flat.shape[0]
    order = flat.argsort()
    keys = sort_keys(flat._graph, False).contiguous()
    ordered = pick_first(keys, order._graph).contiguous()
    if current_capture() is None:
        # counting computes a part of what follows: sorting is planned and done once
        order.realize(x._make(keys, x._device), x._make(ordered, x._device))
    starts = _run_starts(x._make(ordered, x._device))
    results = [flat.gather(0, order.gather(0, starts))]
    if return_inverse:
        places = search_rows(pick_first(ordered, starts._graph).contiguous(), keys, False)
        results.append(x._make(places.cast(starts.dtype).reshape(x.shape), x._device))
    if return_counts:
        end = x._make(number_of(size, starts.dtype).reshape((1,)), x._device)
        results.append(interval(starts, 0, 1, len_of(starts)).cat(end) - starts)
    return results[0] if len(results) == 1 else tuple(results)


def _unique_slices(x: Tensor, axis: int, return_inverse: bool, return_counts: bool) -> Any:
    size = x.shape[axis]
    keys = x._make(sort_keys(x._graph.detach(), False), x._device).movedim(axis, -1)
    rows = keys.reshape(product(keys.shape[:-1]), size)
    whole = with_zeros_behind(rows)
    if not isinstance(size, int):
        # slices that there are not come last
        place = x._make(UOp.iota(greatest(size), dtypes.int32), x._device)
        is_behind = place >= x._make(number_of(size, dtypes.int32), x._device)
        whole = is_behind.cast(whole.dtype).unsqueeze(0).cat(whole)
    ranks = _slice_ranks(whole)
    order = ranks.argsort()
    starts = _run_starts(interval(ranks.gather(0, order), 0, 0, size))
    results = [x.index_select(axis, order.gather(0, starts))]
    ranks = interval(ranks, 0, 0, size)
    if return_inverse:
        results.append(ranks)
    if return_counts:
        results.append(ranks.bincount())
    return results[0] if len(results) == 1 else tuple(results)


def _run_starts(x: Tensor) -> Tensor:
    size = x.shape[0]
    room = greatest(size)
    if not room:
        return no_positions(x)
    whole = with_zeros_behind(x)
    is_other = interval(whole, 0, 1, room) != interval(whole, 0, 0, room - 1)
    first = UOp.const(dtypes.bool, True).reshape((1,))
    begins = x._make(first, x._device).cat(is_other)
    if not isinstance(size, int):
        place = x._make(UOp.iota(room, dtypes.int32), x._device)
        begins = begins & (place < x._make(number_of(size, dtypes.int32), x._device))
    return true_positions(begins)


def _slice_ranks(x: Tensor) -> Tensor:
    """Return the rank of each slice among the different ones: (count, n) -> (n,).

    The keys of two rows become one in each round, so that there are log2(count) of them.
    """
    count, size = fixed_shape(x.shape)
    if not count or not size:
        return x._make(UOp.const(dtypes.int64, 0).reshape((1,)).expand((size,)), x._device)
    ranks = _dense_ranks(x)
    while count > 1:
        # a row of its own has a partner of zeros
        pairs = ranks.pad(((0, count % 2), (0, 0))).reshape(-1, 2, size)
        both = interval(pairs, 1, 0, 1).squeeze(1) * size + interval(pairs, 1, 1, 2).squeeze(1)
        ranks = _dense_ranks(both)
        count = (count + 1) // 2
    return ranks.reshape(size)


def _dense_ranks(x: Tensor) -> Tensor:
    """Return the number of different smaller elements in each one's row, as int64."""
    size: Any = x.shape[-1]
    order = x.argsort(-1)
    ordered = x.gather(-1, order)
    is_other = interval(ordered, -1, 1, size) != interval(ordered, -1, 0, size - 1)
    # the first one has none before it
    ranks = is_other.cast(dtypes.int64).pad(((0, 0), (1, 0))).cumsum(-1)
    out = ranks.gather(-1, order.argsort(-1))
    return x._make(out._graph.contiguous(), x._device)


def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return the counts of 0, 1, ... up to the greatest element: (n,) -> (count,).

    Computes this tensor at once, because the count depends on it. Negative elements are not counted.

    Args:
        weights: what each element counts instead of 1; the result has its dtype.
        minlength: the least size of the result.

    Raises:
        DtypeError: this tensor holds no integers.
        ShapeError: it has more than one axis, or `weights` another shape.
        ArgumentError: `minlength` is no integer, or negative.
        JitError: inside a jitted function.

    Example:
        >>> Tensor([1, 3, 1]).bincount().tolist()
        [0, 2, 0, 1]
    """
    if not is_int(self.dtype):
        raise DtypeError(f"bincount of {self.dtype.name}: it takes integers. Cast first: .int().")
    if (least_size := as_int(minlength, "minlength")) < 0:
        raise ArgumentError(f"minlength={least_size} is negative. Give 0 or more.")
    weights = None if weights is None else as_tensor_operand(self, weights)
    if self.ndim != 1 or (weights is not None and weights.shape != self.shape):
        others = "" if weights is None else f" with weights of shape {show(weights.shape)}"
        raise ShapeError(f"bincount of shape {show(self.shape)}{others}. Give one axis; flatten first.")
    most = self.max().item() if size_today(self.shape[0]) else -1
    bins = max(most + 1, least_size)
    numbers = self._like(self._graph.cast(dtypes.int64))
    return _count_numbers(numbers, bins, weights)


def _count_numbers(x: Tensor, bins: int, weights: Tensor | None) -> Tensor:
    size = greatest(x.shape[0])
    dtype = position_dtype(size) if weights is None else weights.dtype
    start = x._make(UOp.const(dtype, 0).reshape((1,)).expand((bins,)), x._device)
    if not bins:
        return start
    inside = (x < 0).where(bins, x)
    with unchecked():
        found = start.scatter_reduce(0, inside, 1 if weights is None else weights, "sum")
    if weights is not None or bins * size <= _FEW:
        return found
    keys = filled_keys(x, 0, descending=False)
    return x._make(found._graph.dispatch(OnGrids(counts_of_numbers, (bins,)), keys, bit_numbers()), x._device)


def histc(
    self: Tensor, bins: int = 100, min_: float = 0, max_: float = 0, **names: Unpack[ClampNames]
) -> Tensor:
    """Return the counts of elements in `bins` equal parts of [min_, max_]: (...) -> (bins,).

    The last part includes `max_`. Elements outside, and NaN, are not counted. With equal limits
    the parts lie between the least and the greatest element. The counts have this dtype, as in PyTorch.

    Raises:
        ArgumentError: there are no parts, `max_` is less than `min_`, or one of them is not finite.
        DtypeError: this tensor holds no floats, or a limit is no number.

    Example:
        >>> Tensor([1.0, 2.0, 1.0]).histc(4, 0, 3).tolist()
        [0.0, 2.0, 1.0, 0.0]
    """
    if names:
        min_, max_ = renamed(self.histc, names, min_=min_, max_=max_)
    bins, min_, max_ = as_int(bins, "bins"), as_number(min_), as_number(max_)
    if bins < 1 or not -math.inf < min_ <= max_ < math.inf:
        raise ArgumentError(f"{bins} bins from {min_} to {max_}. Give at least 1, and finite min_ <= max_.")
    if not is_float(self.dtype):
        raise DtypeError(f"histc of {self.dtype.name}: it takes floats. Cast first: .float().")
    flat = self._make(self._graph.detach().reshape((product(self.shape),)), self._device)
    if 0 in self.shape:
        return self.full((bins,), 0, dtype=self.dtype, device=self._device)
    low: Any = float(min_) if min_ < max_ else flat.min()
    high: Any = float(max_) if min_ < max_ else flat.max()
    if min_ == max_:
        is_point = low == high
        low, high = is_point.where(low - 1, low), is_point.where(high + 1, high)
    place = ((flat - low) * bins / (high - low)).floor().clamp(0, bins - 1)
    is_inside = (flat >= low) & (flat <= high)
    numbers = is_inside.where(place, -1).cast(dtypes.int64)
    return _count_numbers(numbers, bins, None).cast(self.dtype)
