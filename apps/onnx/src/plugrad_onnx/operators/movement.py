"""Move elements without changing them: shapes, order, parts, joins."""

import math
from typing import Any, Literal

import numpy as np

from plugrad import Tensor
from plugrad.tensor.shapes import broadcast_shapes
from plugrad_onnx.graph import Call
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import Size, as_number, equal, is_symbolic, larger, less, simplified, smaller
from plugrad_onnx.values import Array, Narrow, Value, sizes_of


@operator("Identity")
def identity(x: Value) -> Value:
    """Return the input."""
    return x


@operator("Shape")
def shape(data: Value, *, start: int = 0, end: int | None = None) -> Array:
    """Return the sizes of the axes, on the host."""
    return _as_array(_shape_of(data)[start:end])


@operator("Size")
def size(data: Value) -> Array:
    """Return the number of elements, on the host."""
    return _as_array(math.prod(_shape_of(data)))


def _as_array(sizes: Any) -> Array:
    return np.array(sizes, object if is_symbolic(sizes) else np.int64)


def _shape_of(data: Value) -> tuple[Any, ...]:
    inner = data.data if isinstance(data, Narrow) else data
    if not isinstance(inner, Tensor | np.ndarray):
        raise TypeError("a sequence has no shape")
    return tuple(inner.shape)


