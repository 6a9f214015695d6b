"""Sample images at positions and in regions."""

import math
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.registry import operator
from plugrad_onnx.values import Array, shape_of


def sample_at(image: Tensor, at: tuple[Tensor, Tensor]) -> Tensor:
    """Return images at rows and columns between pixels, 0 outside: `(N, C, H, W) -> (N, C, *positions)`."""
    n, channels, height, width = shape_of(image)
    y, x = at
    low_y, low_x = y.floor(), x.floor()
    flat = image.reshape(n, channels, height * width)
    out: Tensor | None = None
    for row, of_row in ((low_y, 1 - (y - low_y)), (low_y + 1, y - low_y)):
        for column, of_column in ((low_x, 1 - (x - low_x)), (low_x + 1, x - low_x)):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            position = row.clip(0, height - 1) * width + column.clip(0, width - 1)
            index = position.cast(dtypes.int64).reshape(n, 1, -1).expand(n, channels, -1)
            weight = inside.where(of_row * of_column, 0).reshape(n, 1, -1)
            term = flat.gather(2, index) * weight.cast(image.dtype)
            out = term if out is None else out + term
    assert out is not None, "an image has four corners"
    return out.reshape(n, channels, *shape_of(y)[1:])


@operator("GridSample", since=16)
def grid_sample(
    x: Tensor,
    grid: Tensor,
    *,
    align_corners: Literal[0, 1] = 0,
    mode: Literal["bilinear", "linear", "nearest", "bicubic", "cubic"] = "linear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
) -> Tensor:
    """Return images at positions between -1 and 1."""
    if mode == "nearest":
        return x.grid_sample(grid, "nearest", padding_mode, bool(align_corners))
    name: Literal["bilinear", "bicubic"] = "bilinear" if mode in ("linear", "bilinear") else "bicubic"
    return x.grid_sample(grid, name, padding_mode, bool(align_corners))


@operator("AffineGrid", since=20)
def affine_grid(theta: Tensor, size: tuple[int, ...], *, align_corners: Literal[0, 1] = 0) -> Tensor:
    """Return the positions that affine maps take the pixels of an image to."""
    lines = [np.linspace(-1, 1, n) if align_corners else (2 * np.arange(n) + 1) / n - 1 for n in size[2:]]
    axes = np.meshgrid(*lines, indexing="ij")
    points = np.stack([*reversed(axes), np.ones_like(axes[0])], -1).reshape(-1, len(lines) + 1)
    homogeneous = Tensor(points.astype(np.float32)).cast(theta.dtype)
    return homogeneous.matmul(theta.transpose(1, 2)).reshape(size[0], *size[2:], len(lines))


