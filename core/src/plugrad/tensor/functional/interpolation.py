"""Images and sequences in other sizes, axis by axis.

Each element of the result is a weighted sum of a few neighbours along one axis; where they are is computed
from its number inside of the kernel that reads them.

Coordinates are computed as PyTorch does: in float32, from the middle of pixels unless `align_corners`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from plugrad._util import fractions
from plugrad.dtype import DType, dtypes, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.argument_checks import real_number
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise.operands import dtype_refusal
from plugrad.tensor.functional.adaptive import adaptive_avg
from plugrad.tensor.lookup import moved_back, moved_last, number_of, pick_last
from plugrad.tensor.shape.spatial import Dims, dims_of, per_axis
from plugrad.tensor.shapes import Dim, as_flag, check_choice, expanded, greater, is_static, show, size_today
from plugrad.uop import Ops, UOp, greatest, least

InterpolationMode = Literal["nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"]
_LINEAR = ("linear", "bilinear", "trilinear")
_AXES = {"bilinear": 2, "trilinear": 3, "bicubic": 2}
_CUBIC = -0.75
# what a factor of a symbolic axis is tried with: fractions with a denominator up to that, all of its sizes
_DENOMINATORS = 1000
_SIZES = 100_000


class _Factor(NamedTuple):
    """A scale given for a symbolic axis, applied only to sizes that change.

    With `or_doubles` it is not applied to sizes that double either.
    """

    before: Dim
    after: Dim
    scale: float
    or_doubles: bool


#: How many old elements there are to a new one: a number, or two sizes one of which is symbolic.
Scale = float | tuple[Dim, Dim] | _Factor


def interpolate(
    self: Tensor,
    size: Dims | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: InterpolationMode = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return this in another size: (N, C, *sizes) -> (N, C, *size).

    The mode is "nearest" unless another is named, as in PyTorch; tinygrad's is "linear".

    Args:
        size: the new sizes: one number for each axis behind the channels, or one for all; they may be
            symbolic.
        scale_factor: instead, what sizes are multiplied with (and rounded down).
        mode: "nearest" (rounding coordinates down), "nearest-exact" (the nearest middle of a pixel),
            "linear" for any number of axes, also by the names "bilinear" and "trilinear" for two and
            three, "bicubic" for two, "area" (means).
        align_corners: let the middles of the corner pixels coincide, not their outer edges; goes with
            linear and cubic modes.
        recompute_scale_factor: compute coordinates from the sizes, which are rounded down, and not from
            `scale_factor`.
        antialias: widen "bilinear" and "bicubic" where the result is smaller, so that all elements count.

    Raises:
        ArgumentError: there is no such mode, an option does not go with it, or both or neither of
            `size` and `scale_factor` are given.
        ShapeError: sizes do not fit the number of axes, or are not positive; or an axis is symbolic, and
            `scale_factor` no fraction that gives the sizes of all its values.

    Example:
        >>> Tensor([[[1.0, 3.0]]]).interpolate(4, mode="linear").tolist()
        [[[1.0, 1.5, 2.5, 3.0]]]
    """
    axes = self.ndim - 2
    flags = {"align_corners": align_corners, "recompute_scale_factor": recompute_scale_factor}
    for name, flag in flags.items():
        if flag is not None:
            as_flag(flag, name)
    _check_mode(mode, axes, align_corners, antialias)
    if recompute_scale_factor and size is not None:
        raise ArgumentError("recompute_scale_factor goes with scale_factor, not with size.")
    shape: Any = self.shape
    if axes < 1:
        raise ShapeError(f"interpolate of shape {show(shape)}: it takes (N, C, *sizes).")
    old = shape[2:]
    new, scales = _new_sizes(old, size, scale_factor)
    if recompute_scale_factor:
        scales = _ratios(old, new)
    if min(map(size_today, (*old, *new))) < 1:
        raise ShapeError(f"interpolate of shape {show(shape)} to {show(new)}: all sizes must be at least 1.")
    if mode == "area":
        return adaptive_avg(self, new, axes)
    if not mode.startswith("nearest") and not is_float(self.dtype):
        raise dtype_refusal(self, "floats", what=f"interpolate with mode={mode!r}")
    narrow = self.dtype
    u = self._graph if mode.startswith("nearest") else self._graph.cast(sum_acc_dtype(narrow))
    repeats: dict[int, int] = {}
    for axis, (before, after, scale) in enumerate(zip(old, new, scales, strict=True), 2):
        # As PyTorch does: whatever the factor, these do not touch an axis that keeps its size, and the
        # nearest pixels of an image whose size doubles are each pixel twice.
        if not is_static((before, after)):
            if isinstance(scale, float) and (mode in _LINEAR or (mode == "nearest" and axes == 2)):
                scale = _Factor(before, after, scale, mode == "nearest")
        elif mode == "nearest" and axes == 2 and after in (before, 2 * before):
            scale = before / after
        is_same = before == after and (scale == 1 or antialias or mode in _LINEAR)
        if is_same:
            continue
        is_whole = is_static((before, after)) and after % before == 0 and scale == before / after
        if is_whole and mode.startswith("nearest"):
            repeats[axis] = after // before
        else:
            rows = _resize(moved_last(u, axis), after, scale, mode, bool(align_corners), antialias)
            u = moved_back(rows, axis)
    return self._like(_each_repeated(u, repeats).cast(narrow))


