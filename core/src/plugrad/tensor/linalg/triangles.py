"""Inverses of triangular matrices, doubling inverted blocks on the diagonal, and substitution by blocks.

Where devices run loops, a kernel inverts blocks of up to 128 rows (see `plugrad.codegen.factors`).

Two inverted blocks give the inverse of twice their size: the block below them becomes `-C @ B @ A`. Small
matrices double all blocks of one size at once, by products of whole matrices with zeros around the blocks, so
every size shares its kernels. Large ones would need too many whole products, so they are cut into small
blocks, which are doubled as matrices of their own.

Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 14.2.2.
"""

from collections.abc import Callable
from typing import Any

from plugrad.tensor.linalg.field import quotient
from plugrad.tensor.linalg.matmul import matrix_product
from plugrad.tensor.linalg.matrix_steps import (
    columns_of,
    counter,
    cut,
    factorized,
    padded,
    rows_of,
    slice_rows,
    transposed,
)
from plugrad.tensor.shapes import expanded
from plugrad.uop import UOp

# Up to this size whole products take no longer than more kernels would.
_SMALL = 8
# Up to this size, a kernel takes no longer than products of blocks do.
_LARGEST = 128
# Measured: the width of the diagonal blocks whose inverses solve a system.
_BLOCK = 32


def inverse_of_lower(x: UOp, device: str, unit: bool = False) -> UOp:
    """Return the inverse of a lower triangle: (*B, n, n) -> (*B, n, n)."""
    row, column = rows_of(x.shape), columns_of(x.shape)
    lower = (row > column).where(x, x.const_like(0.0))
    lower = row.eq(column).where(x.const_like(1.0) if unit else x, lower)
    number = counter(device)
    return _by_doubling(
        lower,
        _LARGEST,
        lambda blocks: factorized("inverse", _by_products, blocks, number, device=device, is_small=True),
    )


def _by_products(lower: UOp, number: UOp, device: str) -> UOp:
    return _by_doubling(lower, _SMALL, lambda blocks: _inverse_of_small(blocks, number))


