"""Triangular factors of matrices, the last two axes.

The algorithms are those of `plugrad.tensor.linalg.factorizations`. They never look at the values: a matrix
that is not positive definite where it must be gives values that are not finite where other libraries raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from plugrad.dtype import is_complex
from plugrad.tensor.base import Tensor
from plugrad.tensor.linalg.factorizations import cholesky_factor, householder
from plugrad.tensor.linalg.jvp import detached, in_memory, with_gradient_of, with_jvp
from plugrad.tensor.linalg.matrix_results import QRResult
from plugrad.tensor.linalg.operands import (
    adjoint,
    corner,
    diagonal_of,
    identity,
    matrices,
    matrix_scale,
    pad_with_identity,
    pad_with_zeros,
    size_of,
    square_matrices,
    times_i,
    unpad,
)
from plugrad.tensor.linalg.triangles import inverse_of_lower
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import check_choice, is_static, lesser
from plugrad.uop import add_sizes


def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Return the lower triangle `L` with `L @ L.mH == self`: (..., n, n) -> (..., n, n).

    n steps of one kernel; practical up to n of about 1000. Only the lower triangle of the input is read, and
    of the diagonal the real part. A matrix that is not positive definite gives NaN from the column on where
    that shows. The gradient is that for symmetric, or Hermitian, matrices.

    Args:
        upper: return the conjugate transpose instead.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> Tensor([[4.0, 2.0], [2.0, 5.0]]).cholesky().tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """
    x, narrow = square_matrices(self)
    if not is_static(x.shape[-2:]):
        return unpad(pad_with_identity(x).cholesky(upper), x).cast(narrow)
    value = real_on_diagonal(detached(x))
    factor = in_memory(value._like(cholesky_factor(value._graph, self.device)))
    out = with_jvp(x, [factor, _lower_inverse(factor)], _cholesky_jvp)[0].cast(narrow)
    return adjoint(out) if upper else out