def _check_mode(mode: str, axes: int, align_corners: bool | None, antialias: bool) -> None:
    known = ("nearest", "nearest-exact", *_LINEAR, "bicubic", "area")
    check_choice(mode, known, "interpolate: mode")
    if mode not in (*_LINEAR, "bicubic") and align_corners:
        raise ArgumentError(f"align_corners goes with linear and cubic modes, not {mode!r}.")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError(f"antialias goes with 'bilinear' and 'bicubic', not {mode!r}.")
    if axes >= 1 and _AXES.get(mode, axes) != axes:
        raise ArgumentError(f"mode={mode!r} takes {_AXES[mode]} axes behind the channels, not {axes}.")


def _new_sizes(
    old: tuple[Dim, ...], size: Dims | None, scale_factor: float | Sequence[float] | None
) -> tuple[tuple[Any, ...], tuple[Scale, ...]]:
    """Return the new sizes, and how many old elements there are to a new one."""
    if (size is None) == (scale_factor is None):
        raise ArgumentError(f"size={size} and scale_factor={scale_factor}. Pass one of them.")
    if size is not None:
        new = dims_of(size, len(old), "size")
        return new, _ratios(old, new)
    factors = per_axis(scale_factor, len(old), "interpolate: scale_factor")
    for factor in factors:
        if not 0 < real_number(factor, "scale_factor") < math.inf:
            raise ArgumentError(f"scale_factor={factor} is not positive and finite.")
    new = tuple(_scaled_size(before, factor) for before, factor in zip(old, factors, strict=True))
    return new, tuple(1 / factor for factor in factors)


def _scaled_size(size: Dim, factor: float) -> Dim:
    if isinstance(size, int):
        return int(size * factor)
    part = fractions.Fraction(factor).limit_denominator(_DENOMINATORS)
    first, last = least(size), greatest(size)
    is_exact = last - first <= _SIZES and all(
        int(n * factor) == n * part.numerator // part.denominator for n in range(first, last + 1)
    )
    if not is_exact:
        raise ShapeError(
            f"scale_factor={factor} of a symbolic axis of {first} to {last} elements: no "
            f"fraction rounds as it does, or these are more than {_SIZES} sizes. Pass size=, or a factor "
            "such as 0.5."
        )
    whole = size if part.numerator == 1 else size * part.numerator
    return whole if part.denominator == 1 else whole // part.denominator


def _ratios(old: tuple[Dim, ...], new: tuple[Dim, ...]) -> tuple[Scale, ...]:
    return tuple(
        before / max(after, 1) if isinstance(before, int) and isinstance(after, int) else (before, after)
        for before, after in zip(old, new, strict=True)
    )


def _scale_factor(scale: Scale, dtype: DType) -> Any:
    if not isinstance(scale, tuple):
        return scale
    before, after = (number_of(n, dtype) for n in scale[:2])
    if not isinstance(scale, _Factor):
        return before / after
    is_plain = before.eq(after)
    is_plain = is_plain | (before + before).eq(after) if scale.or_doubles else is_plain
    return is_plain.where(before / after, before.const_like(scale.scale))


