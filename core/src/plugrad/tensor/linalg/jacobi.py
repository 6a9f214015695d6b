"""Singular values and eigenvalues by Jacobi rotations, without gradients.

Sweeps of n - 1 rounds, each of three launches of kernels that all rounds share (see
`plugrad.tensor.linalg.factorizations.orthogonal_rows`). How many sweeps is fixed by the size, so nothing is
read back: the same launches for all values. That is practical up to n of about 500; a batch takes no more
launches than one matrix.
"""

from __future__ import annotations

# pyright: reportPrivateUsage=false
import math
from typing import TYPE_CHECKING, Any

from plugrad.dtype import dtypes, is_complex, part_dtype
from plugrad.tensor.linalg.differentiated import fixed, in_memory
from plugrad.tensor.linalg.factorizations import orthogonal_rows
from plugrad.tensor.linalg.factors import reflections
from plugrad.tensor.linalg.matrix_steps import computed
from plugrad.tensor.linalg.operands import (
    adjoint,
    among_zeros,
    corner,
    diagonal_of,
    identity,
    scale_of,
    size_of,
    squared_lengths,
)
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, lesser
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

__all__ = ["eigen", "safe_inverse", "singular", "singular_parts"]

# the reciprocals of these are finite
_SMALLEST = {dtypes.float32: 2.0**-126, dtypes.float64: 2.0**-1022}

# from this size on, rotations are computed while the graph is made
_LARGE = 5


