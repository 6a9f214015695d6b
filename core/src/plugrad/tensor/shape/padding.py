"""Padding: with a value, mirrored, repeated, wrapped around; intervals of axes, and sizes as targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack, get_args

from plugrad.dtype import DType, Number, dtypes, is_bool, is_complex, is_inexact
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.base import Tensor, promoted
from plugrad.tensor.keywords import REQUIRED, AxisNames, PadNames, ShapeNames, renamed
from plugrad.tensor.lookup import check_inside
from plugrad.tensor.shapes import (
    Dim,
    as_dim,
    as_element,
    as_shape,
    is_sequence,
    is_static,
    one_axis,
    several,
    show,
    size_today,
    unpacked,
)
from plugrad.uop import UOp, add_sizes, greatest, least

PadMode = Literal["constant", "reflect", "replicate", "circular"]


def pad(
    self: Tensor,
    padding: Dim | Sequence[Dim] | Sequence[tuple[Dim, Dim] | None] = REQUIRED,
    mode: PadMode = "constant",
    value: Number | None = None,
    **names: Unpack[PadNames],
) -> Tensor:
    """Return this with more elements around it. Negative widths cut away.

    Args:
        padding: a pair `(before, after)` for each axis (None: nothing), or numbers as in PyTorch:
            `(before, after)` of the last axis, then of the one before it, and so on. One number alone
            goes before and after each axis, as in NumPy.
        mode: what the new elements are: `value`, the tensor mirrored at its outermost elements
            ("reflect", narrower than the axis), those elements again ("replicate"), or the tensor wrapped
            around ("circular", of what negative widths leave of the axis).
        value: what "constant" fills with, 0 if left out. Where elements of this dtype cannot be that, the
            result has another one: integers padded with 0.5 become floats.

    Raises:
        ArgumentError: there is no such mode, or another mode than "constant" was given a value.
        DtypeError: `value` is no number, or too large for this dtype.
        ShapeError: widths are no numbers, or not as many as fit; or they mirror too much.

    Example:
        >>> Tensor([1, 2]).pad((1, 2)).tolist()
        [0, 1, 2, 0, 0]
        >>> Tensor([1, 2, 3]).pad((2, 1), "reflect").tolist()
        [3, 2, 1, 2, 3, 2]
    """
    if names or padding is REQUIRED:
        padding, value = renamed(self.pad, names, padding=padding, value=value)
    # an array is equal to none of them, but does not say so by one bool
    if is_sequence(mode) or mode not in get_args(PadMode):
        raise ArgumentError(
            f"mode={mode!r} is none of 'constant', 'reflect', 'replicate', 'circular'. A value to "
            "fill with is passed as value=; 'edge' and 'wrap' of NumPy are 'replicate' and 'circular'."
        )
    pairs = _padding_pairs(self, padding)
    if mode == "constant":
        return _pad_with_value(self, pairs, 0 if value is None else as_element(value))
    if value is not None and as_element(value) != 0:
        raise ArgumentError(f"mode={mode!r} fills with no value={value!r}. Leave it out.")
    return _pad_with_elements(self, pairs, mode)


def pad_to(
    self: Tensor, *shape: Dim | Sequence[Dim | None] | None, value: Number = 0, **names: Unpack[ShapeNames]
) -> Tensor:
    """Append `value` along each axis to reach `shape`; None keeps a size.

    Raises:
        ShapeError: the number of axes differs, or an axis is longer than that.

    Example:
        >>> Tensor([[1, 2]]).pad_to(2, 3).tolist()
        [[1, 2, 0], [0, 0, 0]]
    """
    if names:
        (shape,) = renamed(self.pad_to, names, shape=shape)
    sizes = _target_sizes(self, shape)
    for axis, (want, have) in enumerate(zip(sizes, self.shape, strict=True)):
        if isinstance(want, int) and isinstance(have, int) and want < have:
            raise ShapeError(
                f"axis {axis} of shape {show(self.shape)} has more than {want} elements. Use "
                "shrink_to to cut."
            )
    return self.pad([(0, add_sizes(w, -h)) for w, h in zip(sizes, self.shape, strict=True)], value=value)


def shrink_to(self: Tensor, *shape: Dim | Sequence[Dim | None] | None, **names: Unpack[ShapeNames]) -> Tensor:
    """Return the first elements along each axis to reach `shape`; None keeps a size.

    Raises:
        ShapeError: the number of axes differs, or an axis is shorter than that.

    Example:
        >>> Tensor([[1, 2, 3], [4, 5, 6]]).shrink_to(1, 2).tolist()
        [[1, 2]]
    """
    if names:
        (shape,) = renamed(self.shrink_to, names, shape=shape)
    return self.shrink([(0, size) for size in _target_sizes(self, shape)])


def _target_sizes(x: Tensor, shape: Any) -> list[Dim]:
    given = unpacked(shape)
    if len(given) != x.ndim:
        raise ShapeError(
            f"{len(given)} sizes {given} for shape {show(x.shape)}. Give one for each "
            f"of {x.ndim} axes, or None."
        )
    kept = [have if want is None else want for want, have in zip(given, x.shape, strict=True)]
    return list(as_shape((kept,)))


def _pad_with_value(x: Tensor, pairs: list[tuple[Dim, Dim]], value: Number) -> Tensor:
    cut, pairs = _split_widths(pairs)
    if any(b or e for b, e in cut):
        return _pad_with_value(_cut_edges(x, cut), pairs, value)
    padded = x._graph.pad(pairs)
    if value == 0:
        return x._like(padded)
    dtype = x.dtype if _can_hold(x.dtype, value) else promoted([x, value])
    inside = UOp.const(dtypes.bool, True).reshape((1,) * x.ndim).expand(x.shape).pad(pairs)
    fill = x._const(value, dtype)
    return x._like(inside.where(padded.cast(dtype), fill))


def _padding_pairs(x: Tensor, padding: Any) -> list[tuple[Dim, Dim]]:
    if not is_sequence(padding):
        width = as_dim(padding)
        return [(width, width)] * x.ndim
    given = several(padding)
    if any(item is None or is_sequence(item) for item in given):
        if len(given) != x.ndim:
            raise ShapeError(
                f"{len(given)} pairs for shape {show(x.shape)}. Give one for each of {x.ndim} axes."
            )
        return [(0, 0) if pair is None else _as_pair(pair) for pair in given]
    if len(given) % 2 or len(given) > 2 * x.ndim:
        raise ShapeError(
            f"{len(given)} widths {given} for shape {show(x.shape)}. Give (before, after) of the "
            f"last axis, then of those before it: at most {2 * x.ndim} numbers."
        )
    widths = [as_dim(width) for width in given]
    pairs = list(zip(widths[::2], widths[1::2], strict=True))[::-1]
    front: list[tuple[Dim, Dim]] = [(0, 0)] * (x.ndim - len(pairs))
    return front + pairs


def _pad_with_elements(x: Tensor, pairs: list[tuple[Dim, Dim]], mode: PadMode) -> Tensor:
    cut, pairs = _split_widths(pairs)
    if mode == "circular" and any(b or e for b, e in cut):
        return _pad_with_elements(_cut_edges(x, cut), pairs, mode)
    fill = {"circular": wrap_axis, "reflect": _reflect, "replicate": _replicate}[mode]
    out = x
    for axis, (before, after) in enumerate(pairs):
        size = out.shape[axis]
        if not before and not after:
            continue
        _check_reach(mode, axis, size_today(size), max(size_today(before), size_today(after)))
        out = fill(out, axis, before, after)
    # not a view, also where nothing is added
    return x._like(_cut_edges(out, cut)._graph)


def _cut_edges(x: Tensor, widths: list[tuple[int, int]]) -> Tensor:
    if not any(b or e for b, e in widths):
        return x
    kept = [(b, add_sizes(size, -e)) for (b, e), size in zip(widths, x.shape, strict=True)]
    return x.shrink(kept)


def _replicate(x: Tensor, axis: int, before: Dim, after: Dim) -> Tensor:
    size: Any = x.shape[axis]
    ends = [interval(x, axis, 0, 1), interval(x, axis, size - 1, size)]
    shapes = [[n if at == axis else dim for at, dim in enumerate(x.shape)] for n in (before, after)]
    first, last = (end.expand(shape) for end, shape in zip(ends, shapes, strict=True))
    return first.cat(x, last, axis=axis)


def _reflect(x: Tensor, axis: int, before: Dim, after: Dim) -> Tensor:
    size: Any = x.shape[axis]
    first = interval(x, axis, 1, before + 1).flip(axis)
    last = interval(x, axis, add_sizes(size, -1, -after), add_sizes(size, -1)).flip(axis)
    return first.cat(x, last, axis=axis)


def wrap_axis(x: Tensor, axis: int, before: Any, after: Any) -> Tensor:
    """Return the axis begun `before` elements earlier, going round and round."""
    size: Any = x.shape[axis]
    start = -before % size
    count = before + size + after
    if is_static((size, start, count)):
        return tile_interval(x, axis, start, count, -(-(start + count) // size))
    # as often as any value asks for: none of it is written
    rounds = -(-greatest(before + after) // max(least(size), 1))
    return tile_interval(x, axis, start, count, 2 + rounds)


def tile_interval(x: Tensor, axis: int, start: Dim, count: Dim, times: int) -> Tensor:
    """Return `count` elements from `start` on, of the axis repeated `times` times."""
    repeats = [times if at == axis else 1 for at in range(x.ndim)]
    return interval(x.repeat(repeats), axis, start, start + count)


def shrink(self: Tensor, bounds: Sequence[tuple[Dim, Dim] | None] = REQUIRED, **names: Any) -> Tensor:
    """Return the half-open interval `(begin, end)` of each axis; None keeps an axis whole.

    Raises:
        ShapeError: there is not one interval for each axis, it is no pair of sizes, or it leaves the
            tensor.

    Example:
        >>> Tensor.arange(5).shrink([(1, 3)]).tolist()
        [1, 2]
    """
    if names or bounds is REQUIRED:
        (bounds,) = renamed(self.shrink, names, bounds=bounds)
    given = several(bounds)
    if len(given) != self.ndim:
        raise ShapeError(
            f"{len(given)} intervals for shape {show(self.shape)}. Give one for each of {self.ndim} axes."
        )
    pairs = [
        (0, size) if pair is None else _as_pair(pair) for pair, size in zip(given, self.shape, strict=True)
    ]
    for axis, ((begin, end), size) in enumerate(zip(pairs, self.shape, strict=True)):
        known: list[Any] = [0, begin, end, size]
        if is_static(known) and known != sorted(known):
            raise ShapeError(
                f"[{begin}, {end}) of axis {axis} is no part of [0, {size}). "
                "Intervals lie inside of the tensor."
            )
    return self._view(lambda u: u.shrink(pairs))


def narrow(
    self: Tensor,
    axis: int = REQUIRED,
    start: Dim = REQUIRED,
    length: Dim = REQUIRED,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return a view of `length` elements of an axis from `start`, which may be negative.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: they are not all on the axis, or one of the numbers is none.

    Example:
        >>> Tensor([1, 2, 3, 4]).narrow(0, 1, 2).tolist()
        [2, 3]
    """
    if names or axis is REQUIRED or start is REQUIRED or length is REQUIRED:
        axis, start, length = renamed(self.narrow, names, axis=axis, start=start, length=length)
    at = one_axis(axis, self.ndim)
    begin, count = _as_pair((start, length))
    size = self.shape[at]
    if isinstance(begin, int) and begin < 0:
        begin = add_sizes(size, begin)
    end = add_sizes(begin, count)
    known: list[Any] = [0, begin, end, size]
    if is_static(known) and known != sorted(known):
        raise ShapeError(f"{count} elements from {start} on leave axis {axis} of size {size}. Take fewer.")
    return interval(self, at, begin, end)


