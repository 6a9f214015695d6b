"""Singular values and eigenvalues, without gradients.

Those of real matrices are one kernel where devices run loops (see `plugrad.codegen.factors`). All others are
Jacobi rotations. A sweep is n - 1 rounds of three launches; all rounds share their kernels (see
`plugrad.tensor.linalg.factorizations.orthogonalize_rows`). The number of sweeps depends on the size alone, so
nothing is read back. That is practical up to n of about 500; a batch takes no more launches than one matrix.
"""

from __future__ import annotations

import math
from typing import Any

from plugrad.dtype import dtypes, is_complex, part_dtype
from plugrad.tensor.base import Tensor
from plugrad.tensor.linalg.factorizations import orthogonalize_rows
from plugrad.tensor.linalg.factors import householder_qr
from plugrad.tensor.linalg.jvp import detached, in_memory
from plugrad.tensor.linalg.matrix_steps import computed, factorized
from plugrad.tensor.linalg.operands import (
    adjoint,
    corner,
    diagonal_of,
    identity,
    matrix_scale,
    pad_with_zeros,
    size_of,
    squared_lengths,
)
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, lesser
from plugrad.uop import UOp

# the reciprocals of these are finite
_SMALLEST = {dtypes.float32: 2.0**-126, dtypes.float64: 2.0**-1022}

# from this size on, rotations are computed while the graph is made
_LARGE = 5

# rows of whole vectors, whatever the device's are
_LANES = 16


