"""Convolve."""

import math
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.operators.neural.windows import find_windows, flat_sides, kernel_offsets
from plugrad_onnx.operators.sampling import sample_at
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number, is_symbolic
from plugrad_onnx.values import shape_of, sizes_of

AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


@operator("Conv")
def conv(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return the convolution with a kernel: `(N, C, ...) * (M, C / group, ...) -> (N, M, ...)`."""
    kernel, rank = shape_of(w, 2), x.ndim - 2
    if is_symbolic(sizes_of(x)[2:]) and auto_pad == "NOTSET":
        given = pads or (0,) * (2 * rank)
        sides = list(zip(given[:rank], given[rank:], strict=True))
        return _convolve(x, w, b, strides or (1,) * rank, dilations or (1,) * rank, sides, group)
    over = find_windows(
        shape_of(x, 2), kernel, strides=strides, dilations=dilations, pads=pads, auto_pad=auto_pad
    )
    return _convolve(x, w, b, over.strides, over.dilations, list(over.pads), group)


def _convolve(
    x: Tensor,
    w: Tensor,
    b: Tensor | None,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    sides: list[tuple[int, int]],
    group: int,
) -> Tensor:
    rank = len(strides)
    if rank > 3:
        raise ValueError(f"convolutions have 1 to 3 spatial axes, not {rank}")
    method = {1: Tensor.conv1d, 2: Tensor.conv2d, 3: Tensor.conv3d}[rank]
    if any(low != high or low < 0 for low, high in sides):
        x = x.pad(flat_sides(tuple(sides)))
        padding = (0,) * rank
    else:
        padding = tuple(low for low, _ in sides)
    return method(x, w, b, groups=group, stride=strides, dilation=dilations, padding=padding)


@operator("ConvTranspose")
def conv_transpose(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    output_padding: tuple[int, ...] | None = None,
    output_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Convolve transposed: the gradient of a convolution with respect to its input."""
    rank = x.ndim - 2
    steps, gaps = strides or (1,) * rank, dilations or (1,) * rank
    extra, given = output_padding or (0,) * rank, pads or (0,) * (2 * rank)
    method = {1: Tensor.conv_transpose1d, 2: Tensor.conv_transpose2d, 3: Tensor.conv_transpose3d}[rank]
    out = method(x, w, None, groups=group, stride=steps, dilation=gaps)
    cuts: list[tuple[int, int]] = []
    for i in range(rank):
        whole = as_number(sizes_of(out)[2 + i]) + extra[i]
        wanted = whole - given[i] - given[i + rank]
        if output_shape is not None:
            wanted = output_shape[i - rank]
        elif auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            wanted = as_number(sizes_of(x)[2 + i]) * steps[i]
        low = given[i]
        if output_shape is not None or auto_pad.startswith("SAME"):
            total = max(whole - wanted, 0)
            low = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        cuts.append((low, low + wanted))
    behind = [(0, max(0, high - int(size))) for (_, high), size in zip(cuts, shape_of(out, 2), strict=True)]
    out = out.pad(flat_sides(tuple(behind))).shrink((None, None, *cuts))
    return out if b is None else out + b.reshape(1, -1, *(1,) * rank)


@operator("DeformConv")
def deform_conv(
    x: Tensor,
    w: Tensor,
    offset: Tensor,
    b: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    offset_group: int = 1,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return a convolution of two axes whose kernel elements are moved by offsets.

    Source: Dai et al. 2017, "Deformable Convolutional Networks"; the mask is that of version 2.
    """
    kernel = tuple(int(size) for size in shape_of(w)[2:])
    over = find_windows(shape_of(x)[2:], kernel, strides=strides, dilations=dilations, pads=pads)
    n, channels, (high, wide) = shape_of(x)[0], shape_of(x)[1], over.counts
    points = kernel_offsets(kernel)
    moved = offset.reshape(n, offset_group, len(points), 2, high, wide)
    weights = None if mask is None else mask.reshape(n, offset_group, len(points), high, wide)
    of_group = channels // offset_group
    parts: list[Tensor] = []
    for g in range(offset_group):
        image = x.narrow(1, g * of_group, of_group)
        of_points: list[Tensor] = []
        for i, (ky, kx) in enumerate(points):
            row = _steps(high, over.strides[0], ky * over.dilations[0] - over.pads[0][0]).reshape(1, -1, 1)
            column = _steps(wide, over.strides[1], kx * over.dilations[1] - over.pads[1][0]).reshape(1, 1, -1)
            taken = sample_at(image, (row + moved[:, g, i, 0], column + moved[:, g, i, 1]))
            of_points.append(taken if weights is None else taken * weights[:, g, i].unsqueeze(1))
        parts.append(of_points[0].stack(*of_points[1:], axis=2))
    columns = Tensor.cat(*parts, axis=1) if len(parts) > 1 else parts[0]  # (N, C, points, high, wide)
    columns = columns.reshape(n, group, channels // group * len(points), high * wide)
    kernels = w.reshape(group, shape_of(w)[0] // group, -1)
    out = kernels.matmul(columns).reshape(n, shape_of(w)[0], high, wide)
    return out if b is None else out + b.reshape(1, -1, 1, 1)


def _steps(count: int, step: int, first: int) -> Tensor:
    return Tensor.arange(count, dtype=dtypes.float32) * step + first


@operator("Col2Im")
def col2im(
    x: Tensor,
    image_shape: tuple[int, ...],
    block_shape: tuple[int, ...],
    *,
    dilations: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return images as the sum of their windows: `(N, C * kernel, windows) -> (N, C, *image)`."""
    over = find_windows(image_shape, block_shape, strides=strides, dilations=dilations, pads=pads)
    n, channels = shape_of(x)[0], shape_of(x)[1] // math.prod(block_shape)
    columns = x.reshape(n, channels, math.prod(block_shape), -1)
    out = Tensor.zeros(n, channels, math.prod(image_shape), dtype=x.dtype)
    grids = over.positions(image_shape)
    rank = len(image_shape)
    flat = np.zeros(grids[0].shape, np.int64)
    inside = np.ones(grids[0].shape, bool)
    for grid, size in zip(grids, image_shape, strict=True):
        flat, inside = flat * size + np.maximum(grid, 0), inside & (grid >= 0)
    order = (*range(rank, 2 * rank), *range(rank))
    flat, inside = flat.transpose(order).reshape(-1), inside.transpose(order).reshape(-1)
    kept = Tensor(np.flatnonzero(inside))
    values = columns.reshape(n, channels, -1).index_select(2, kept)
    index = Tensor(flat[inside]).reshape(1, 1, -1).expand(*shape_of(values))
    return out.scatter_add(2, index, values).reshape(n, channels, *image_shape)


@operator("CausalConvWithState")
def causal_conv_with_state(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past_state: Tensor | None = None,
    *,
    activation: Literal["none", "silu", "swish"] = "none",
) -> tuple[Tensor, Tensor]:
    """Convolve each channel after its state, and return the next state as well."""
    width = shape_of(weight)[-1] - 1
    if past_state is None:
        past_state = Tensor.zeros(shape_of(x)[0], shape_of(x)[1], width, dtype=x.dtype)
    whole = Tensor.cat(past_state, x, axis=2) if width else x
    out = whole.conv1d(weight, bias, groups=shape_of(x)[1]).cast(x.dtype)
    state = whole.narrow(2, shape_of(whole)[2] - width, width)
    return (out if activation == "none" else out * out.sigmoid()), state