@operator("RoiAlign", since=10, until=15)
def roi_align_by_corners(
    x: Tensor,
    rois: Array,
    batch_indices: tuple[int, ...],
    *,
    mode: Literal["avg", "max"] = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return regions at one size, where a pixel's position is its corner."""
    return roi_align(
        x,
        rois,
        batch_indices,
        coordinate_transformation_mode="output_half_pixel",
        mode=mode,
        output_height=output_height,
        output_width=output_width,
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
    )


@operator("RoiAlign", since=16)
def roi_align(
    x: Tensor,
    rois: Array,
    batch_indices: tuple[int, ...],
    *,
    coordinate_transformation_mode: Literal["half_pixel", "output_half_pixel"] = "half_pixel",
    mode: Literal["avg", "max"] = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return regions at one size, by bilinear samples: `(N, C, H, W) -> (regions, C, h, w)`.

    Source: He et al. 2017, "Mask R-CNN", section 3.
    """
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0
    height, width = shape_of(x)[2], shape_of(x)[3]
    out: list[Tensor] = []
    for roi, batch in zip(rois.astype(np.float64), batch_indices, strict=True):
        x1, y1, x2, y2 = roi * spatial_scale - shift
        smallest = 0.0 if shift else 1.0
        rows = _samples(y1, max(y2 - y1, smallest), output_height, sampling_ratio, height)
        columns = _samples(x1, max(x2 - x1, smallest), output_width, sampling_ratio, width)
        out.append((_mean_of if mode == "avg" else _largest_of)(x[batch], rows, columns))
    if not out:
        return Tensor.zeros(0, shape_of(x)[1], output_height, output_width, dtype=x.dtype)
    return out[0].stack(*out[1:], axis=0) if len(out) > 1 else out[0].unsqueeze(0)


# two neighbours of each sample, with their weights: (bins, samples, 2)
_Samples = tuple[Array, Array]


def _samples(start: float, length: float, bins: int, ratio: int, size: int) -> _Samples:
    """Return the neighbours and weights of the samples of an axis."""
    count = ratio or max(math.ceil(length / bins), 1)
    at = start + (np.arange(bins)[:, None] + (np.arange(count) + 0.5) / count) * length / bins
    inside = (at >= -1) & (at <= size)
    at = at.clip(0, size - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    part = at - low
    return np.stack([low, high], -1), np.stack([1 - part, part], -1) * inside[..., None]


def _mean_of(image: Tensor, rows: _Samples, columns: _Samples) -> Tensor:
    """Return the means over samples; they are products of a matrix for each axis."""

    def matrix(samples: _Samples, size: int) -> Tensor:
        index, weight = samples
        out = np.zeros((index.shape[0], size), np.float64)
        bins = np.broadcast_to(np.arange(len(out))[:, None, None], index.shape)
        np.add.at(out, (bins, index), weight / index.shape[1])
        return Tensor(out.astype(np.float32)).cast(image.dtype)

    by_rows, by_columns = matrix(rows, shape_of(image)[1]), matrix(columns, shape_of(image)[2])
    return by_rows.matmul(image).matmul(by_columns.transpose(0, 1))


def _largest_of(image: Tensor, rows: _Samples, columns: _Samples) -> Tensor:
    """Return the largest weighted neighbour of any sample."""
    (row, of_row), (column, of_column) = rows, columns
    taken = image.index_select(1, Tensor(row.reshape(-1))).index_select(2, Tensor(column.reshape(-1)))
    weight = of_row.reshape(-1, 1) * of_column.reshape(1, -1)
    weighted = taken * Tensor(weight.astype(np.float32)).cast(image.dtype)
    return weighted.reshape(-1, row.shape[0], row[0].size, column.shape[0], column[0].size).max((2, 4))


@operator("MaxRoiPool")
def max_roi_pool(
    x: Tensor, rois: Array, *, pooled_shape: tuple[int, ...], spatial_scale: float = 1.0
) -> Tensor:
    """Return the largest elements of the bins of regions.

    Source: Girshick 2015, "Fast R-CNN", section 2.1.
    """
    height, width = pooled_shape
    out: list[Tensor] = []
    for batch, *corners in rois:
        x1, y1, x2, y2 = (math.floor(corner * spatial_scale + 0.5) for corner in corners)
        of_rows = _bins(y1, max(y2 - y1 + 1, 1), height, shape_of(x)[2])
        of_columns = _bins(x1, max(x2 - x1 + 1, 1), width, shape_of(x)[3])
        cells = [
            x[int(batch), :, r0:r1, c0:c1].max((1, 2))
            if r1 > r0 and c1 > c0
            else Tensor.zeros(shape_of(x)[1], dtype=x.dtype)
            for r0, r1 in of_rows
            for c0, c1 in of_columns
        ]
        bins = cells[0].stack(*cells[1:], axis=1) if len(cells) > 1 else cells[0].unsqueeze(1)
        out.append(bins.reshape(-1, height, width))
    return out[0].stack(*out[1:], axis=0) if len(out) > 1 else out[0].unsqueeze(0)


def _bins(start: int, length: int, count: int, size: int) -> list[tuple[int, int]]:
    edges = [
        (start + math.floor(i * length / count), start + math.ceil((i + 1) * length / count))
        for i in range(count)
    ]
    return [(min(max(low, 0), size), min(max(high, 0), size)) for low, high in edges]