def qr(self: Tensor, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult[Tensor]:
    """Return `Q`, whose columns are orthonormal, and `R`, an upper triangle, with `Q @ R == self`.

    These are their names. For k = min(m, n), (..., m, n) -> (..., m, k) and (..., k, n). Householder
    reflections in k steps; practical up to k of about 500. The diagonal of R is real; of real matrices it has
    the signs of LAPACK. Where columns depend on each other, values are right and gradients are not finite.

    Args:
        mode: "complete" gives Q all m columns, and R rows of zeros; "r" gives an empty Q.

    Raises:
        ArgumentError: the mode is none of these.
        ShapeError: these are no matrices.

    Example:
        >>> q, r = Tensor([[3.0, 1.0], [4.0, 2.0]]).qr()
        >>> (q @ r).round().tolist()
        [[3.0, 1.0], [4.0, 2.0]]
        >>> Tensor([[2.0, 1.0], [0.0, 2.0]]).qr().R.abs().tolist()
        [[2.0, 1.0], [0.0, 2.0]]
    """
    check_choice(mode, ("reduced", "complete", "r"), "mode")
    x, narrow = matrices(self)
    rows, columns = size_of(x, -2), size_of(x, -1)
    count = lesser(rows, columns)
    q, r, others = _tracked_qr(interval(x, x.ndim - 1, 0, count), mode == "complete")
    if count != columns:
        r = r.cat(adjoint(q) @ interval(x, x.ndim - 1, count, columns), axis=-1)
    if mode == "r":
        q = corner(q, 0, 0)
    if mode == "complete" and count != rows:
        q = q.cat(with_gradient_of(others, complete_columns(q, others)), axis=-1)
        r = r.pad((0, 0, 0, add_sizes(rows, -count)))
    return QRResult(q.cast(narrow), r.cast(narrow))


def householder_qr(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, R and the other columns of Q, without gradients, for m >= n."""
    rows, columns = size_of(x, -2), size_of(x, -1)
    largest = matrix_scale(x)
    state = x._like(householder((x / largest)._graph, x.device))
    vectors = in_memory(state.tril(-1) + identity(x, rows, columns))
    overlaps = in_memory(adjoint(vectors) @ vectors)
    # the reflections multiply to I - V @ T @ V.H, for T the inverse of half of V.H @ V
    halved = overlaps.tril(-1) + diagonal_of(overlaps).diag_embed() / 2
    product = adjoint(_lower_inverse(halved))
    count = rows if complete else columns
    heads = adjoint(interval(vectors, x.ndim - 2, 0, count))
    q = identity(x, rows, count) - vectors @ (product @ heads)
    way = _diagonal_signs(state)
    r = interval(state, x.ndim - 2, 0, columns).triu() * way.conj().unsqueeze(-1) * largest
    first = interval(q, x.ndim - 1, 0, columns) * way.unsqueeze(-2)
    return in_memory(first), in_memory(real_on_diagonal(r)), interval(q, x.ndim - 1, columns, count)


def complete_columns(q: Tensor, others: Tensor) -> Tensor:
    """Return `others` with the gradient that keeps them orthonormal to the columns of `q`."""
    beside = others - q @ (adjoint(q) @ others)
    count = size_of(beside, -1)
    return beside @ (identity(beside, count, count) * 1.5 - adjoint(beside) @ beside / 2)


def real_on_diagonal(x: Tensor) -> Tensor:
    """Return matrices with a real diagonal."""
    if not is_complex(x.dtype):
        return x
    is_diagonal = identity(x, size_of(x, -2), size_of(x, -1)).real != 0
    return type(x).complex(x.real, is_diagonal.where(0.0, x.imag).cast(x.real.dtype))


def _tracked_qr(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, R and the other columns of Q, with gradients, for m >= n."""
    rows, columns = size_of(x, -2), size_of(x, -1)
    q, r, others = householder_qr(pad_with_zeros(detached(x)), complete)
    if not is_static((rows, columns)):
        # no reflection moves a row of zeros
        others = interval(corner(q.cat(others, axis=-1), rows, rows), x.ndim - 1, columns, rows)
        q, r = corner(q, rows, columns), corner(r, columns, columns)
    inverted = corner(adjoint(_lower_inverse(adjoint(pad_with_identity(r)))), columns, columns)
    q, r, _ = with_jvp(x, [q, r, inverted], _qr_jvp)
    return q, r, others


def _diagonal_signs(state: Tensor) -> Tensor:
    """Return factors that make the diagonal of R real, with LAPACK's signs: (..., m, n) -> (..., n)."""
    # LAPACK does not reflect a column that is done
    is_done = (state.tril(-1) == 0).all(-2)
    if not is_complex(state.dtype):
        return is_done.where(-1.0, 1.0).cast(state.dtype)
    pivots = diagonal_of(state)
    sign = (pivots.real > 0).where(1.0, -1.0).cast(pivots.real.dtype)
    way = (pivots == 0).where(1.0, pivots.sign()) * sign
    return (is_done & (pivots.imag == 0)).where(-1.0, way).cast(state.dtype)


def _lower_inverse(x: Tensor) -> Tensor:
    return in_memory(x._like(inverse_of_lower(x._graph, x.device)))


def _cholesky_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of L and of its inverse.

    `dL = L @ phi(inv(L) @ dA @ inv(L).H)`, phi the lower triangle with half of the diagonal. Of `dA`, only
    the Hermitian part counts.

    Source: Murray 2016, "Differentiation of the Cholesky decomposition", equation 10.
    """
    factor, inverted = values
    inner = inverted @ ((step + adjoint(step)) / 2) @ adjoint(inverted)
    inner = (inner.tril() + inner.tril(-1)) / 2
    return [factor @ inner, -(inner @ inverted)]


def _qr_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of Q, R and the inverse of R.

    With `C = Q.H @ dA @ inv(R)`, `Q.H @ dQ` is skew with the lower triangle of C. Of complex matrices it is
    skew-Hermitian, with an imaginary diagonal that leaves the diagonal of R real.

    Source: Walter, Lehmann and Lamour 2012, "On evaluating higher-order derivatives of the QR decomposition".
    """
    q, r, inverted = values
    moved = step @ inverted
    inner = adjoint(q) @ moved
    lower = inner.tril(-1)
    upper = inner - (lower - adjoint(lower))
    if is_complex(step.dtype):
        upper = upper - times_i(diagonal_of(inner).imag).diag_embed()
    return [moved - q @ upper, upper @ r, -(inverted @ upper)]
