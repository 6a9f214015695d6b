"""Operations that slide windows over the last axes: convolutions and pooling."""

import math
import random
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops.op_spec import MOST_ELEMENTS, Params, exact_sums, op
from plugrad_conformance.programs.ops.reductions import accumulator
from plugrad_conformance.programs.program import Array

# for each axis that windows slide along: size, stride, dilation, padding before and behind
Windows = tuple[tuple[int, int, int, int], ...]


def _some_windows(rng: random.Random, sizes: tuple[int, ...], kernels: tuple[int, ...]) -> Windows | None:
    """Return windows that fit into axes of `sizes`, not all of which are padding."""
    found: list[tuple[int, int, int, int]] = []
    for size in sizes:
        kernel, dilation = rng.choice(kernels), rng.choice((1, 1, 2))
        padding = rng.randint(0, kernel // 2)
        if (kernel - 1) * dilation + 1 > size + 2 * padding:
            return None
        found.append((kernel, rng.choice((1, 1, 2, 3)), dilation, padding))
    return tuple(found)


def _windows_of(x: Array, windows: Windows, fill: Any) -> Array:
    """Return the elements of each window: (..., *outputs, *kernels)."""
    axes = range(x.ndim - len(windows), x.ndim)
    pads = [(0, 0)] * (x.ndim - len(windows)) + [(padding, padding) for *_, padding in windows]
    padded = np.pad(x, pads, constant_values=fill)
    spans = [(kernel - 1) * dilation + 1 for kernel, _, dilation, _ in windows]
    shown = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(axes))
    starts = [slice(None, None, stride) for _, stride, _, _ in windows]
    parts = [slice(None, None, dilation) for _, _, dilation, _ in windows]
    return shown[(..., *starts, *parts)]


def _options(windows: Windows) -> dict[str, Any]:
    _, stride, dilation, padding = zip(*windows, strict=True)
    return {"stride": stride, "dilation": dilation, "padding": padding}


# --- convolutions ---


def _convolution(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.ndim not in (3, 4) or not x.size or x.dtype.name not in ("float32", "float64", "int32"):
        return None
    windows = _some_windows(rng, x.shape[2:], (1, 2, 3))
    groups = rng.choice([n for n in (1, 2, 3) if x.shape[1] % n == 0])
    outputs = groups * rng.randint(1, 2)
    if windows is None or x.shape[0] * outputs * math.prod(x.shape[2:]) * 9 > 4 * MOST_ELEMENTS:
        return None
    shape = (outputs, x.shape[1] // groups, *(kernel for kernel, *_ in windows))
    weights = np.array([rng.randint(-2, 2) for _ in range(math.prod(shape))], x.dtype).reshape(shape)
    return (weights, windows, groups)


def _convolve(x: Array, weights: Array, windows: Windows, groups: int) -> Array:
    wide = accumulator(x.dtype.name)
    shown = _windows_of(x.astype(wide), windows, 0)
    axes = range(2, 2 + len(windows))
    parts = [
        np.tensordot(s, w.astype(wide), ((1, *(a + len(windows) for a in axes)), (1, *axes)))
        for s, w in zip(np.split(shown, groups, 1), np.split(weights, groups, 0), strict=True)
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1).astype(x.dtype)


def _convolve_tensor(x: Tensor, weights: Array, windows: Windows, groups: int) -> Tensor:
    method = x.conv1d if len(windows) == 1 else x.conv2d
    return method(Tensor(weights, device=x.device), groups=groups, **_options(windows))


# --- pooling ---


def _pooled(rng: random.Random, xs: list[Array], kernels: tuple[int, ...]) -> Params | None:
    (x,) = xs
    if x.ndim not in (3, 4) or not x.size or x.dtype.kind not in "iuf":
        return None
    windows = _some_windows(rng, x.shape[2:], kernels)
    return None if windows is None else (windows,)


def _averaged(rng: random.Random, xs: list[Array]) -> Params | None:
    # the reciprocals of these sizes are exact
    return _pooled(rng, xs, (1, 2)) if xs[0].dtype.kind == "f" else None


def _greatest(rng: random.Random, xs: list[Array]) -> Params | None:
    return _pooled(rng, xs, (1, 2, 3))


def _average(x: Array, windows: Windows) -> Array:
    shown = _windows_of(x, windows, 0)
    return shown.mean(tuple(range(-len(windows), 0)), dtype=accumulator(x.dtype.name)).astype(x.dtype)


def _maximum(x: Array, windows: Windows) -> Array:
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return _windows_of(x, windows, least).max(tuple(range(-len(windows), 0)))


def _pool(x: Tensor, windows: Windows, name: str) -> Tensor:
    kernels = tuple(kernel for kernel, *_ in windows)
    return getattr(x, f"{name}_pool{len(windows)}d")(kernels, **_options(windows))


OPS = (
    op("convolve", 1, _convolve, _convolve_tensor, exact_sums(_convolution)),
    op("average_pool", 1, _average, lambda x, w: _pool(x, w, "avg"), exact_sums(_averaged)),
    op("max_pool", 1, _maximum, lambda x, w: _pool(x, w, "max"), _greatest),
)