def _by_doubling(x: UOp, most: int, inverse: Callable[[UOp], UOp]) -> UOp:
    """Return the inverse of a lower triangle from inverses of small blocks."""
    size: Any = x.shape[-1]
    if size <= most:
        return inverse(x)
    doublings = (-(-size // most) - 1).bit_length()
    width = -(-size >> doublings)
    whole = width << doublings
    x = pad_with_identity(x, whole)
    out = inverse(_below_diagonal(x, width, 0).contiguous())
    while width < whole:
        below = _below_diagonal(x, width, 1).contiguous()
        out = _double_blocks(out, below).contiguous()
        width *= 2
    return cut(out.reshape((*x.shape[:-2], whole, whole)), (0, size), (0, size))


def solve_lower(x: UOp, right: UOp, device: str, unit: bool = False) -> UOp:
    """Return the solution of `x @ y == right` for a lower triangle `x`.

    Shapes: (*B, n, n), (*B, n, k) -> (*B, n, k).

    Only diagonal blocks are inverted, so rounding grows with their condition, not with that of `x`.
    """
    return _substitute_blocks(x, right, device, unit, False)


def solve_upper(x: UOp, right: UOp, device: str) -> UOp:
    """Return the solution of `x @ y == right` for an upper triangle, as `solve_lower` does."""
    return _substitute_blocks(x, right, device, False, True)


def _substitute_blocks(x: UOp, right: UOp, device: str, unit: bool, is_upper: bool) -> UOp:
    size: Any = x.shape[-1]
    doublings = max(-(-size // _BLOCK) - 1, 0).bit_length()
    width = -(-size >> doublings)
    whole = width << doublings
    x, right = pad_with_identity(x, whole), padded(right, (0, whole - size), (0, 0))
    blocks = _below_diagonal(x, width, 0)
    if is_upper:
        inverted = transposed(inverse_of_lower(transposed(blocks).contiguous(), device))
    else:
        inverted = inverse_of_lower(blocks.contiguous(), device, unit)
    found = _substitute(x.contiguous(), inverted.contiguous(), right.contiguous(), is_upper)
    return slice_rows(found, 0, size)


def _substitute(x: UOp, inverted: UOp, right: UOp, is_upper: bool) -> UOp:
    """Solve a triangle by halves, with the inverses of its diagonal blocks.

    Shapes: (*B, n, n), inverted blocks (*B, c, w, w), (*B, n, k) -> (*B, n, k).
    """
    *batch, count, width, _ = inverted.shape
    if count == 1:
        return matrix_product(inverted.reshape((*batch, width, width)), right).contiguous()
    half: Any = count // 2
    size: Any = half * width
    halves: dict[int, UOp] = {}
    for part in (1, 0) if is_upper else (0, 1):
        rows = (part * size, (part + 1) * size)
        mine = slice_rows(right, rows[0], size)
        for other, known in halves.items():
            beside = cut(x, rows, (other * size, (other + 1) * size))
            mine = (mine - matrix_product(beside, known)).contiguous()
        heads: list[tuple[Any, Any]] = [(0, dim) for dim in batch]
        blocks = inverted.shrink([*heads, (part * half, (part + 1) * half), (0, width), (0, width)])
        halves[part] = _substitute(cut(x, rows, rows), blocks, mine, is_upper)
    upper, lower = (padded(halves[i], (i * size, size - i * size), (0, 0)) for i in (0, 1))
    return (upper + lower).contiguous()


def _inverse_of_small(x: UOp, number: UOp) -> UOp:
    shape = x.shape
    size: Any = shape[-1]
    row, column = rows_of(shape), columns_of(shape)
    one = x.const_like(1.0)
    diagonal = quotient(one, row.eq(column).where(x, one))
    out = row.eq(column).where(diagonal, x.const_like(0.0)).contiguous()
    bit = number
    for _ in range((size - 1).bit_length()):
        shift = expanded(bit, shape)
        block, other = row >> shift, column >> shift
        is_below = (block ^ 1).eq(other) & (block > other)
        between = is_below.where(x, x.const_like(0.0))
        out = (out - matrix_product(out, matrix_product(between, out).contiguous())).contiguous()
        bit = (bit + 1).contiguous()
    return out


def pad_with_identity(x: UOp, whole: int) -> UOp:
    """Pad matrices to `whole` rows with ones on the diagonal, which are their own inverse."""
    size: Any = x.shape[-1]
    if size == whole:
        return x
    wide = padded(x, (0, whole - size), (0, whole - size))
    row, column = rows_of(wide.shape), columns_of(wide.shape)
    return (row.eq(column) & (row >= size)).where(wide.const_like(1.0), wide)


def _below_diagonal(x: UOp, width: int, away: int) -> UOp:
    """Return the diagonal blocks, or those below the first of each two diagonal blocks.

    (*B, n, n) -> (*B, n / width / (away+1), width, width), for `away` 0 and 1.
    """
    *batch, size, _ = x.shape
    group = (away + 1) * width
    count: Any = size // group
    heads: list[tuple[Any, Any]] = [(0, dim) for dim in batch]
    split = x.reshape((*batch, count, away + 1, width, count, away + 1, width))
    cut = split.shrink(
        [*heads, (0, count), (away, away + 1), (0, width), (0, count), (0, 1), (0, width)]
    ).reshape((*batch, count, width, count, width))
    at = len(batch)
    pairs = cut.permute((*range(at), at, at + 2, at + 1, at + 3)).reshape(
        (*batch, count * count, width, width)
    )
    # in rows that are one longer, the first column has what was on the diagonal
    longer = pairs.pad([*[(0, 0)] * at, (0, count), (0, 0), (0, 0)])
    longer = longer.reshape((*batch, count, count + 1, width, width))
    diagonal = longer.shrink([*heads, (0, count), (0, 1), (0, width), (0, width)])
    return diagonal.reshape((*batch, count, width, width))


def _double_blocks(inverted: UOp, below: UOp) -> UOp:
    """Return the inverses of blocks of twice the size.

    Shapes: (*B, 2 * c, s, s) and (*B, c, s, s) -> (*B, c, 2 * s, 2 * s).
    """
    *batch, count, width, _ = below.shape
    heads: list[tuple[Any, Any]] = [*((0, dim) for dim in batch), (0, count)]
    pairs = inverted.reshape((*batch, count, 2, width, width))
    first, second = (
        pairs.shrink([*heads, (i, i + 1), (0, width), (0, width)]).reshape(below.shape) for i in (0, 1)
    )
    product = matrix_product(second, matrix_product(below, first).contiguous()).contiguous()
    before, behind = (width, 0), (0, width)
    lower = padded(product, before, behind)
    return padded(first, behind, behind) + padded(second, before, before) - lower