def padded_svd(x: Tensor, complete: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Return U, S and V, then the other columns of U and V.

    Zeros behind rows and columns of symbolic sizes change nothing but that there are more values of 0: no
    reflection or rotation mixes their directions with others, and they are sorted behind all others.
    """
    rows, columns = size_of(x, -2), size_of(x, -1)
    count = lesser(rows, columns)
    whole = pad_with_zeros(detached(x))
    is_wide = size_of(whole, -1) > size_of(whole, -2)
    u, s, v, others = jacobi_svd(adjoint(whole) if is_wide else whole, complete)
    u = u.cat(others, axis=-1) if complete else u
    u, v = (v, u) if is_wide else (u, v)
    thin = [corner(u, rows, count), interval(s, s.ndim - 1, 0, count), corner(v, columns, count)]
    ends = (rows, columns) if complete else (count, count)
    left = interval(corner(u, rows, ends[0]), u.ndim - 1, count, ends[0])
    right = interval(corner(v, columns, ends[1]), v.ndim - 1, count, ends[1])
    return thin, [left, right]


def jacobi_svd(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return U, S, V and the other columns of U, for m >= n."""
    rows, columns = size_of(x, -2), size_of(x, -1)
    if columns < _LARGE or is_complex(x.dtype):
        return _rotated_svd(x, complete)
    largest = matrix_scale(x)
    x = x / largest
    left, others = None, interval(x, x.ndim - 1, 0, 0)
    if rows > columns:
        left, x, others = householder_qr(x, complete)
    u, s, v = _square_factors(in_memory(x))
    u, s, v = _compute_large(u if left is None else left @ u, s * largest.squeeze(-1), v)
    return u, s, v, others


def _square_factors(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V of square real matrices."""
    count = size_of(x, -1)
    x = _whole_lanes(x)
    unit = x.zeros_like() + identity(x, size_of(x, -1), size_of(x, -1))
    state = x.cat(unit, unit, interval(x, x.ndim - 2, 0, 1), axis=-2)

    def by_rotations(state: UOp, device: str) -> UOp:
        u, s, v, _ = _rotated_svd(x, False)
        return in_memory(x.cat(_transposed(u), _transposed(v), s.unsqueeze(-2), axis=-2))._graph

    made = x._like(factorized("svd", by_rotations, state._graph, device=x.device, is_small=False))
    return _vectors(made, 1, count), _last_row(made, count), _vectors(made, 2, count)


def _rotated_svd(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the results of `jacobi_svd`, by rotations.

    Rotations are of the triangle that two factorizations leave, with the longest columns in front: that is
    nearly diagonal, where rotations of the matrix itself would need many more sweeps.

    Source: Drmac and Veselic 2008, "New fast and accurate Jacobi SVD algorithm".
    """
    largest = matrix_scale(x)
    x, first = _sort_columns(x / largest)
    left, triangle, others = householder_qr(x, complete)
    x, second = _sort_columns(adjoint(triangle))
    right, triangle, _ = householder_qr(x, False)
    # many rotations are computed now: what they leave to do should not be done for each result again
    parts = left, right, triangle, first, second, largest
    left, right, triangle, first, second, largest = _compute_large(*parts)
    u, s, v = _square_svd(adjoint(triangle))
    u = left @ _reorder_rows(u, second.argsort(-1))
    v = _reorder_rows(right @ v, first.argsort(-1))
    u, s, v = _compute_large(in_memory(u), in_memory(s * largest.squeeze(-1)), in_memory(v))
    return u, s, v, others


def jacobi_eigh(x: Tensor, count: Dim) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    Behind the first `count` rows and columns there are zeros, which nothing mixes with others; their values
    come last.
    """
    size = size_of(x, -1)
    largest = matrix_scale(x)
    x = in_memory(x / largest)
    w, v = _rotated_pairs(x, count) if size < _LARGE else _eigenpairs(x, size, count)
    v, w = _compute_large(in_memory(v), in_memory(w * largest.squeeze(-1)))
    return w, v


def _eigenpairs(x: Tensor, size: int, count: Dim) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors of matrices whose greatest element is 1."""
    x = _whole_lanes(x)
    whole = size_of(x, -1)
    # what is behind comes last: no eigenvalue is greater than a row of such elements
    behind = _is_behind(x, count).where(2.0 * whole, 0.0).cast(x.dtype).diag_embed()
    unit = x.zeros_like() + identity(x, whole, whole)
    state = (x + behind).cat(unit, interval(x, x.ndim - 2, 0, 1), axis=-2)

    def by_rotations(state: UOp, device: str) -> UOp:
        w, v = _rotated_pairs(x, count)
        return in_memory(x.cat(_transposed(v), w.unsqueeze(-2), axis=-2))._graph

    made = x._like(factorized("eigh", by_rotations, state._graph, device=x.device, is_small=False))
    return _last_row(made, size), _vectors(made, 1, size)


def _is_behind(x: Tensor, count: Dim) -> Tensor:
    """Return a mask of the rows behind the first `count`."""
    number = count if isinstance(count, int) else count.cast(dtypes.int32)
    return x._make(UOp.iota(size_of(x, -1)) >= number, x.device)


def _rotated_pairs(x: Tensor, count: Dim) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors by rotations, those behind the first `count` last."""
    w, v = _pairs_by_rotations(x)
    order = _is_behind(x, count).where(math.inf, w).argsort(-1)
    return w.gather(-1, order), _reorder_columns(v, order)


def _pairs_by_rotations(x: Tensor) -> tuple[Tensor, Tensor]:
    size = size_of(x, -1)
    # moved up until all are positive and of like size, eigenvalues are singular values
    length = squared_lengths(x).sum((-2, -1), keepdim=True).sqrt()
    shift = (length == 0).where(1.0, length * 1.25).cast(length.dtype)
    bits = size.bit_length()
    sweeps = bits + 5 if length.dtype is dtypes.float32 else bits * 5 // 2 + 2
    turned = _orthogonalize_rows(_transposed(x + identity(x, size, size) * shift), size, sweeps)
    v = in_memory(_transposed(turned / squared_lengths(turned).sum(-1, keepdim=True).sqrt()))
    return _column_dots(v, x @ v), v


def _whole_lanes(x: Tensor) -> Tensor:
    """Pad large square matrices with zeros, which are mixed with nothing and stay behind."""
    count = size_of(x, -1)
    size = count if count <= _LANES else -(-count // _LANES) * _LANES
    return x.pad((0, size - count, 0, size - count))


def _vectors(made: Tensor, number: int, count: int) -> Tensor:
    """Return as columns the vectors that a factorization leaves as rows of matrix `number`."""
    size = size_of(made, -1)
    rows = interval(made, made.ndim - 2, number * size, (number + 1) * size)
    return in_memory(_transposed(corner(rows, count, count)))


def _last_row(made: Tensor, count: int) -> Tensor:
    rows = size_of(made, -2)
    return interval(interval(made, made.ndim - 2, rows - 1, rows), made.ndim - 1, 0, count).squeeze(-2)


def safe_inverse(x: Any) -> Any:
    """Return `1 / x`, and 0 where that would overflow.

    Example:
        >>> safe_inverse(Tensor([4.0, 0.0])).tolist()
        [0.25, 0.0]
    """
    is_zero = x.abs() < _SMALLEST[x.dtype]
    return is_zero.where(0.0, 1 / is_zero.where(1.0, x))


def _square_svd(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    size = size_of(x, -1)
    unit = x.zeros_like() + identity(x, size, size)
    extra = 4 if part_dtype(x.dtype) is dtypes.float32 else 6
    turned = _orthogonalize_rows(_transposed(x).cat(unit, axis=-1), size, size.bit_length() + extra)
    vectors = interval(turned, x.ndim - 1, 0, size)
    order = squared_lengths(vectors).sum(-1).argsort(-1, descending=True)
    vectors = _reorder_rows(vectors, order)
    v = _transposed(_reorder_rows(interval(turned, x.ndim - 1, size, 2 * size), order))
    # the product of many rotations is unitary up to their rounding: take one step nearer
    v = in_memory(v @ (identity(x, size, size) * 1.5 - adjoint(v) @ v / 2))
    # reflections find directions for singular values of 0 as well
    q, r, _ = householder_qr(_transposed(vectors), False)
    q = q * (diagonal_of(r).real.unsqueeze(-2) < 0).where(-1.0, 1.0).cast(part_dtype(x.dtype))
    s = _column_dots(q, x @ v).maximum(0.0)
    order = s.argsort(-1, descending=True)
    return _reorder_columns(q, order), s.gather(-1, order), _reorder_columns(v, order)


def _sort_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return columns sorted by length, longest first, and their order."""
    order = squared_lengths(x).sum(-2).argsort(-1, descending=True)
    return _reorder_columns(x, order), order


def _column_dots(x: Tensor, y: Tensor) -> Tensor:
    """Return the real parts of products of matching columns: (..., m, n) -> (..., n)."""
    if is_complex(x.dtype):
        return (x.real * y.real + x.imag * y.imag).sum(-2)
    return (x * y).sum(-2)


def _orthogonalize_rows(x: Tensor, width: int, sweeps: int) -> Tensor:
    """Rotate rows until their first `width` columns are orthogonal.

    The number of sweeps was measured on graded matrices and on clusters of close values.
    """
    count = size_of(x, -2)
    even = in_memory(x.pad((0, 0, 0, count % 2)))
    out = orthogonalize_rows(even._graph, x.device, width, sweeps) if count > 1 else even._graph
    return interval(x._like(out), x.ndim - 2, 0, count)


def _reorder_rows(x: Tensor, order: Tensor) -> Tensor:
    return in_memory(x.gather(-2, order.unsqueeze(-1).expand(*x.shape)))


def _reorder_columns(x: Tensor, order: Tensor) -> Tensor:
    return _transposed(_reorder_rows(_transposed(x), order))


def _transposed(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


def _compute_large(*parts: Tensor) -> list[Tensor]:
    """Compute large factors now by one schedule; small ones stay graphs."""
    if min(size_of(parts[0], -1), size_of(parts[0], -2)) < _LARGE or 0 in parts[0].shape:
        return list(parts)
    graphs = computed(tuple([in_memory(x)._graph for x in parts]), parts[0].device)
    return [x._like(u) for x, u in zip(parts, graphs, strict=True)]
