"""Pooling into as many windows as are asked for.

The last axes are pooled: `(..., *sizes) -> (..., *output_size)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plugrad.autodiff import inputs_of, outputs_of, with_rule
from plugrad.dtype import dtypes, is_float, sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.functional.pool import axes_of, checked_shape, from_end_of, place_from_end
from plugrad.tensor.lookup import counted, moved_last, number_of, pick_last, position_dtype
from plugrad.tensor.shape.spatial import dims_of, per_axis
from plugrad.tensor.shapes import Dim, expanded, is_static, product, show, size_today
from plugrad.uop import Ops, UOp, greatest, least

OutputSizes = Dim | None | Sequence[Dim | None]


def adaptive_avg_pool2d(self: Tensor, output_size: OutputSizes) -> Tensor:
    """Return means over as many windows as are asked for: (..., H, W) -> (..., *output_size).

    Window `i` of `n` over `size` elements runs from `floor(i*size/n)` to `ceil((i+1)*size/n)`.

    Args:
        output_size: numbers of windows, which may be symbolic; None keeps an axis as it is.

    Raises:
        ShapeError: a number is not positive, or there are too many.

    Example:
        >>> Tensor([[1.0, 2.0, 3.0]]).adaptive_avg_pool2d((1, 2)).tolist()
        [[1.5, 2.5]]
    """
    return adaptive_avg(self, output_size, axes_of(output_size, 2))


def adaptive_avg_pool1d(self: Tensor, output_size: OutputSizes) -> Tensor:
    """Return `adaptive_avg_pool2d` over the last axis: (..., L) -> (..., output_size).

    Example:
        >>> Tensor([1.0, 2.0, 3.0]).adaptive_avg_pool1d(1).tolist()
        [2.0]
    """
    return adaptive_avg(self, output_size, 1)


def adaptive_avg_pool3d(self: Tensor, output_size: OutputSizes) -> Tensor:
    """Return `adaptive_avg_pool2d` over the last three axes: (..., D, H, W) -> (..., *output_size).

    Example:
        >>> Tensor.arange(8).reshape(2, 2, 2).adaptive_avg_pool3d(1).item()
        3.5
    """
    return adaptive_avg(self, output_size, 3)


def adaptive_max_pool2d(self: Tensor, output_size: OutputSizes, return_indices: bool = False) -> Any:
    """Return the greatest values of as many windows as are asked for, those of `adaptive_avg_pool2d`.

    Args:
        output_size: numbers of windows, which may be symbolic; None keeps an axis as it is.
        return_indices: also return where each value was, as `max_pool2d` does.

    Raises:
        ShapeError: a number is not positive, or there are too many.

    Example:
        >>> Tensor([[1.0, 4.0, 3.0]]).adaptive_max_pool2d((1, 2)).tolist()
        [[4.0, 4.0]]
    """
    axes = axes_of(output_size, 2)
    return _adaptive_max(self, output_size, axes, return_indices)


def adaptive_max_pool1d(self: Tensor, output_size: OutputSizes, return_indices: bool = False) -> Any:
    """Return `adaptive_max_pool2d` over the last axis: (..., L) -> (..., output_size).

    Example:
        >>> Tensor([1, 2, 3]).adaptive_max_pool1d(1).tolist()
        [3]
    """
    return _adaptive_max(self, output_size, 1, return_indices)


def adaptive_max_pool3d(self: Tensor, output_size: OutputSizes, return_indices: bool = False) -> Any:
    """Return `adaptive_max_pool2d` over the last three axes: (..., D, H, W) -> (..., *output_size).

    Example:
        >>> Tensor.arange(8).reshape(2, 2, 2).adaptive_max_pool3d(1).item()
        7
    """
    return _adaptive_max(self, output_size, 3, return_indices)


def adaptive_avg(x: Tensor, output_size: OutputSizes, axes: int) -> Tensor:
    """Return means over so many windows of the last axes."""
    counts = _window_counts(x, output_size, axes)
    narrow = x.dtype if is_float(x.dtype) else dtypes.default_float
    u = x._graph.cast(sum_acc_dtype(narrow))
    first = x.ndim - axes
    u = _mean_of_whole_axes(u, first, counts)
    for axis, count in enumerate(counts, first):
        u = _mean_of_bins(u, axis, count)
    return x._like(u.cast(narrow))


def _adaptive_max(tensor: Tensor, output_size: OutputSizes, axes: int, return_indices: bool) -> Any:
    counts = _window_counts(tensor, output_size, axes)
    first = tensor.ndim - axes
    sizes: Any = tensor.shape[first:]
    from_end = from_end_of(sizes)
    x = best = tensor._graph
    rank = expanded(from_end, tensor.shape)
    for axis, count in enumerate(counts, first):
        best, rank = _greatest_of_bins(best, rank, axis, count)
    if is_float(tensor.dtype) and best is not x:
        # written once: what asks for a rank asks for that of few windows
        rank = rank.contiguous()
        (best,) = with_rule([best], [x, rank, from_end], _max_gradient)
    if not return_indices:
        return tensor._like(best)
    return tensor._like(best), tensor._like(place_from_end(rank, product(sizes)))


def _window_counts(x: TensorBase, output_size: OutputSizes, axes: int) -> tuple[Any, ...]:
    shape = checked_shape(x, axes)
    given = per_axis(output_size, axes, "output_size")
    sizes = shape[len(shape) - axes :]
    counts = tuple(
        size if count is None else dims_of(count, 1, "output_size")[0]
        for count, size in zip(given, sizes, strict=True)
    )
    if min(map(size_today, (*counts, *sizes))) < 1:
        raise ShapeError(f"operation of shape {show(shape)} to {show(counts)}: all sizes must be at least 1.")
    return counts


def _greatest_of_bins(u: UOp, rank: UOp, axis: int, count: Dim) -> tuple[UOp, UOp]:
    """Return the maximum of each window and the greatest rank of its equals.

    What the next axis goes on with has fewer elements.
    """
    shape: Any = u.shape
    if shape[axis] is count or shape[axis] == count:
        return u, rank
    view, _ = _bins(u, axis, count)
    ranks, _ = _bins(rank, axis, count)
    best = view.reduce_axis(Ops.MAX, (axis + 1,)).contiguous()
    fixed, most = view.detach(), best.detach().expand(view.shape)
    found = fixed.eq(most) | fixed.ne(fixed) if is_float(u.dtype) else fixed.eq(most)
    rank = found.where(ranks, ranks.const_like(0)).reduce_axis(Ops.MAX, (axis + 1,))
    less = (*shape[:axis], count, *shape[axis + 1 :])
    return best.reshape(less), rank.reshape(less)


def _max_gradient(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradient of window maxima, which flows to the first of equals or NaN.

    Each element asks the windows it lies in whether it is their maximum. Not a closure: a new function for
    each call would keep equal graphs from being one node.
    """
    (gradient,), (x, rank, from_end) = gradients, inputs_of(function)
    shape: Any = x.shape
    axes = len(from_end.shape)
    first = len(shape) - axes
    asked, given = rank, gradient
    for axis in reversed(range(first, len(shape))):
        asked, given = (_windows_around(u, axis, shape[axis]) for u in (asked, given))
        if axis > first:
            # picks along an outer axis are rows, which the sum reads where they are
            asked, given = asked.contiguous(), given.contiguous()
    mine = from_end.reshape(tuple([n for size in from_end.shape for n in (1, size)]))
    parts = expanded(mine, asked.shape).eq(asked).where(given, given.const_like(0.0))
    total = parts.reduce_axis(Ops.ADD, tuple(range(first, len(parts.shape), 2)))
    return [total.reshape(shape), None, None]


