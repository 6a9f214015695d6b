"""Convolution by windows of 3x3 with fewer multiplications: 36 instead of 144 for 4x4 results.

Results are computed in tiles of 4x4 from overlapping pieces of 6x6. Pieces and kernels are transformed by
small matrices, multiplied element by element, summed over channels, and transformed back. The matrices' range
of magnitudes costs precision; that is why it has to be asked for (`WINO=1`).

Source: Lavin and Gray 2015, "Fast algorithms for convolutional neural networks", section 4.3, F(4x4, 3x3).
"""

from functools import reduce
from operator import add

from plugrad.dtype import DType, dtypes
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import int_shape
from plugrad.uop import Ops, UOp

_TILE = 4
_PIECE = 6
# Pieces up to which loading the transformed kernels takes as long as multiplying with them; and the products
# in the time of transforming one element of a piece or a sum, which are in a cache (one core of a Zen 4).
_FEW_PIECES = 16
_TRANSFORM = 48
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
_OUTPUT = ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1))


def fits_winograd(
    kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], dtype: DType
) -> bool:
    """Say whether Winograd applies: 3x3, stride 1, float32 or float64."""
    ones = (1, 1)
    return kernel == (3, 3) and stride == dilation == ones and dtype in (dtypes.float32, dtypes.float64)


def pays_winograd(x: UOp, weight: UOp, groups: int) -> bool:
    """Say whether products and transforms take less time than the plain sums.

    Args:
        x: the padded image, (N, C, H, W).
        weight: (O, C/groups, 3, 3).
        groups: of channels.
    """
    n, channels, height, width = int_shape(x)
    out_channels, in_group, _, _ = int_shape(weight)
    rows, columns, pairs = height - 2, width - 2, out_channels * in_group
    pieces = n * -(-rows // _TILE) * -(-columns // _TILE)
    products = pairs * max(pieces, _FEW_PIECES) + _TRANSFORM * (channels + out_channels) * pieces
    return _PIECE * _PIECE * products < 9 * pairs * n * rows * columns


def winograd(x: UOp, weight: UOp, groups: int) -> UOp:
    """Return the convolution of (N, C, H, W) with (O, C/groups, 3, 3): (N, O, H-2, W-2).

    Channels lie side by side in all that is stored: transforms are sums of vectors.
    """
    n, _, height, width = int_shape(x)
    out_channels = int_shape(weight)[0]
    rows, columns = height - 2, width - 2
    down, right = -(-rows // _TILE), -(-columns // _TILE)
    behind = (down * _TILE - rows, right * _TILE - columns)
    # what the image is computed of is not computed again for each piece
    x = x.pad([(0, 0), (0, 0), (0, behind[0]), (0, behind[1])]).permute((0, 2, 3, 1)).contiguous()
    sums = _products(_transformed_pieces(x, down, right), _transformed_kernels(weight, groups))
    tiles = sums.reshape((_PIECE, _PIECE, n * down, right, out_channels))
    strips = _rows(_OUTPUT, tiles, 1).permute((0, 2, 3, 1, 4)).contiguous()
    out = _rows(_OUTPUT, strips.reshape((_PIECE, n, down, right * _TILE, out_channels)), 0)
    out = out.permute((1, 2, 0, 3, 4)).reshape((n, down * _TILE, right * _TILE, out_channels))
    out = out.shrink([(0, n), (0, rows), (0, columns), (0, out_channels)]).contiguous()
    # who reads it chooses its own order
    return out.permute((0, 3, 1, 2))


def _transformed_pieces(x: UOp, down: int, right: int) -> UOp:
    """Return the transformed pieces of an image (N, H, W, C): (6, 6, pieces, C).

    Each image has `down` rows of `right` pieces.
    """
    n, _, width, channels = int_shape(x)
    strips = windows(x, (_PIECE, 1, 1), (_TILE, 1, 1), (1, 1, 1)).permute((4, 0, 1, 2, 3, 5, 6))
    strips = _rows(_INPUT, strips.reshape((_PIECE, n * down, width, channels)), 0).contiguous()
    pieces = windows(strips, (_PIECE, 1), (_TILE, 1), (1, 1)).permute((0, 4, 1, 2, 3, 5))
    return _rows(_INPUT, pieces.reshape((_PIECE, _PIECE, n * down * right, channels)), 1).contiguous()


def _transformed_kernels(weight: UOp, groups: int) -> UOp:
    """Return the kernels as (6, 6, groups, C/groups, O/groups), computed once where they stay."""
    out_channels, in_group, _, _ = int_shape(weight)
    kernels = weight.reshape((groups, out_channels // groups, in_group, 3, 3)).permute((3, 4, 0, 2, 1))
    return _rows(_KERNEL, _rows(_KERNEL, kernels, 0), 1).contiguous()


def _products(pieces: UOp, kernels: UOp) -> UOp:
    """Return a product of matrices for each element of a piece: (6, 6, pieces, O)."""
    count = int_shape(pieces)[2]
    _, _, groups, in_group, out_group = int_shape(kernels)
    full = (_PIECE, _PIECE, groups, count, out_group, in_group)
    left = pieces.reshape((_PIECE, _PIECE, count, groups, 1, in_group)).permute((0, 1, 3, 2, 4, 5))
    other = kernels.reshape((_PIECE, _PIECE, groups, 1, in_group, out_group)).permute((0, 1, 2, 3, 5, 4))
    sums = (left.expand(full) * other.expand(full)).reduce_axis(Ops.ADD, (5,)).reshape(full[:-1])
    return sums.permute((0, 1, 3, 2, 4)).reshape((_PIECE, _PIECE, count, groups * out_group)).contiguous()


def _rows(matrix: tuple[tuple[float, ...], ...], u: UOp, axis: int) -> UOp:
    sizes = [(0, size) for size in int_shape(u)]
    parts = [u.shrink([*sizes[:axis], (j, j + 1), *sizes[axis + 1 :]]) for j in range(len(matrix[0]))]
    none, last, placed = [(0, 0)] * len(sizes), len(matrix) - 1, list[UOp]()
    for i, factors in enumerate(matrix):
        pairs = zip(parts, factors, strict=True)
        row = reduce(add, [part if factor == 1 else part * factor for part, factor in pairs if factor])
        placed.append(row.pad([*none[:axis], (i, last - i), *none[axis + 1 :]]))
    return reduce(add, placed)
