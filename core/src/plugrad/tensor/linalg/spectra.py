"""Singular value and eigenvalue decompositions, pseudo-inverses and least squares.

The values come from `plugrad.tensor.linalg.jacobi`, the gradients from
`plugrad.tensor.linalg.jvp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugrad.dtype import dtypes, is_complex, part_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, promoted
from plugrad.tensor.linalg import jacobi
from plugrad.tensor.linalg.factorizations import epsilon
from plugrad.tensor.linalg.factors import complete_columns, real_on_diagonal
from plugrad.tensor.linalg.jvp import detached, in_memory, with_gradient_of, with_jvp
from plugrad.tensor.linalg.matrix_results import EighResult, LeastSquares, SVDResult
from plugrad.tensor.linalg.operands import (
    adjoint,
    corner,
    diagonal_of,
    matrices,
    matrix_scale,
    pad_with_zeros,
    right_sides,
    size_of,
    square_matrices,
    squared_lengths,
    times_i,
)
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import greater, is_static, lesser, show


def svd(self: Tensor, full_matrices: bool = True) -> SVDResult[Tensor, Tensor]:
    """Return `U`, `S`, `Vh`, by these names, with `U @ S.diag_embed() @ Vh == self`.

    For k = min(m, n), (..., m, n) -> (..., m, k), (..., k), (..., k, n). The columns of U and the rows of Vh
    are orthonormal; S is real, and sorted, greatest first. In float32, errors are within a few millionths of
    the greatest singular value for k up to 64.

    That is `torch.linalg.svd`, and NumPy's; `torch.Tensor.svd` gives V instead of Vh, and unless asked for
    more, k vectors of each.

    Signs, or phases, of pairs of vectors are arbitrary, as are directions that share a singular value;
    gradients take these, and directions of singular value 0, as constants, which is right for results that
    do not depend on the choice.

    Args:
        full_matrices: give U all m columns, and Vh all n rows.

    Raises:
        ShapeError: these are no matrices.

    Example:
        >>> u, s, vh = Tensor([[0.0, 2.0], [1.0, 0.0]]).svd()
        >>> s.tolist(), (u @ s.diag_embed() @ vh).round().tolist()
        ([2.0, 1.0], [[0.0, 2.0], [1.0, 0.0]])
        >>> Tensor([[0.0, 2.0], [1.0, 0.0]]).svd().S.tolist()
        [2.0, 1.0]
    """
    x, narrow = matrices(self)
    if not is_static(x.shape[-2:]):
        u, s, v = _symbolic_svd(x, full_matrices)
    elif size_of(x, -1) > size_of(x, -2):
        v, s, u = _tracked_svd(adjoint(x), full_matrices)
    else:
        u, s, v = _tracked_svd(x, full_matrices)
    return SVDResult(u.cast(narrow), s.cast(part_dtype(narrow)), adjoint(v).cast(narrow))


def eigh(self: Tensor) -> EighResult[Tensor, Tensor]:
    """Return `eigenvalues`, ascending, and `eigenvectors` of Hermitian matrices, by these names.

    (..., n, n) -> (..., n), (..., n, n): `self @ v == v * w` for `w, v = self.eigh()`; the vectors are the
    columns of v. Only the lower triangle is read, and of the diagonal the real part. Errors, signs and
    gradients are as for `svd`; gradients are those for symmetric, or Hermitian, matrices.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> w, v = Tensor([[1.0, 0.0], [0.0, -3.0]]).eigh()
        >>> w.tolist(), v.abs().tolist()
        ([-3.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
        >>> Tensor([[1.0, 0.0], [0.0, -3.0]]).eigh().eigenvalues.tolist()
        [-3.0, 1.0]
    """
    x, narrow = square_matrices(self)
    size, value = size_of(x, -1), pad_with_zeros(detached(x))
    w, v = jacobi.jacobi_eigh(real_on_diagonal(value.tril()) + adjoint(value.tril(-1)), size)
    w, v = interval(w, w.ndim - 1, 0, size), corner(v, size, size)
    w, v = with_jvp(x, [w, v], _eigen_jvp)
    return EighResult(w.cast(part_dtype(narrow)), v.cast(narrow))


def pinv(self: Tensor, rtol: float | None = None) -> Tensor:
    """Return pseudo-inverses: (..., m, n) -> (..., n, m).

    Gradients are those of matrices whose rank does not change.

    Args:
        rtol: singular values up to this part of the greatest count as 0; by default, as in PyTorch, the
            distance from 1 to the next float times the greater size.

    Raises:
        ShapeError: these are no matrices.

    Example:
        >>> Tensor([[2.0, 0.0], [0.0, 0.0]]).pinv().tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    x, narrow = matrices(self)
    return _pseudo_inverse(x, rtol)[0].cast(narrow)


def lstsq(self: Tensor, b: Tensor, rtol: float | None = None) -> LeastSquares[Tensor]:
    """Return the shortest least-squares solution of `self @ x == b`, with its residuals.

    (..., m, n), (..., m, k) -> a solution (..., n, k), its residuals (..., k) if m > n, the rank (...) and
    the singular values (..., min(m, n)), by these names. By the pseudo-inverse, so any rank will do.

    Args:
        b: right sides. One with one axis, or the shape of this tensor without its last axis, is vectors.
        rtol: as for `pinv`.

    Raises:
        DtypeError: `b` is no tensor.
        ShapeError: these are no matrices, `b` does not fit, or symbolic sizes leave open whether there are
            more rows than columns.

    Example:
        >>> Tensor([[1.0], [1.0]]).lstsq(Tensor([1.0, 3.0])).solution.round().tolist()
        [2.0]
    """
    require_tensors(b=b)
    matrices(self)
    right, is_vector = right_sides(self, b)
    self._check_device(b)
    x, narrow = matrices(self.cast(promoted([self, b])))
    right = right.cast(x.dtype)
    rows, columns = size_of(x, -2), size_of(x, -1)
    if (count := lesser(rows, columns)) not in (rows, columns):
        raise ShapeError(
            f"lstsq of shape {show(self.shape)}: only where there are always more rows than columns, or "
            "never, is it known whether there are residuals. Narrow the bounds of the variables, or use pinv."
        )
    inverted, s, is_kept = _pseudo_inverse(x, rtol)
    found = inverted @ right
    if count != rows:
        residuals = squared_lengths(x @ found - right).sum(-2)
    else:
        residuals = interval(interval(right.real, right.ndim - 1, 0, 0), right.ndim - 2, 0, 1).squeeze(-2)
    if is_vector:
        found = found.squeeze(-1)
        residuals = residuals.squeeze(-1) if size_of(residuals, -1) else residuals
    part = part_dtype(narrow)
    return LeastSquares(
        found.cast(narrow), residuals.cast(part), is_kept.sum(-1, dtype=dtypes.int32), s.cast(part)
    )


def _pseudo_inverse(x: Tensor, rtol: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return the pseudo-inverse, and without gradients the singular values and their mask."""
    rows, columns = size_of(x, -2), size_of(x, -1)
    if is_static((rows, columns)) and columns > rows:
        inverted, s, is_kept = _pseudo_inverse(adjoint(x), rtol)
        return adjoint(inverted), s, is_kept
    (u, s, v), _ = jacobi.padded_svd(x, False)
    part: Any = greater(rows, columns)
    part = part if isinstance(part, int) else x._make(part.cast(s.dtype), x.device)
    part = part * epsilon(s.dtype) if rtol is None else rtol
    is_kept = s > s.pad((0, 1)).max(-1, keepdim=True) * part
    reciprocals = is_kept.where(1 / is_kept.where(s, 1.0), 0.0)
    value = in_memory((v * reciprocals.unsqueeze(-2)) @ adjoint(u))
    return with_jvp(x, [value], _pinv_jvp)[0], s, is_kept


def _tracked_svd(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V, with gradients, for m >= n."""
    u, s, v, others = jacobi.jacobi_svd(detached(x), complete)
    u, s, v = with_jvp(x, [u, s, v], _singular_jvp)
    return _append_columns(u, others), s, v


def _symbolic_svd(x: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
    thin, (left, right) = jacobi.padded_svd(x, complete)
    u, s, v = with_jvp(x, thin, _singular_jvp)
    return _append_columns(u, left), s, _append_columns(v, right)


def _append_columns(q: Tensor, others: Tensor) -> Tensor:
    """Append the other columns to orthonormal ones, and keep them orthonormal in derivatives."""
    if isinstance(count := size_of(others, -1), int) and not count:
        return q
    return q.cat(with_gradient_of(others, complete_columns(q, others)), axis=-1)


def _eigen_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of eigenvalues and eigenvectors.

    dW is the diagonal of `V.H @ dA @ V`; the part of dV of vector i along j divides by the gap of their
    values. Of `dA`, only the Hermitian part counts.

    Source: Giles 2008, "An extended collection of matrix derivative results", section 3.1.
    """
    w, v = values
    inner = adjoint(v) @ ((step + adjoint(step)) / 2) @ v
    gaps = jacobi.safe_inverse(w.unsqueeze(-2) - w.unsqueeze(-1))
    return [diagonal_of(inner).real, v @ (inner * gaps)]


def _singular_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of U, S and V; U and V have m >= n.

    Of complex matrices, dU takes the phase that turns both vectors of a pair apart.

    Source: Giles 2008, section 3.2.
    """
    u, s, v = values
    # squares of scaled values are in range
    largest = matrix_scale(detached(x))
    s, step = s / largest.squeeze(-1), step / largest
    inner = adjoint(u) @ step @ v
    row, column = s.unsqueeze(-2), s.unsqueeze(-1)
    gaps = jacobi.safe_inverse((row - column) * (row + column))
    du = u @ ((inner * row + adjoint(inner) * column) * gaps)
    dv = v @ ((inner * column + adjoint(inner) * row) * gaps)
    moved = step @ v * jacobi.safe_inverse(row)
    du = du + moved - u @ (adjoint(u) @ moved)
    if v.shape[-1] != v.shape[-2]:
        moved = adjoint(step) @ u * jacobi.safe_inverse(row)
        dv = dv + moved - v @ (adjoint(v) @ moved)
    diagonal = diagonal_of(inner)
    if is_complex(inner.dtype):
        du = du + u * (times_i(diagonal.imag).unsqueeze(-2) * jacobi.safe_inverse(row))
    return [du, diagonal.real * largest.squeeze(-1), dv]


def _pinv_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of the pseudo-inverse, where the rank does not change.

    Source: Golub and Pereyra 1973, "The differentiation of pseudo-inverses", equation 4.12.
    """
    (p,) = values
    turned = adjoint(step)
    right, left = p @ (adjoint(p) @ turned), turned @ adjoint(p) @ p
    return [right - right @ x @ p + left - p @ x @ left - p @ step @ p]