@operator("Reshape", keeps_type=True)
def reshape(data: Tensor, shape: tuple[int, ...], *, allowzero: int = 0) -> Tensor:
    """Return the elements in another shape; -1 is the rest, and 0 keeps a size."""
    sizes = shape if allowzero else [sizes_of(data)[i] if s == 0 else s for i, s in enumerate(shape)]
    if -1 in sizes and (is_symbolic([*sizes, *sizes_of(data)]) or data.numel() == 0):
        whole, rest = math.prod(sizes_of(data)), math.prod(s for s in sizes if s != -1)
        sizes = [0 if rest == 0 else simplified(whole // rest) if s == -1 else s for s in sizes]
    return data.reshape(*sizes) if sizes else data.reshape(())


@operator("Flatten", keeps_type=True)
def flatten(data: Tensor, *, axis: int = 1) -> Tensor:
    """Return a matrix whose rows are the axes before `axis`."""
    at = axis + data.ndim if axis < 0 else axis
    return data.reshape(math.prod(sizes_of(data)[:at]), math.prod(sizes_of(data)[at:]))


@operator("Squeeze", keeps_type=True)
def squeeze(data: Tensor, axes: tuple[int, ...] | None = None) -> Tensor:
    """Return the tensor without axes of size 1."""
    chosen = (
        {i for i, s in enumerate(sizes_of(data)) if s == 1} if axes is None else {a % data.ndim for a in axes}
    )
    if any(not equal(sizes_of(data)[axis], 1) for axis in chosen):
        raise ValueError(f"axes {axes} of shape {sizes_of(data)} are not all of size 1")
    return data.reshape(tuple(s for i, s in enumerate(sizes_of(data)) if i not in chosen))


@operator("Unsqueeze", keeps_type=True)
def unsqueeze(data: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the tensor with new axes of size 1 at these places of the result."""
    rank = data.ndim + len(axes)
    new = {axis % rank for axis in axes}
    if len(new) != len(axes):
        raise ValueError(f"axes {axes} name a place twice")
    sizes = iter(sizes_of(data))
    return data.reshape(tuple(1 if i in new else next(sizes) for i in range(rank)))


@operator("Transpose", keeps_type=True)
def transpose(data: Tensor, *, perm: tuple[int, ...] | None = None) -> Tensor:
    """Return the axes in another order, reversed where none is given."""
    order = perm if perm is not None else tuple(reversed(range(data.ndim)))
    return data.permute(*order) if order else data


@operator("Expand", keeps_type=True)
def expand(data: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return the tensor broadcast with a shape, both ways."""
    return data.expand(*broadcast_shapes(sizes_of(data), shape))


@operator("Concat", until=3)
def concat_along_channels(*inputs: Tensor, axis: int = 1) -> Tensor:
    """Return the inputs one after the other, along axis 1 where none is given."""
    return concat(*inputs, axis=axis)


@operator("Concat", since=4)
def concat(*inputs: Tensor, axis: int) -> Tensor:
    """Return the inputs one after the other."""
    first, *others = inputs
    return Tensor.cat(first, *others, axis=axis) if others else first


@operator("Split", keeps_type=True)
def split(
    x: Tensor,
    split: tuple[int, ...] | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
    call: Call,
) -> tuple[Tensor, ...]:
    """Return parts along an axis, of equal or given sizes; the last may be smaller."""
    whole, count = sizes_of(x)[axis], num_outputs or len(call.outputs)
    part = (whole + count - 1) // count
    sizes = split or [larger(0, smaller(part, whole - part * i)) for i in range(count)]
    if not is_symbolic([*sizes, whole]) and sum(sizes) != whole:
        raise ValueError(f"parts of {tuple(sizes)} do not make up the axis of size {whole}")
    return tuple(x.split(list(sizes), axis))


@operator("Slice", keeps_type=True)
def slice_axes(
    data: Tensor,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None = None,
    steps: tuple[int, ...] | None = None,
) -> Tensor:
    """Return every so-manieth element between two places of each axis."""
    at = axes if axes is not None else tuple(range(len(starts)))
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(at, starts, ends, steps or (1,) * len(starts), strict=True):
        index[axis] = _clamped_slice(sizes_of(data)[axis], start, end, step)
    return data[tuple(index)]


def _clamped_slice(size: Size, start: Size, end: Size, step: int) -> slice:
    """Return a slice with ends counted from the front, inside of the axis."""
    lowest = -1 if step < 0 else 0
    first = smaller(larger(start + size if less(start, 0) else start, 0), size + lowest)
    last = smaller(larger(end + size if less(end, 0) else end, lowest), size)
    return slice(first, None if less(last, 0) else last, step)


@operator("Tile", since=6, keeps_type=True)
def tile(x: Tensor, repeats: tuple[int, ...]) -> Tensor:
    """Return the tensor so many times along each axis."""
    return x.repeat(*repeats) if repeats else x


@operator("Tile", until=5, keeps_type=True)
def tile_axis(x: Tensor, tiles: int, axis: int) -> Tensor:
    """Return the tensor so many times along one axis."""
    return x.repeat(*(tiles if i == axis else 1 for i in range(x.ndim)))


@operator("Pad", keeps_type=True)
def pad(
    data: Tensor,
    pads: tuple[int, ...] = (),
    constant_value: Tensor | None = None,
    axes: tuple[int, ...] | None = None,
    *,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
    paddings: tuple[int, ...] = (),
) -> Tensor:
    """Return the tensor with elements added at, or removed from, both ends of axes."""
    at = axes if axes is not None else tuple(range(data.ndim))
    widths = pads or paddings
    sides = [(0, 0)] * data.ndim
    for i, axis in enumerate(at):
        sides[axis % data.ndim] = (widths[i], widths[i + len(at)])
    cut = data.shrink(
        tuple(
            (larger(-low, 0), s - larger(-high, 0))
            for s, (low, high) in zip(sizes_of(data), sides, strict=True)
        )
    )
    wide = [(larger(low, 0), larger(high, 0)) for low, high in sides]
    if mode == "constant":
        fill = value if constant_value is None else constant_value.item()
        return cut.pad(wide, value=fill)
    for axis, (low, high) in enumerate(wide):
        if not (equal(low, 0) and equal(high, 0)):
            size = as_number(sizes_of(cut)[axis])
            cut = cut.index_select(axis, Tensor(_borrowed(size, as_number(low), as_number(high), mode)))
    return cut


def _borrowed(size: int, low: int, high: int, mode: str) -> Array:
    """Return the position that each element of a padded axis is taken from."""
    position = np.arange(-low, size + high)
    if mode == "edge":
        return position.clip(0, size - 1)
    if mode == "wrap":
        return position % size
    period = max(2 * (size - 1), 1)
    return (size - 1) - np.abs((size - 1) - position % period)


@operator("CenterCropPad", keeps_type=True)
def center_crop_pad(data: Tensor, shape: tuple[int, ...], *, axes: tuple[int, ...] | None = None) -> Tensor:
    """Return the middle of axes that are too long, and zeros around those too short."""
    for axis, want in zip(axes or range(data.ndim), shape, strict=True):
        have = as_number(sizes_of(data)[axis])
        if have > want:
            data = data.narrow(axis, (have - want) // 2, want)
        elif have < want:
            low = (want - have) // 2
            sides = [(0, 0)] * data.ndim
            sides[axis] = (low, want - have - low)
            data = data.pad(sides)
    return data


@operator("DepthToSpace", keeps_type=True)
def depth_to_space(x: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """Return channels laid out as blocks of pixels."""
    n, c, h, w = sizes_of(x)
    b, depth = blocksize, c // blocksize**2
    if mode == "DCR":
        blocks = x.reshape(n, b, b, depth, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        blocks = x.reshape(n, depth, b, b, h, w).permute(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, depth, h * b, w * b)


@operator("SpaceToDepth", keeps_type=True)
def space_to_depth(x: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """Return blocks of pixels laid out as channels."""
    n, c, h, w = sizes_of(x)
    b = blocksize
    blocks = x.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return blocks.permute(*order).reshape(n, c * b * b, h // b, w // b)


@operator("Trilu")
def trilu(x: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """Return the upper or lower triangle, and zeros in the other."""
    if 0 in sizes_of(x):
        return x
    return x.triu(k) if upper else x.tril(k)


@operator("ReverseSequence")
def reverse_sequence(
    x: Tensor, sequence_lens: Array, *, batch_axis: Literal[0, 1] = 1, time_axis: Literal[0, 1] = 0
) -> Tensor:
    """Return the first so many elements of each sequence reversed, the rest as they are."""
    time = np.arange(as_number(sizes_of(x)[time_axis]))
    source = np.where(time < sequence_lens[:, None], sequence_lens[:, None] - 1 - time, time)
    index = source if (batch_axis, time_axis) == (0, 1) else source.T
    position = Tensor(np.ascontiguousarray(index)).reshape(*index.shape, *(1,) * (x.ndim - 2))
    return x.gather(time_axis, position.expand(*sizes_of(x)))
