"""Operations on images: convolutions, pooling, sizes, sampling. References go window by window."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals, whole

_SPACE = {1: (7,), 2: (5, 6), 3: (3, 4, 3)}


# --- convolutions ---


def convolved(x: Any, weight: Any, bias: Any, groups: int, stride: int, dilation: int, padding: int) -> Any:
    """Return the convolution of (N, C, ...) with (O, C/groups, ...)."""
    axes = tuple(range(2, x.ndim))
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * len(axes)])
    spans = [(k - 1) * dilation + 1 for k in weight.shape[2:]]
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    some = (slice(None, None, stride),) * len(axes) + (slice(None, None, dilation),) * len(axes)
    windows = windows[(slice(None), slice(None), *some)]
    parts = [
        np.tensordot(
            part, kernels, ((1, *range(2 + len(axes), 2 + 2 * len(axes))), tuple(range(1, weight.ndim)))
        )
        for part, kernels in zip(np.split(windows, groups, 1), np.split(weight, groups), strict=True)
    ]
    out = np.moveaxis(np.concatenate(parts, -1), -1, 1)
    return out + bias.reshape(-1, *[1] * len(axes))


def spread(
    x: Any, weight: Any, bias: Any, groups: int, stride: int, dilation: int, padding: int, more: int
) -> Any:
    """Return the transposed convolution of (N, C, ...) with (C, O/groups, ...); `more` is output padding."""
    kernel = weight.shape[2:]
    sizes = [
        (n - 1) * stride + (k - 1) * dilation + 1 + more for n, k in zip(x.shape[2:], kernel, strict=True)
    ]
    out = np.zeros((len(x), weight.shape[1] * groups, *sizes))
    parts = [
        np.moveaxis(np.tensordot(part, kernels, ((1,), (0,))), len(sizes) + 1, 1)
        for part, kernels in zip(np.split(x, groups, 1), np.split(weight, groups), strict=True)
    ]
    products = np.concatenate(parts, 1)
    for at in itertools.product(*map(range, kernel)):
        place = tuple(
            slice(a * dilation, a * dilation + (n - 1) * stride + 1, stride)
            for a, n in zip(at, x.shape[2:], strict=True)
        )
        out[(slice(None), slice(None), *place)] += products[(..., *at)]
    inner = (slice(padding, -padding or None),) * len(kernel)
    return out[(slice(None), slice(None), *inner)] + bias.reshape(-1, *[1] * len(kernel))


_OPTIONS = "groups", "stride", "dilation", "padding", "output_padding"
_WINDOWS = ((1, 1, 1, 0), (2, 2, 1, 1), (1, 1, 2, 2), (2, 2, 2, 1))


def _convolutions() -> Iterator[Operation]:
    for (n, space), values in itertools.product(_SPACE.items(), _WINDOWS):
        groups, _, dilation, _ = values
        if n == 3 and dilation > 1:
            continue
        options = dict(zip(_OPTIONS, values, strict=False))
        yield Operation(
            f"conv{n}d",
            ", ".join(f"{name} {value}" for name, value in options.items()),
            lambda x, w, b, n=n, o=options: getattr(x, f"conv{n}d")(w, b, **o),
            lambda x, w, b, o=values: convolved(x, w, b, *o),
            (reals(1, 4, *space), reals(4, 4 // groups, *[2 + (n < 3)] * n, seed=1), reals(4, seed=2)),
            order=2,
            accuracy=2.0,
        )


# of few elements: each takes one more difference, and what is spread has many times as many
_SPREAD = {1: (4,), 2: (3, 2), 3: (2, 1, 2)}
_SPREADS = ((2, 2, 1, 1, 1), (1, 1, 2, 1, 0), (2, 3, 2, 0, 2))


def _transposed() -> Iterator[Operation]:
    for (n, space), values in itertools.product(_SPREAD.items(), _SPREADS):
        options = dict(zip(_OPTIONS, values, strict=True))
        yield Operation(
            f"conv_transpose{n}d",
            ", ".join(f"{name} {value}" for name, value in list(options.items())[:4]),
            lambda x, w, b, n=n, o=options: getattr(x, f"conv_transpose{n}d")(w, b, **o),
            lambda x, w, b, o=values: spread(x, w, b, *o),
            (reals(1, 4, *space), reals(4, 4 // values[0], *[3, 2, 2][:n], seed=1), reals(4, seed=2)),
            order=2,
            accuracy=2.0,
        )


# --- pooling ---


def pooled(x: Any, function: Any, kernel: int, stride: int, padding: int, fill: float, axes: int) -> Any:
    """Return `function` of the elements of each window along the last `axes` axes."""
    along = tuple(range(x.ndim - axes, x.ndim))
    x = np.pad(x, [(0, 0)] * (x.ndim - axes) + [(padding, padding)] * axes, constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel,) * axes, along)
    windows = windows[(..., *[slice(None, None, stride)] * axes, *[slice(None)] * axes)]
    return function(windows, axis=tuple(range(-axes, 0)))


def adapted(x: Any, function: Any, sizes: Sequence[int]) -> Any:
    """Return `function` of the wanted number of windows along each last axis."""
    for axis, count in enumerate(sizes, x.ndim - len(sizes)):
        size = x.shape[axis]
        ends = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        x = np.stack([function(np.take(x, range(*end), axis), axis=axis) for end in ends], axis)
    return x


def _pools() -> Iterator[Operation]:
    for n, space in _SPACE.items():
        x = reals(1, 2, *space)
        for name, function, fill in ((f"max_pool{n}d", np.max, -np.inf), (f"avg_pool{n}d", np.mean, 0.0)):
            yield Operation(
                name,
                "kernel 2, stride 1",
                lambda x, name=name: getattr(x, name)(2, 1),
                lambda x, f=function, n=n: pooled(x, f, 2, 1, 0, 0, n),
                (x,),
                order=2,
            )
            yield Operation(
                name,
                "kernel 3, stride 2, padding 1",
                lambda x, name=name: getattr(x, name)(3, 2, padding=1),
                lambda x, f=function, n=n, fill=fill: pooled(x, f, 3, 2, 1, fill, n),
                (x,),
                order=2,
            )
        sizes = tuple(size - 1 for size in space)
        for name, function in ((f"adaptive_max_pool{n}d", np.max), (f"adaptive_avg_pool{n}d", np.mean)):
            yield Operation(
                name,
                f"to {sizes}",
                lambda x, name=name, s=sizes: getattr(x, name)(s),
                lambda x, f=function, s=sizes: adapted(x, f, s),
                (x,),
                order=2,
            )
        most = reals(1, 2, *[2] * n)
        places: Array = np.arange(2**n, dtype=np.int32) * 2 + 1
        index = np.broadcast_to(places.reshape([2] * n), most.shape)
        yield Operation(
            f"max_unpool{n}d",
            "kernel 2",
            lambda x, i, n=n: getattr(x, f"max_unpool{n}d")(i),
            lambda x, i, n=n: _put_back(x, i, (4,) * n),
            (most, index),
            order=2,
        )
    ceiled: Meaning = lambda x: pooled(
        np.pad(x, [(0, 0)] * 2 + [(0, 1)] * 2, constant_values=-np.inf), np.max, 2, 2, 0, 0, 2
    )
    yield Operation(
        "max_pool2d", "ceil_mode", lambda x: x.max_pool2d(2, ceil_mode=True), ceiled, (reals(1, 2, 5, 5),)
    )
    counted: Meaning = lambda x: pooled(x, np.sum, 3, 1, 1, 0, 2) / pooled(x * 0 + 1, np.sum, 3, 1, 1, 0, 2)
    yield Operation(
        "avg_pool2d",
        "without padding",
        lambda x: x.avg_pool2d(3, 1, padding=1, count_include_pad=False),
        counted,
        (reals(1, 2, 4, 4),),
        order=2,
    )
    for n in (1, 2, 3):
        yield Operation(
            f"avg_pool{n}d",
            "divisor",
            lambda x, n=n: getattr(x, f"avg_pool{n}d")(3, 1, padding=1, divisor_override=4),
            lambda x, n=n: pooled(x, np.sum, 3, 1, 1, 0, n) / 4,
            (reals(1, 2, *(4,) * n),),
            order=2,
        )
    yield Operation(
        "max_pool2d",
        "int8",
        lambda x: x.max_pool2d(2),
        lambda x: pooled(x, np.max, 2, 2, 0, 0, 2),
        (whole(1, 1, 4, 4, dtype="int8"),),
    )


def _put_back(x: Any, index: Any, sizes: tuple[int, ...]) -> Any:
    out = np.zeros((*x.shape[:2], math.prod(sizes)))
    np.put_along_axis(out, index.reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), 2)
    return out.reshape(*x.shape[:2], *sizes)


# --- sizes ---


def _cubic(t: float) -> list[float]:
    """Return the weights of four neighbours.

    Source: Keys 1981, with a = -0.75.
    """
    a = -0.75
    near = [(a + 2) * d**3 - (a + 3) * d**2 + 1 for d in (t, 1 - t)]
    far = [a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a for d in (1 + t, 2 - t)]
    return [far[0], near[0], near[1], far[1]]


def _rows(size: int, new: int, mode: str, aligned: bool) -> Array:
    """Return the matrix (new, size) that changes the size of an axis."""
    rows = np.zeros((new, size))
    for i in range(new):
        if mode == "area":
            begin, end = i * size // new, -(-(i + 1) * size // new)
            rows[i, begin:end] = 1 / (end - begin)
            continue
        at = i * (size - 1) / max(new - 1, 1) if aligned else (i + 0.5) * size / new - 0.5
        if mode in ("nearest", "nearest-exact"):
            rows[i, int((i + 0.5 * (mode != "nearest")) * size / new)] = 1
            continue
        if mode == "linear":
            at = max(at, 0.0)
        floor = math.floor(at)
        weights = _cubic(at - floor) if mode == "bicubic" else [1 - at + floor, at - floor]
        for neighbour, weight in enumerate(weights, floor - (mode == "bicubic")):
            rows[i, min(max(neighbour, 0), size - 1)] += weight
    return rows


def resized(x: Any, sizes: Sequence[int], mode: str, aligned: bool) -> Any:
    """Return (N, C, ...) with other sizes of its last axes."""
    for axis, new in enumerate(sizes, 2):
        rows = _rows(x.shape[axis], new, mode, aligned)
        x = np.moveaxis(np.tensordot(rows, x, ((1,), (axis,))), 0, axis)
    return x


def _sizes() -> Iterator[Operation]:
    modes = (
        ("nearest", False, 2),
        ("nearest-exact", False, 2),
        ("linear", False, 1),
        ("bilinear", False, 2),
        ("bilinear", True, 2),
        ("trilinear", False, 3),
        ("bicubic", False, 2),
        ("bicubic", True, 2),
        ("area", False, 2),
    )
    for mode, aligned, n in modes:
        kind = "linear" if mode.endswith("linear") else mode
        sizes = (7, 3, 5)[:n]
        yield Operation(
            "interpolate",
            f"{mode}{', aligned' * aligned}",
            lambda x, s=sizes, m=mode, a=aligned: x.interpolate(s, mode=m, align_corners=a),
            lambda x, s=sizes, m=kind, a=aligned: resized(x, s, m, a),
            (reals(1, 2, *_SPACE[n]),),
            order=2,
        )


# --- sampling ---


def _pixel(image: Any, y: int, x: int, padding: str) -> float:
    height, width = image.shape
    if padding == "border":
        y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    return image[y, x] if 0 <= y < height and 0 <= x < width else 0.0


def sampled(images: Any, grid: Any, mode: str, padding: str) -> Any:
    """Return the values of (N, C, H, W) at (N, H', W', 2), without aligned corners."""
    n, channels, height, width = images.shape
    out = np.zeros((n, channels, *grid.shape[1:3]))
    for b, c, i, j in np.ndindex(*out.shape):
        x, y = (((grid[b, i, j, a] + 1) * size - 1) / 2 for a, size in enumerate((width, height)))
        if padding == "border" and mode != "bicubic":
            x, y = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
        if mode == "nearest":
            out[b, c, i, j] = _pixel(images[b, c], round(y), round(x), padding)
            continue
        left, top = math.floor(x), math.floor(y)
        first = -1 if mode == "bicubic" else 0
        across = _cubic(x - left) if mode == "bicubic" else [1 - x + left, x - left]
        down = _cubic(y - top) if mode == "bicubic" else [1 - y + top, y - top]
        out[b, c, i, j] = sum(
            p * q * _pixel(images[b, c], top + first + v, left + first + h, padding)
            for (v, p), (h, q) in itertools.product(enumerate(down), enumerate(across))
        )
    return out


def _samples() -> Iterator[Operation]:
    inputs = reals(1, 2, 4, 5), reals(1, 2, 3, 2, seed=1, low=-1.3, high=1.3)
    for mode, padding in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border")):
        yield Operation(
            "grid_sample",
            f"{mode}, {padding}",
            lambda x, g, m=mode, p=padding: x.grid_sample(g, m, p),
            lambda x, g, m=mode, p=padding: sampled(x, g, m, p),
            inputs,
            order=2,
            # second derivatives of squared cubics are differences of larger numbers
            accuracy=4.0 if mode == "bicubic" else 1.0,
        )


CASES = (*_convolutions(), *_transposed(), *_pools(), *_sizes(), *_samples())
