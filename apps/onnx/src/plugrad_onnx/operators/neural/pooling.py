"""Reduce the elements of windows."""

import math
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import dtype_min, is_float
from plugrad_onnx.graph import Call
from plugrad_onnx.operators.neural.windows import Windows, find_windows
from plugrad_onnx.registry import operator
from plugrad_onnx.values import Array, shape_of, sizes_of

AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


def _kernel_axes(over: Windows) -> tuple[int, ...]:
    return tuple(range(-len(over.kernel), 0))


@operator("MaxPool")
def max_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    dilations: tuple[int, ...] | None = None,
    kernel_shape: tuple[int, ...],
    pads: tuple[int, ...] | None = None,
    storage_order: Literal[0, 1] = 0,
    strides: tuple[int, ...] | None = None,
    call: Call,
) -> tuple[Tensor, ...]:
    """Return the largest element of each window, and where in the tensor it is."""
    spatial = shape_of(x, 2)
    over = find_windows(
        spatial,
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    view = over.view(x, float("-inf") if is_float(x.dtype) else int(dtype_min(x.dtype)))
    values = view.max(_kernel_axes(over))
    if not call.wants(1):
        return (values,)
    best = view.flatten(-len(kernel_shape)).argmax(-1).cast(dtypes.int64)
    flat = np.zeros((*over.counts, *over.kernel), np.int64)
    grids = list(zip(over.positions(spatial), spatial, strict=True))
    for grid, size in reversed(grids) if storage_order else grids:
        flat = flat * size + np.maximum(grid, 0)
    table = Tensor(flat.reshape(*over.counts, -1)).reshape(1, 1, *over.counts, -1)
    table = table.expand(*sizes_of(values), shape_of(table)[-1])
    inside = table.gather(table.ndim - 1, best.unsqueeze(-1)).squeeze(-1)
    images = Tensor.arange(sizes_of(x)[0] * sizes_of(x)[1], dtype=dtypes.int64) * math.prod(spatial)
    return values, inside + images.reshape(*sizes_of(x)[:2], *(1,) * len(spatial))


@operator("AveragePool")
def average_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: tuple[int, ...] | None = None,
    kernel_shape: tuple[int, ...],
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return the mean of each window, with or without its padding."""
    spatial = shape_of(x, 2)
    over = find_windows(
        spatial,
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    total = over.view(x, 0).sum(_kernel_axes(over))
    return (total / Tensor(_counted(over, spatial, count_include_pad)).cast(total.dtype)).cast(x.dtype)


def _counted(over: Windows, spatial: tuple[int, ...], include_pad: int) -> Array:
    """Count the elements of each window, with its padding on request."""
    out = np.ones((1, 1, *over.counts), np.float32)
    for i, size in enumerate(spatial):
        line = (
            np.arange(over.counts[i])[:, None] * over.strides[i]
            + np.arange(over.kernel[i]) * over.dilations[i]
        )
        low, high = over.pads[i]
        first, last = (0, low + size + high) if include_pad else (low, low + size)
        per_window = ((line >= first) & (line < last)).sum(1).astype(np.float32)
        out = out * per_window.reshape(*(-1 if j == i + 2 else 1 for j in range(out.ndim)))
    return out


@operator("LpPool")
def lp_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    dilations: tuple[int, ...] | None = None,
    kernel_shape: tuple[int, ...],
    p: float = 2,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return the norm of each window."""
    over = find_windows(
        shape_of(x, 2),
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    return over.view(x.abs() ** p, 0).sum(_kernel_axes(over)) ** (1 / p)


@operator("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    """Return the mean of each channel."""
    return x.mean(tuple(range(2, x.ndim)), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    """Return the largest element of each channel."""
    return x.max(tuple(range(2, x.ndim)), keepdim=True)


@operator("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: float = 2) -> Tensor:
    """Return the norm of each channel."""
    return (x.abs() ** p).sum(tuple(range(2, x.ndim)), keepdim=True) ** (1 / p)


@operator("MaxUnpool")
def max_unpool(
    x: Tensor,
    indices: Tensor,
    output_shape: tuple[int, ...] | None = None,
    *,
    kernel_shape: tuple[int, ...],
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return zeros with the elements at the places where a MaxPool found them."""
    rank = len(kernel_shape)
    steps, sides = strides or (1,) * rank, pads or (0,) * (2 * rank)
    natural = tuple(
        (int(size) - 1) * steps[i] - sides[i] - sides[i + rank] + kernel_shape[i]
        for i, size in enumerate(shape_of(x)[2:])
    )
    sizes = (*shape_of(x)[:2], *natural)
    zeros = Tensor.zeros(math.prod(sizes), dtype=x.dtype)
    out = zeros.scatter(0, indices.reshape(-1).cast(dtypes.int64), x.reshape(-1)).reshape(*sizes)
    if output_shape is None:
        return out
    return out.pad([(0, want - int(have)) for want, have in zip(output_shape, sizes, strict=True)])
