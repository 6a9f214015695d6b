"""Convolution by windows of 3x3 with fewer multiplications: 36 instead of 144 for 4x4 results.

Results are computed in tiles of 4x4 from overlapping pieces of 6x6. Pieces and kernels are transformed by
small matrices, multiplied element by element, summed over channels, and transformed back. The matrices' range
of magnitudes costs precision; that is why it has to be asked for (`WINO=1`).

Source: Lavin and Gray 2015, "Fast algorithms for convolutional neural networks", section 4.3, F(4x4, 3x3).
"""

import struct
from typing import Any

from plugrad.dtype import DType, dtypes
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.shape.windows import windows
from plugrad.uop import Ops, UOp

_TILE = 4
_PIECE = 6
_INPUT = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
_KERNEL = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
_OUTPUT = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)


def fits_winograd(
    kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], dtype: DType
) -> bool:
    """Say whether Winograd applies: 3x3, stride 1, float32 or float64."""
    ones = (1, 1)
    return kernel == (3, 3) and stride == dilation == ones and dtype in (dtypes.float32, dtypes.float64)


def winograd(x: UOp, weight: UOp, groups: int) -> UOp:
    """Return the convolution of (N, C, H, W) with (O, C/groups, 3, 3): (N, O, H-2, W-2)."""
    n, _, height, width = _sizes(x)
    out_channels, in_group, _, _ = _sizes(weight)
    out_group = out_channels // groups
    rows, columns = height - 2, width - 2
    down, right = -(-rows // _TILE), -(-columns // _TILE)
    behind = (down * _TILE - rows, right * _TILE - columns)
    x = x.pad([(0, 0), (0, 0), (0, behind[0]), (0, behind[1])])
    pieces = windows(x, (_PIECE, _PIECE), (_TILE, _TILE), (1, 1))
    device = x.device or weight.device or HOST
    pieces = _transform_tiles(_INPUT, pieces, device).contiguous()
    kernels = _transform_tiles(_KERNEL, weight, device).contiguous()
    full: Any = (n, groups, out_group, in_group, down, right, _PIECE, _PIECE)
    left = pieces.reshape((n, groups, 1, *full[3:])).expand(full)
    other = kernels.reshape((1, groups, out_group, in_group, 1, 1, _PIECE, _PIECE)).expand(full)
    sums = (left * other).reduce_axis(Ops.ADD, (3,))
    tiles = sums.reshape((n, out_channels, down, right, _PIECE, _PIECE)).contiguous()
    out = _transform_tiles(_OUTPUT, tiles, device).permute((0, 1, 2, 4, 3, 5))
    out = out.reshape((n, out_channels, down * _TILE, right * _TILE))
    return out.shrink([(0, n), (0, out_channels), (0, rows), (0, columns)])


def _transform_tiles(matrix: tuple[tuple[float, ...], ...], u: UOp, device: str) -> UOp:
    """Return `matrix @ u @ matrix.T` over the last two axes."""
    out = _apply_matrix(matrix, u, len(u.shape) - 2, device)
    return _apply_matrix(matrix, out, len(u.shape) - 1, device)


def _apply_matrix(matrix: tuple[tuple[float, ...], ...], u: UOp, axis: int, device: str) -> UOp:
    count, size = len(matrix), len(matrix[0])
    after = len(u.shape) - axis - 1
    factors = _on_device(matrix, u.dtype, device).reshape((*(1,) * axis, count, size, *(1,) * after))
    full: Any = (*u.shape[:axis], count, *u.shape[axis:])
    spread = u.reshape((*u.shape[:axis], 1, *u.shape[axis:])).expand(full)
    sums = (factors.expand(full) * spread).reduce_axis(Ops.ADD, (axis + 1,))
    return sums.reshape((*u.shape[:axis], count, *u.shape[axis + 1 :]))


def _on_device(matrix: tuple[tuple[float, ...], ...], dtype: DType, device: str) -> UOp:
    numbers = [number for row in matrix for number in row]
    data = struct.pack(f"={len(numbers)}{dtype.fmt}", *numbers)
    uop = host_buffer(data, (len(matrix), len(matrix[0])), dtype)
    return uop if device == HOST else uop.copy_to_device(device)


def _sizes(u: UOp) -> Any:
    return u.shape