def _windows_around(u: UOp, axis: int, size: Any) -> UOp:
    """Return values of the windows that contain each element of an axis, 0 for none.

    (..., count, ...) -> (..., most, size, ...)
    """
    shape: Any = u.shape
    count, before, after = shape[axis], shape[:axis], shape[axis + 1 :]
    if size is count or size == count:
        return u.reshape((*before, 1, size, *after))
    if is_static((size, count)) and size % count == 0:
        wide = u.reshape((*before, count, 1, *after)).expand((*before, count, size // count, *after))
        return wide.reshape((*before, 1, size, *after))
    # an element lies in as many windows as a window of `size` over `count` elements would have
    most = _longest_bin(count, size)
    dtype = position_dtype(greatest(size) * greatest(count))
    number, length = number_of(count, dtype), number_of(size, dtype)
    place = counted(size, dtype, (most, size), 1)
    window = place * number // length + counted(most, dtype, (most, size), 0)
    is_around = window * length < (place + 1) * number
    wanted = is_around.where(window, window.const_like(-1)).reshape((most * size,))
    return _pick_along(u, axis, wanted, (most, size))


def _mean_of_whole_axes(u: UOp, first: int, counts: Sequence[Dim]) -> UOp:
    """Return means over the axes from `first` on that have one window, in one sum."""
    sizes: Any = u.shape
    whole = tuple(
        first + i for i, count in enumerate(counts) if is_static((count, sizes[first + i])) and count == 1
    )
    length = math.prod(sizes[axis] for axis in whole)
    return u.reduce_axis(Ops.ADD, whole) / float(length) if length != 1 else u


def _mean_of_bins(u: UOp, axis: int, count: Dim) -> UOp:
    shape: Any = u.shape
    size = shape[axis]
    if size is count or size == count:
        return u
    view, inside = _bins(u, axis, count)
    less = (*shape[:axis], count, *shape[axis + 1 :])
    if inside is None:
        return (view.reduce_axis(Ops.ADD, (axis + 1,)) / float(size // count)).reshape(less)
    beside = inside.reshape((*inside.shape, *(1,) * (len(shape) - axis - 1)))
    kept = expanded(beside, view.shape).where(view, view.const_like(0.0))
    mean = _over_lengths(kept.reduce_axis(Ops.ADD, (axis + 1,)).reshape(less), axis, size)
    return with_rule([mean], [u], _mean_gradient)[0]


def _over_lengths(u: UOp, axis: int, size: Any) -> UOp:
    """Divide values of windows along an axis by the numbers of their elements."""
    shape: Any = u.shape
    begin, last = _bounds(size, shape[axis], (shape[axis], *(1,) * (len(shape) - axis - 1)))
    return u / expanded((last - begin + 1).cast(u.dtype), shape)


def _mean_gradient(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradient of means along one axis: each element sums those of its windows.

    Windows that share elements would add to them one after the other. A function of the module, so that
    equal graphs stay equal.
    """
    (gradient,), (x,), (mean,) = gradients, inputs_of(function), outputs_of(function)
    sizes: Any = zip(x.shape, mean.shape, strict=True)
    axis = next(i for i, (size, count) in enumerate(sizes) if size is not count and size != count)
    around = _windows_around(_over_lengths(gradient, axis, x.shape[axis]), axis, x.shape[axis])
    return [around.reduce_axis(Ops.ADD, (axis,)).reshape(x.shape)]


def _bins(u: UOp, axis: int, count: Any) -> tuple[UOp, UOp | None]:
    """Return one axis as `count` windows of one size: (..., size, ...) -> (..., count, longest, ...).

    Shorter windows repeat their last element; the second result (count, longest) is true where they do not,
    or None where all are equally long.
    """
    shape: Any = u.shape
    size = shape[axis]
    if size is count:
        return u.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :])), None
    if is_static((size, count)) and size % count == 0:
        return u.reshape((*shape[:axis], count, size // count, *shape[axis + 1 :])), None
    longest = _longest_bin(size, count)
    begin, last = _bounds(size, count, (count, longest))
    place = begin + counted(longest, begin.dtype, (count, longest), 1)
    inside = place <= last
    flat = inside.where(place, last).reshape((count * longest,))
    return _pick_along(u, axis, flat, (count, longest)), inside


def _bounds(size: Dim, count: Dim, shape: tuple[Dim, ...]) -> tuple[UOp, UOp]:
    """Return the first and last element of each window, along the first axis."""
    dtype = position_dtype(greatest(size) * greatest(count))
    number, length = number_of(count, dtype), number_of(size, dtype)
    window = counted(count, dtype, shape, 0)
    return (window * length) // number, ((window + 1) * length - 1) // number


def _pick_along(u: UOp, axis: int, places: UOp, shape: tuple[Any, Any]) -> UOp:
    """Replace an axis by two of `shape`, with the elements at the flat `places`."""
    rows, last = moved_last(u, axis), len(u.shape) - 1
    picked = pick_last(rows, expanded(places, (*rows.shape[:-1], *places.shape)))
    picked = picked.reshape((*rows.shape[:-1], *shape))
    return picked.permute((*range(axis), last, last + 1, *range(axis, last)))


def _longest_bin(size: Dim, count: Dim) -> int:
    """Return an upper bound of the size of the longest window."""
    if not isinstance(size, int) or not isinstance(count, int):
        return min(greatest(size) // max(least(count), 1) + 2, greatest(size))
    # where i * size / count is furthest above a whole number, and rounded down to that
    return -(-(size + count - math.gcd(size, count)) // count)