def _resize(rows: UOp, count: Any, scale: Any, mode: str, align_corners: bool, antialias: bool) -> UOp:
    """Return the last axis with `count` elements: (*R, n) -> (*R, count)."""
    size: Any = rows.shape[-1]
    if mode.startswith("nearest"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        number = UOp.iota(count, dtypes.int32).cast(dtypes.float32)
        place = ((number + shift) * _scale_factor(scale, dtypes.float32)).cast(dtypes.int32)
        return _pick_clamped(rows, place, size)
    wide = rows.dtype
    if antialias:
        return _resize_antialiased(rows, count, scale, mode, align_corners)
    place = _coordinates(count, size, scale, align_corners, wide)
    if mode == "bicubic":
        whole = _floor(place)
        return _blend(rows, whole, cubic_weights(place - whole), -1)
    place = (place < 0.0).where(place.const_like(0.0), place)
    whole = _floor(place)
    part = place - whole
    return _blend(rows, whole, [part.const_like(1.0) - part, part], 0)


def _each_repeated(u: UOp, times: Mapping[int, int]) -> UOp:
    """Repeat each element along some axes: a view, whose gradient is one sum over blocks."""
    sizes: Any = u.shape
    apart = [(n, 1) if axis in times else (n,) for axis, n in enumerate(sizes)]
    spread = [(n, times[axis]) if axis in times else (n,) for axis, n in enumerate(sizes)]
    view = u.reshape(tuple(chain(*apart))).expand(tuple(chain(*spread)))
    return view.reshape(tuple(n * times.get(axis, 1) for axis, n in enumerate(sizes)))


def _coordinates(count: Any, size: Any, scale: Scale, align_corners: bool, dtype: DType) -> UOp:
    number = UOp.iota(count, dtypes.int32).cast(dtype)
    if align_corners:
        if is_static((count, size)):
            return number * ((size - 1) / (count - 1) if count > 1 else 0.0)
        return number * _scale_factor((size - 1, greater(count - 1, 1)), dtype)
    return (number + 0.5) * _scale_factor(scale, dtype) - 0.5


def _floor(x: UOp) -> UOp:
    whole = x.trunc()
    return (x < whole).where(whole - 1.0, whole)


def _blend(rows: UOp, whole: UOp, weights: list[UOp], first: int) -> UOp:
    """Return neighbours `whole + first`, and those that follow, times their weights."""
    size: Any = rows.shape[-1]
    begin = whole.cast(dtypes.int32)
    out: UOp | None = None
    for number, weight in enumerate(weights, first):
        picked = _pick_clamped(rows, begin + number, size)
        part = picked * expanded(weight, picked.shape)
        out = part if out is None else out + part
    assert out is not None, "there are neighbours"
    return out


def _pick_clamped(rows: UOp, place: UOp, size: Dim) -> UOp:
    """Return elements by position; those outside are the first and the last."""
    low = (place < 0).where(place.const_like(0), place)
    last = low.const_like(size - 1) if isinstance(size, int) else (size - 1).cast(low.dtype)
    inside = (low > last).where(last, low)
    shape: Any = (*rows.shape[:-1], place.shape[0])
    return pick_last(rows, expanded(inside, shape))


def cubic_weights(part: Any) -> list[Any]:
    """Return the weights of the four neighbours of a point `part` behind the second one.

    Source: Keys 1981, "Cubic convolution interpolation for digital image processing", with a = -0.75.
    """
    rest = 1.0 - part
    return [_cubic_far(part + 1.0), _cubic_near(part), _cubic_near(rest), _cubic_far(rest + 1.0)]


def _cubic_near(x: Any, a: float = _CUBIC) -> Any:
    """Return the weight of a neighbour at a distance `x` up to 1."""
    return (x * (a + 2.0) - (a + 3.0)) * x * x + 1.0


def _cubic_far(x: Any, a: float = _CUBIC) -> Any:
    """Return the weight of a neighbour at a distance `x` from 1 to 2."""
    return ((x * a - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a


def _resize_antialiased(rows: UOp, count: Any, scale: Scale, mode: str, align_corners: bool) -> UOp:
    """Return weighted means with a filter as wide as `scale` old elements.

    The filters are a triangle, and Keys' cubic with a = -0.5, as in Pillow.
    """
    size: Any = rows.shape[-1]
    wide = rows.dtype
    if align_corners and is_static((count, size)):
        scale = (size - 1) / (count - 1) if count > 1 else 0.0
    elif align_corners:
        scale = size - 1, greater(count - 1, 1)
    factor = _scale_factor(scale, wide)
    stretch: Any = factor.maximum(1.0) if isinstance(factor, UOp) else max(factor, 1.0)
    reach = stretch * (2.0 if mode == "bicubic" else 1.0)
    center = (UOp.iota(count, dtypes.int32).cast(wide) + 0.5) * factor
    shape: Any = (*rows.shape[:-1], count, size)
    pair = (count, size)
    middle = center.reshape((count, 1)).expand(pair)
    number = UOp.iota(size, dtypes.int32).cast(wide).reshape((1, size)).expand(pair)
    first, last = _edge(middle - reach), _edge(middle + reach)
    distance = (number - middle + 0.5) / stretch
    away = (distance < 0.0).where(-distance, distance)
    none = away.const_like(0.0)
    if mode == "bicubic":
        weight = (away < 1.0).where(_cubic_near(away, -0.5), (away < 2.0).where(_cubic_far(away, -0.5), none))
    else:
        weight = (away < 1.0).where(away.const_like(1.0) - away, none)
    weight = ((number >= first) & (number < last)).where(weight, none)
    weight = weight / weight.reduce_axis(Ops.ADD, (1,)).expand(pair)
    spread = rows.reshape((*rows.shape[:-1], 1, size)).expand(shape)
    return (spread * expanded(weight, shape)).reduce_axis(Ops.ADD, (len(shape) - 1,)).reshape(shape[:-1])


def _edge(x: UOp) -> UOp:
    return (x + 0.5).trunc()