def singular_parts(x: Tensor, complete: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Return U, S and V, and the other columns of U and V.

    Zeros behind rows and columns of symbolic sizes change nothing but that there are more values of 0: no
    reflection or rotation mixes their directions with others, and they are sorted behind all others.
    """
    rows, columns = size_of(x, -2), size_of(x, -1)
    count = lesser(rows, columns)
    whole = among_zeros(fixed(x))
    is_wide = size_of(whole, -1) > size_of(whole, -2)
    u, s, v, others = singular(adjoint(whole) if is_wide else whole, complete)
    u = u.cat(others, axis=-1) if complete else u
    u, v = (v, u) if is_wide else (u, v)
    thin = [corner(u, rows, count), interval(s, s.ndim - 1, 0, count), corner(v, columns, count)]
    ends = (rows, columns) if complete else (count, count)
    left = interval(corner(u, rows, ends[0]), u.ndim - 1, count, ends[0])
    right = interval(corner(v, columns, ends[1]), v.ndim - 1, count, ends[1])
    return thin, [left, right]


def singular(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return U, S, V and the other columns of U, for m >= n.

    Rotations are of the triangle that two factorizations leave, with the longest columns in front: that is
    nearly diagonal, where rotations of the matrix itself would need many more sweeps.

    Source: Drmac and Veselic 2008, "New fast and accurate Jacobi SVD algorithm".
    """
    largest = scale_of(x)
    x, first = _longest_first(x / largest)
    left, triangle, others = reflections(x, complete)
    x, second = _longest_first(adjoint(triangle))
    right, triangle, _ = reflections(x, False)
    # many rotations are computed now: what they leave to do should not be done for each result again
    parts = left, right, triangle, first, second, largest
    left, right, triangle, first, second, largest = _together(*parts)
    u, s, v = _rotated(adjoint(triangle))
    u = left @ _rows_in(u, second.argsort(-1))
    v = _rows_in(right @ v, first.argsort(-1))
    u, s, v = _together(in_memory(u), in_memory(s * largest.squeeze(-1)), in_memory(v))
    return u, s, v, others


def eigen(x: Tensor, count: Dim) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Behind the first `count` rows and columns there are zeros, which no rotation mixes with others; their
    values come last.
    """
    size = size_of(x, -1)
    largest = scale_of(x)
    x = in_memory(x / largest)
    # moved up until all are positive and of like size, eigenvalues are singular values
    length = squared_lengths(x).sum((-2, -1), keepdim=True).sqrt()
    shift = (length == 0).where(1.0, length * 1.25).cast(length.dtype)
    bits = size.bit_length()
    sweeps = bits + 5 if length.dtype is dtypes.float32 else bits * 5 // 2 + 2
    turned = _orthogonal(_turned(x + identity(x, size, size) * shift), size, sweeps)
    v = in_memory(_turned(turned / squared_lengths(turned).sum(-1, keepdim=True).sqrt()))
    w = _overlaps(v, x @ v)
    keys = w
    if not isinstance(count, int):
        is_behind = x._make(UOp.iota(size) >= count.cast(dtypes.int32), x.device)
        keys = is_behind.where(math.inf, w)
    order = keys.argsort(-1)
    return in_memory(w.gather(-1, order) * largest.squeeze(-1)), in_memory(_columns_in(v, order))


def safe_inverse(x: Any) -> Any:
    """Return `1 / x`, and 0 where that is too large for a float.

    Example:
        >>> safe_inverse(Tensor([4.0, 0.0])).tolist()
        [0.25, 0.0]
    """
    is_zero = x.abs() < _SMALLEST[x.dtype]
    return is_zero.where(0.0, 1 / is_zero.where(1.0, x))


# --- what these are made of ---


def _rotated(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V of square matrices."""
    size = size_of(x, -1)
    unit = x.zeros_like() + identity(x, size, size)
    extra = 4 if part_dtype(x.dtype) is dtypes.float32 else 6
    turned = _orthogonal(_turned(x).cat(unit, axis=-1), size, size.bit_length() + extra)
    vectors = interval(turned, x.ndim - 1, 0, size)
    order = squared_lengths(vectors).sum(-1).argsort(-1, descending=True)
    vectors = _rows_in(vectors, order)
    v = _turned(_rows_in(interval(turned, x.ndim - 1, size, 2 * size), order))
    # the product of many rotations is unitary up to their rounding: take one step nearer
    v = in_memory(v @ (identity(x, size, size) * 1.5 - adjoint(v) @ v / 2))
    # reflections find directions for singular values of 0 as well
    q, r, _ = reflections(_turned(vectors), False)
    q = q * (diagonal_of(r).real.unsqueeze(-2) < 0).where(-1.0, 1.0).cast(part_dtype(x.dtype))
    s = _overlaps(q, x @ v).maximum(0.0)
    order = s.argsort(-1, descending=True)
    return _columns_in(q, order), s.gather(-1, order), _columns_in(v, order)


def _longest_first(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return columns sorted by length, and where they come from."""
    order = squared_lengths(x).sum(-2).argsort(-1, descending=True)
    return _columns_in(x, order), order


def _overlaps(x: Tensor, y: Tensor) -> Tensor:
    """Return the real parts of products of columns with those of `y`: (..., m, n) -> (..., n)."""
    if is_complex(x.dtype):
        return (x.real * y.real + x.imag * y.imag).sum(-2)
    return (x * y).sum(-2)


def _orthogonal(x: Tensor, width: int, sweeps: int) -> Tensor:
    """Return rows rotated until their first `width` columns are orthogonal.

    How many sweeps that takes was measured: for graded matrices, and clusters of close values.
    """
    count = size_of(x, -2)
    even = in_memory(x.pad((0, 0, 0, count % 2)))
    out = orthogonal_rows(even._graph, x.device, width, sweeps) if count > 1 else even._graph
    return interval(x._like(out), x.ndim - 2, 0, count)


def _rows_in(x: Tensor, order: Tensor) -> Tensor:
    return in_memory(x.gather(-2, order.unsqueeze(-1).expand(*x.shape)))


def _columns_in(x: Tensor, order: Tensor) -> Tensor:
    return _turned(_rows_in(_turned(x), order))


def _turned(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


def _together(*parts: Tensor) -> list[Tensor]:
    """Return parts of factors, in memory if the matrices are too large for a graph of all rotations."""
    if min(size_of(parts[0], -1), size_of(parts[0], -2)) < _LARGE or 0 in parts[0].shape:
        return list(parts)
    graphs = computed(tuple([in_memory(x)._graph for x in parts]), parts[0].device)
    return [x._like(u) for x, u in zip(parts, graphs, strict=True)]
