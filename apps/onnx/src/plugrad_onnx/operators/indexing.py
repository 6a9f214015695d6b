"""Take elements by position, and put elements at positions."""

import math
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import is_int
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import Size
from plugrad_onnx.values import Array, sizes_of

Reduction = Literal["none", "add", "mul", "max", "min"]


def positive(index: Tensor, size: Size) -> Tensor:
    """Return positions counted from the front."""
    index = index.cast(dtypes.int64)
    return (index < 0).where(index + size, index)


@operator("Gather", keeps_type=True)
def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return the slices at positions along an axis, in the shape of the positions."""
    at = axis % data.ndim
    flat = positive(indices.reshape(-1), sizes_of(data)[at])
    return data.index_select(at, flat).reshape(
        *sizes_of(data)[:at], *sizes_of(indices), *sizes_of(data)[at + 1 :]
    )


@operator("GatherElements", keeps_type=True)
def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return the element at a position along an axis, for each element of the positions."""
    return data.gather(axis % data.ndim, positive(indices, sizes_of(data)[axis]))


@operator("GatherND", keeps_type=True)
def gather_nd(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Return the slices at positions along several axes."""
    depth, batch = sizes_of(indices)[-1], sizes_of(data)[:batch_dims]
    behind = sizes_of(data)[batch_dims + depth :]
    rows = data.reshape(math.prod(batch), math.prod(sizes_of(data)[batch_dims : batch_dims + depth]), *behind)
    flat = flat_positions(indices, sizes_of(data)[batch_dims : batch_dims + depth])
    flat = flat.reshape(math.prod(batch), -1)
    offset = Tensor.arange(math.prod(batch), dtype=dtypes.int64).reshape(-1, 1) * sizes_of(rows)[1]
    whole = rows.reshape(sizes_of(rows)[0] * sizes_of(rows)[1], *behind)
    return whole.index_select(0, (flat + offset).reshape(-1)).reshape(*sizes_of(indices)[:-1], *behind)


def flat_positions(indices: Tensor, sizes: tuple[Size, ...]) -> Tensor:
    """Return positions along several axes as ones along their product."""
    out = Tensor.zeros(*sizes_of(indices)[:-1], dtype=dtypes.int64)
    for i, size in enumerate(sizes):
        out = out * size + positive(indices[..., i], size)
    return out


@operator("Scatter", "ScatterElements")
def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: Reduction = "none"
) -> Tensor:
    """Scatter updates to positions along an axis of the data."""
    at = axis % data.ndim
    index = positive(indices, sizes_of(data)[at])
    if reduction == "none":
        return data.scatter(at, index, updates)
    return data.scatter_reduce(at, index, updates, _TENSORS_NAME[reduction]).cast(data.dtype)


_TENSORS_NAME: dict[str, Literal["sum", "prod", "amax", "amin"]] = {
    "add": "sum",
    "mul": "prod",
    "max": "amax",
    "min": "amin",
}


@operator("ScatterND")
def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: Reduction = "none") -> Tensor:
    """Return the data with slices of updates at positions along several axes."""
    depth = sizes_of(indices)[-1]
    behind = sizes_of(data)[depth:]
    rows = data.reshape(math.prod(sizes_of(data)[:depth]), math.prod(behind))
    flat = flat_positions(indices, sizes_of(data)[:depth]).reshape(-1, 1).expand(-1, math.prod(behind))
    out = scatter_elements(rows, flat, updates.reshape(*sizes_of(flat)), axis=0, reduction=reduction)
    return out.reshape(sizes_of(data))


@operator("TensorScatter")
def tensor_scatter(
    past_cache: Tensor,
    update: Tensor,
    write_indices: Tensor | None = None,
    *,
    axis: int = -2,
    mode: Literal["linear", "circular"] = "linear",
) -> Tensor:
    """Return a cache with new entries from one position of each sample on."""
    at, rank = axis % past_cache.ndim, past_cache.ndim
    time = Tensor.arange(sizes_of(update)[at], dtype=dtypes.int64).reshape(1, -1)
    first = 0 if write_indices is None else write_indices.cast(dtypes.int64).reshape(-1, 1)
    position = (time + first) % sizes_of(past_cache)[at]
    shape = [1] * rank
    shape[0], shape[at] = sizes_of(position)
    return past_cache.scatter(at, position.reshape(*shape).expand(*sizes_of(update)), update)


@operator("Compress")
def compress(x: Tensor, condition: Array, *, axis: int | None = None) -> Tensor:
    """Return the slices for which the condition holds."""
    kept = Tensor(np.flatnonzero(condition))
    if axis is None:
        return x.reshape(-1).index_select(0, kept)
    return x.index_select(axis % x.ndim, kept)


@operator("NonZero")
def non_zero(x: Tensor) -> Tensor:
    """Return where elements are not 0, an axis a row."""
    return x.nonzero().cast(dtypes.int64).transpose(0, 1)


@operator("OneHot")
def one_hot(indices: Tensor, depth: int, values: Tensor, *, axis: int = -1) -> Tensor:
    """Return a new axis that holds the second value at each position, else the first."""
    at = axis % (indices.ndim + 1)
    whole = indices if is_int(indices.dtype) else indices.cast(dtypes.int64)
    position = positive(whole, depth).unsqueeze(at)
    shape = [-1 if i == at else 1 for i in range(indices.ndim + 1)]
    hot = position == Tensor.arange(depth, dtype=dtypes.int64).reshape(*shape)
    return hot.where(values[1], values[0])


@operator("Unique")
def unique(x: Tensor, *, axis: int | None = None, sorted: int = 1) -> tuple[Tensor, Array, Array, Array]:
    """Return different elements or slices, their first places, the place of each, and counts.

    How many there are is a shape, so this is computed on the host.
    """
    values, first, inverse, counts = np.unique(
        x.numpy(), return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        values = np.take(values, order, axis or 0)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    return (
        Tensor(values).cast(x.dtype),
        first.astype(np.int64),
        inverse.astype(np.int64),
        counts.astype(np.int64),
    )


@operator("NonMaxSuppression")
def non_max_suppression(
    boxes: Array,
    scores: Array,
    max_output_boxes_per_class: int | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    *,
    center_point_box: Literal[0, 1] = 0,
) -> Array:
    """Return the best boxes of each class without better overlaps, as batch, class and box.

    How many there are is a shape, so this is computed on the host.
    """
    kept: list[tuple[int, int, int]] = []
    for batch, of_classes in enumerate(scores):
        corners = _corners(boxes[batch], center_point_box)
        for label, of_boxes in enumerate(of_classes):
            order = [int(i) for i in np.argsort(-of_boxes, kind="stable")]
            if score_threshold is not None:
                order = [i for i in order if of_boxes[i] > score_threshold]
            best: list[int] = []
            for i in order:
                if len(best) >= (max_output_boxes_per_class or 0):
                    break
                if all(_overlap(corners[i], corners[j]) <= (iou_threshold or 0.0) for j in best):
                    best.append(i)
            kept += [(batch, label, i) for i in best]
    return np.array(kept, np.int64).reshape(-1, 3)


def _corners(boxes: Array, center_point_box: int) -> Array:
    """Return boxes as lowest y, lowest x, highest y, highest x."""
    if center_point_box:
        x, y, width, height = boxes.T
        return np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], 1)
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, high], 1)


def _overlap(a: Array, b: Array) -> float:
    """Return the intersection of two boxes over their union."""
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
    common = float(sides.prod())
    union = float((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod()) - common
    return common / union if union > 0 else 0.0