def select(self: Tensor, axis: int = REQUIRED, index: Dim = REQUIRED, **names: Unpack[AxisNames]) -> Tensor:
    """Return a view of one place of an axis, without that axis.

    Raises:
        AxisError: the axis does not exist, or the place on it.
        ShapeError: the place is no integer.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).select(1, -1).tolist()
        [2, 4]
    """
    if names or axis is REQUIRED or index is REQUIRED:
        axis, index = renamed(self.select, names, axis=axis, index=index)
    at = one_axis(axis, self.ndim)
    place, size = as_dim(index), self.shape[at]
    if isinstance(place, int):
        if isinstance(size, int):
            check_inside(place, at, size, "select")
        place = add_sizes(size, place) if place < 0 else place
    part = interval(self, at, place, add_sizes(place, 1))
    return part._view(lambda u: u.reshape((*u.shape[:at], *u.shape[at + 1 :])))


def interval(x: Tensor, axis: int, begin: Dim, end: Dim) -> Tensor:
    """Return the half-open interval of an axis, a view."""
    bounds: Any = [(0, size) for size in x.shape]
    bounds[axis] = (begin, end)
    return x._view(lambda u: u.shrink(bounds))


def _can_hold(dtype: DType, value: Number) -> bool:
    """Say whether elements of `dtype` can be `value`, but for rounding and range."""
    if isinstance(value, complex):
        return is_complex(dtype)
    if is_inexact(dtype):
        return True
    return value in (0, 1) if is_bool(dtype) else math.isfinite(value) and value == int(value)


def _split_widths(pairs: list[tuple[Dim, Dim]]) -> tuple[list[tuple[int, int]], list[tuple[Dim, Dim]]]:
    def cut(width: Dim) -> int:
        return max(-width, 0) if isinstance(width, int) else 0

    def added(width: Dim) -> Dim:
        return max(width, 0) if isinstance(width, int) else width

    return [(cut(b), cut(e)) for b, e in pairs], [(added(b), added(e)) for b, e in pairs]


def _check_reach(mode: PadMode, axis: int, size: int, width: int) -> None:
    if size == 0:
        raise ShapeError(f"axis {axis} has no elements to take for mode={mode!r}. Pad with a value.")
    if mode == "reflect" and width >= size:
        raise ShapeError(
            f"a width of {width} on axis {axis} of {size} elements. mode='reflect' mirrors without the "
            f"outermost element: at most {size - 1}."
        )


def _as_pair(pair: Any) -> tuple[Dim, Dim]:
    both = several(pair)
    if len(both) != 2:
        raise ShapeError(f"{pair!r} is no pair of numbers for an axis. Pass two, or None.")
    return as_dim(both[0]), as_dim(both[1])
