"""Resize images, an axis at a time, by weights computed on the host."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import is_float
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import Size, as_number, equal
from plugrad_onnx.values import Array, sizes_of

Mode = Literal["nearest", "linear", "cubic"]
Coordinates = Literal[
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
]
Rounding = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@dataclass(frozen=True)
class Rule:
    """Describe how output elements are made of input elements."""

    mode: str
    coordinates: str = "asymmetric"
    rounding: str = "floor"
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: float = 0.0


@dataclass(frozen=True)
class Axis:
    """Describe one axis: its sizes, the scale between them, and the part in view."""

    before: Size
    after: Size
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


@operator("Upsample", until=6)
def upsample_images(
    x: Tensor, *, height_scale: float, width_scale: float, mode: Literal["nearest", "bilinear"] = "nearest"
) -> Tensor:
    """Return images as many times as high and wide."""
    return upsample(x, (1.0, 1.0, height_scale, width_scale), mode="linear" if mode == "bilinear" else mode)


@operator("Upsample", since=7, until=9)
def upsample(
    x: Tensor, scales: tuple[float, ...], *, mode: Literal["nearest", "linear"] = "nearest"
) -> Tensor:
    """Return the tensor as many times as large along each axis."""
    return _resized(x, _scaled(x, scales), Rule(mode))


@operator("Resize", until=10)
def resize_by_scales(
    x: Tensor, scales: tuple[float, ...], *, mode: Literal["nearest", "linear"] = "nearest"
) -> Tensor:
    """Return the tensor as many times as large along each axis."""
    return _resized(x, _scaled(x, scales), Rule(mode))


@operator("Resize", since=11)
def resize(
    x: Tensor,
    roi: tuple[float, ...] | None = None,
    scales: tuple[float, ...] | None = None,
    sizes: tuple[int, ...] | None = None,
    *,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    coordinate_transformation_mode: Coordinates = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: Literal["stretch", "not_larger", "not_smaller"] = "stretch",
    mode: Mode = "nearest",
    nearest_mode: Rounding = "round_prefer_floor",
) -> Tensor:
    """Return the tensor with axes of other sizes, interpolated."""
    at = [a % x.ndim for a in axes] if axes is not None else list(range(x.ndim))
    parts = dict(enumerate(zip(roi[: len(at)], roi[len(at) :], strict=True))) if roi else {}
    if scales:
        chosen = {a: _axis(sizes_of(x)[a], s) for a, s in zip(at, scales, strict=True)}
    elif sizes:
        chosen = _by_sizes([sizes_of(x)[a] for a in at], at, sizes, keep_aspect_ratio_policy)
    else:
        raise ValueError("neither scales nor sizes are given")
    for i, a in enumerate(at):
        if i in parts:
            chosen[a] = Axis(chosen[a].before, chosen[a].after, chosen[a].scale, parts[i])
    rule = Rule(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        bool(exclude_outside),
        bool(antialias),
        extrapolation_value,
    )
    return _resized(x, chosen, rule)


def _scaled(x: Tensor, scales: Sequence[float]) -> dict[int, Axis]:
    return {a: _axis(s, scale) for a, (s, scale) in enumerate(zip(sizes_of(x), scales, strict=True))}


def _axis(size: Size, scale: float) -> Axis:
    """Resize one axis; an axis with a symbolic size may only keep it."""
    if scale == 1.0:
        return Axis(size, size, scale)
    return Axis(as_number(size), math.floor(as_number(size) * scale), scale)


def _by_sizes(before: list[Size], at: list[int], sizes: Sequence[Size], policy: str) -> dict[int, Axis]:
    ratios = [
        1.0 if equal(after, size) else as_number(after) / as_number(size)
        for after, size in zip(sizes, before, strict=True)
    ]
    if policy != "stretch":
        scale = min(ratios) if policy == "not_larger" else max(ratios)
        return {
            a: Axis(size, math.floor(scale * size + 0.5), scale) for a, size in zip(at, before, strict=True)
        }
    return {a: Axis(b, s, r) for a, b, s, r in zip(at, before, sizes, ratios, strict=True)}


def _resized(x: Tensor, axes: dict[int, Axis], rule: Rule) -> Tensor:
    out = x if is_float(x.dtype) or rule.mode == "nearest" else x.cast(dtypes.float32)
    for at, axis in axes.items():
        crops = rule.coordinates == "tf_crop_and_resize"
        if axis.before == axis.after and axis.scale == 1.0 and (not crops or axis.roi == (0.0, 1.0)):
            continue
        wanted = coordinates(axis, rule.coordinates)
        index, weight = taps(wanted, axis, rule)
        shape = tuple(-1 if i == at else 1 for i in range(x.ndim))
        terms: list[Tensor] = []
        for j in range(index.shape[1]):
            taken = out.index_select(at, Tensor(np.ascontiguousarray(index[:, j])))
            line = weight[:, j]
            terms.append(
                taken
                if (line == 1).all()
                else taken * Tensor(line.astype(np.float32)).reshape(*shape).cast(out.dtype)
            )
        out = terms[0]
        for term in terms[1:]:
            out = out + term
        if crops:
            inside = Tensor((wanted >= 0) & (wanted <= axis.before - 1)).reshape(*shape)
            out = inside.where(out, rule.extrapolation_value).cast(out.dtype)
    return out if out.dtype == x.dtype else out.round().cast(x.dtype)


def coordinates(axis: Axis, mode: str) -> Array:
    """Return where in the input each output element lies."""
    x, scale = np.arange(axis.after, dtype=np.float64), axis.scale
    resized = scale * axis.before  # not rounded
    if mode == "align_corners":
        return x * (axis.before - 1) / (resized - 1) if axis.after > 1 else x * 0
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = (part * (axis.before - 1) for part in axis.roi)
        return start + x * (end - start) / (resized - 1) if axis.after > 1 else x + (start + end) / 2
    half = (x + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        return axis.before / 2 * (1 - axis.after / resized) + half
    return x * 0 if mode == "pytorch_half_pixel" and axis.after == 1 else half


def taps(wanted: Array, axis: Axis, rule: Rule) -> tuple[Array, Array]:
    """Return the input elements of each output element, and their weights, both `(after, taps)`."""
    base = np.ceil(wanted) - 1
    ratio = wanted - base  # above 0, at most 1
    if rule.mode == "nearest":
        up = {
            "round_prefer_floor": ratio > 0.5,
            "round_prefer_ceil": ratio >= 0.5,
            "floor": ratio == 1,
            "ceil": np.ones_like(ratio, bool),
        }[rule.rounding]
        return (base + up).clip(0, axis.before - 1).astype(np.int64)[:, None], np.ones((len(wanted), 1))
    narrow = min(axis.scale, 1.0) if rule.antialias else 1.0
    reach = 1 if rule.mode == "linear" else 2
    first = math.floor(-reach / narrow) + 1
    offset = np.arange(first, 2 - first if narrow < 1 or reach == 1 else reach + 1)
    distance = np.abs((offset[None, :] - ratio[:, None]) * narrow)
    weight = np.clip(1 - distance, 0, 1) if rule.mode == "linear" else _cubic(distance, rule.cubic_coeff_a)
    index = base[:, None] + offset
    if rule.exclude_outside:
        weight = np.where((index >= 0) & (index < axis.before), weight, 0)
    if rule.exclude_outside or narrow < 1:
        weight = weight / weight.sum(1, keepdims=True)
    kept = np.abs(weight).max(0) > 0
    return index.clip(0, axis.before - 1).astype(np.int64)[:, kept], weight[:, kept]


def _cubic(distance: Array, a: float) -> Array:
    """Return the weights of cubic convolution.

    Source: Keys 1981, "Cubic convolution interpolation for digital image processing", equation 4.
    """
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))
