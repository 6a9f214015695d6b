"""Determinants, QR, eigenvalues and singular values of complex matrices, by the steps of `complex_steps`.

A complex matrix is one real tensor, (..., 2, m, n). The algorithms are those of the real matrices, in
`plugrad.tensor.linalg.linalg` and `plugrad.tensor.linalg.spectra`, where the reasons are; and so are the
gradients. Phases of vectors are arbitrary, as signs are there, and gradients take them as fixed.
"""

import math
from collections.abc import Sequence
from typing import Any

from plugrad.array_api.complex_steps import (
    adjoint,
    conjugate,
    eliminated,
    multiplied,
    orthogonal_rows,
    part,
    product,
    reflected,
    times_i,
    units,
)
from plugrad.dtype import dtypes
from plugrad.tensor.linalg.factorizations import epsilon
from plugrad.tensor.linalg.spectra import safe_inverse, together
from plugrad.tensor.shapes import Dim

__all__ = [
    "deinterleaved",
    "determinants",
    "eigen",
    "factors_of_part",
    "identity",
    "interleaved",
    "pseudo_inverse",
    "qr",
    "singular",
]


# --- complex matrices as real ones ---


def interleaved(x: Any) -> Any:
    """Return real matrices that multiply as complex ones do: (..., 2, m, n) -> (..., 2m, 2n).

    Each number is a block [[a, -b], [b, a]], so that triangles with a real diagonal stay triangles.

    Example:
        >>> from plugrad.tensor import Tensor
        >>> interleaved(Tensor([[[1.0]], [[2.0]]])).tolist()
        [[1.0, -2.0], [2.0, 1.0]]
    """
    rows, columns = x.shape[-2:]
    blocks = x.stack(times_i(x), axis=-1).movedim(-4, -3)
    return blocks.reshape(*x.shape[:-3], 2 * rows, 2 * columns)


def deinterleaved(x: Any) -> Any:
    """Return the complex matrices of which `interleaved` made these: (..., 2m, 2n) -> (..., 2, m, n).

    Example:
        >>> from plugrad.tensor import Tensor
        >>> deinterleaved(Tensor([[1.0, -2.0], [2.0, 1.0]])).tolist()
        [[[1.0]], [[2.0]]]
    """
    rows, columns = x.shape[-2] // 2, x.shape[-1] // 2
    blocks = x.reshape(*x.shape[:-2], rows, 2, columns, 2)
    return blocks._interval(blocks.ndim - 1, 0, 1).squeeze(-1).movedim(-2, -3)


def identity(x: Any, rows: int, columns: int) -> Any:
    """Return the complex matrix with ones on the diagonal, in the dtype and on the device of `x`: (2, m, n).

    Example:
        >>> from plugrad.tensor import Tensor
        >>> identity(Tensor([1.0]), 1, 2).tolist()
        [[[1.0, 0.0]], [[0.0, 0.0]]]
    """
    one = x._like_eye(rows, columns)
    return one.stack(one.zeros_like())


def _scale(x: Any) -> Any:
    """Return the greatest magnitudes of parts, 1 where all is 0: (..., 2, m, n) -> (..., 1, 1, 1)."""
    return x.abs().max(-3, keepdim=True)._scale()


def _lower_inverse(x: Any) -> Any:
    """Return inverses of lower triangles with real diagonals."""
    return deinterleaved(interleaved(x)._triangle_inverse())


def _rows_in(x: Any, order: Any) -> Any:
    """Return rows in an order, (..., n), which both parts share."""
    return x.gather(-2, order.unsqueeze(-2).unsqueeze(-1).expand(*x.shape))._kept()


def _columns_in(x: Any, order: Any) -> Any:
    return _turned(_rows_in(_turned(x), order))


def _turned(x: Any) -> Any:
    return x.transpose(-2, -1)


# --- determinants ---


def determinants(x: Any) -> tuple[Any, Any, Any]:
    """Return determinants, signs and logarithms of magnitudes: (..., 2, n, n) -> (..., 2) twice and (...).

    Signs are numbers of magnitude 1, or 0 for a singular matrix.
    """
    fixed = x._fixed()
    factors, order = eliminated(fixed)
    pivots = factors.diagonal(0, -2, -1).unsqueeze(-2)
    parity = x._parity(order).unsqueeze(-1)
    directions, sizes = units(pivots)
    is_singular = (sizes == 0).any((-3, -2, -1)).unsqueeze(-1)
    sign = is_singular.where(0.0, _product_along(directions) * parity)
    logarithm = sizes.log().sum((-3, -2, -1))
    determinant = _product_along(pivots) * parity
    inverted = deinterleaved(interleaved(fixed).inv())
    values = x._differentiated([determinant, sign, logarithm, inverted], _determinant_moves)
    return values[0], values[1], values[2]


def _product_along(x: Any) -> Any:
    """Return products of complex numbers, by halves: (..., 2, 1, n) -> (..., 2)."""
    size = x.shape[-1]
    whole = 1 << max(size - 1, 0).bit_length()
    ones = identity(x, 1, 1).expand(*x.shape[:-1], whole - size)
    x = x.cat(ones, axis=-1) if whole > size else x
    while whole > 1:
        whole //= 2
        x = multiplied(x._interval(x.ndim - 1, 0, whole), x._interval(x.ndim - 1, whole, 2 * whole))._kept()
    return x.squeeze((-2, -1))


def _determinant_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return what determinants, signs, logarithms and the inverse move by: Jacobi's formula."""
    determinant, sign, _, inverted = values
    inner = product(inverted, step)
    trace = inner.diagonal(0, -2, -1).sum(-1).unsqueeze(-1).unsqueeze(-1)
    determinant, sign = (y.unsqueeze(-1).unsqueeze(-1) for y in (determinant, sign))
    turn = times_i(sign) * part(trace, 1)
    moved = [multiplied(determinant, trace).squeeze((-2, -1)), turn.squeeze((-2, -1))]
    return [*moved, part(trace, 0).squeeze((-3, -2, -1)), -product(inner, inverted)]


# --- QR ---


def qr(x: Any, complete: bool) -> tuple[Any, Any]:
    """Return Q and R: (..., 2, m, n) -> (..., 2, m, k), (..., 2, k, n), k = m if `complete` or min(m, n).

    The diagonal of R is real; for matrices of real numbers, it has the signs of LAPACK.
    """
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    head = x._interval(x.ndim - 1, 0, count)
    q, r, others = _reflections(head._fixed(), complete)
    inverted = adjoint(_lower_inverse(adjoint(r)))
    q, r, _ = head._differentiated([q, r, inverted], _qr_moves)
    if columns > rows:
        r = r.cat(product(adjoint(q), x._interval(x.ndim - 1, rows, columns)), axis=-1)
    if complete and rows > columns:
        q = q.cat(others._tracking(_completed(q, others)), axis=-1)
        r = r.pad((0, 0, 0, rows - columns))
    return q, r


def _reflections(x: Any, complete: bool) -> tuple[Any, Any, Any]:
    """Return Q, R and the other columns of Q, without gradients, for at least as many rows as columns."""
    rows, columns = x.shape[-2:]
    largest = _scale(x)
    state = reflected(x / largest)
    vectors = (state.tril(-1) + identity(x, rows, columns))._kept()
    overlaps = product(adjoint(vectors), vectors)._kept()
    # the reflections multiply to I - V @ inv(T) @ V^H, for T the upper half of V^H @ V
    halved = overlaps.tril(-1) + overlaps * identity(x, columns, columns)._interval(0, 0, 1) / 2
    triangle = adjoint(_lower_inverse(halved))
    count = rows if complete else columns
    heads = vectors._interval(x.ndim - 2, 0, count)
    q = identity(x, rows, count) - product(vectors, product(triangle, adjoint(heads)))
    direction = _directions(state)
    r = multiplied(conjugate(_turned(direction)), state._interval(x.ndim - 2, 0, columns).triu())
    is_imaginary = times_i(identity(x, columns, columns)) != 0
    r = is_imaginary.where(0.0, r) * largest
    first = multiplied(q._interval(x.ndim - 1, 0, columns), direction)
    return first._kept(), r._kept(), q._interval(x.ndim - 1, columns, count)


def _directions(state: Any) -> Any:
    """Return what turns the diagonal of R real: (..., 2, m, n) -> (..., 2, 1, n)."""
    diagonal = state.diagonal(0, -2, -1).unsqueeze(-2)
    # as for real matrices: LAPACK does not reflect a column that is done
    is_done = (state.tril(-1) == 0).all((-3, -2), keepdim=True) & (part(diagonal, 1) == 0)
    sign = is_done.where(-1.0, 1.0) * (part(diagonal, 0) > 0).where(1.0, -1.0)
    return units(diagonal)[0] * sign.cast(state.dtype)


def _completed(q: Any, others: Any) -> Any:
    """Return `others` kept orthonormal to the columns of `q` as these change: the same values."""
    beside = others - product(q, product(adjoint(q), others))
    count = beside.shape[-1]
    return product(beside, identity(q, count, count) * 1.5 - product(adjoint(beside), beside) / 2)


def _qr_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dQ, dR and what the inverse of R moves by.

    As for real matrices; where `Q^H @ dQ` was skew it is skew-Hermitian, with an imaginary diagonal that
    leaves the diagonal of R real.
    """
    q, r, inverted = values
    moved = product(step, inverted)
    inner = product(adjoint(q), moved)
    lower = inner.tril(-1)
    count = inner.shape[-1]
    turned = inner * times_i(identity(inner, count, count)).abs()
    upper = inner - (lower - adjoint(lower)) - turned
    return [moved - product(q, upper), product(upper, r), -product(inverted, upper)]


def factors_of_part(x: Any, complete: bool, count: Dim) -> tuple[Any, Any]:
    """Return Q and R of matrices with zeros behind rows and columns, of which `count` is the lesser number.

    As `qr` gives them, with zeros or directions of their own behind. Of the first `count` columns R is a
    triangle that has an inverse; of others it is what Q makes of them.
    """
    rows, columns = x.shape[-2:]
    size = min(rows, columns)
    is_behind = _is_behind(x, count, size)
    first = x._interval(x.ndim - 1, 0, size)
    head = is_behind.where(0.0, first).cast(x.dtype)
    q, r, others = _reflections(head._fixed(), complete)
    inverted = adjoint(_lower_inverse(adjoint(r + identity(x, size, size) * is_behind.cast(x.dtype))))
    q, r, _ = head._differentiated([q, r, is_behind.where(0.0, inverted).cast(x.dtype)], _qr_moves)
    r = r.pad((0, columns - size)) + product(adjoint(q), x - head.pad((0, columns - size)))
    if complete and rows > columns:
        q = q.cat(others._tracking(_completed(q, others)), axis=-1)
        r = r.pad((0, 0, 0, rows - columns))
    return q, r


def _is_behind(x: Any, count: Any, size: int | None = None) -> Any:
    """Return which of the numbers of columns are not among the first `count`: (n,)."""
    number = x._counted(x.shape[-1] if size is None else size)
    return number >= x._make(count.cast(number.dtype), x.device)


# --- singular values ---


def singular(x: Any, complete: bool) -> tuple[Any, Any, Any]:
    """Return U, S and V, for m >= n: (..., 2, m, n) -> (..., 2, m, k), (..., n), (..., 2, n, n)."""
    u, s, v, others = _singular(x._fixed(), complete)
    u, s, v = x._differentiated([u, s, v], _singular_moves)
    if others.shape[-1]:
        u = u.cat(others._tracking(_completed(u, others)), axis=-1)
    return u, s, v


def _singular(x: Any, complete: bool) -> tuple[Any, Any, Any, Any]:
    largest = _scale(x)
    x, first = _longest_first(x / largest)
    left, triangle, others = _reflections(x, complete)
    x, second = _longest_first(adjoint(triangle))
    right, triangle, _ = _reflections(x, False)
    parts = left, right, triangle, first, second, largest
    left, right, triangle, first, second, largest = together(*parts)
    u, s, v = _rotated(adjoint(triangle))
    u = product(left, _rows_in(u, second.argsort(-1)))
    v = _rows_in(product(right, v), first.argsort(-1))
    u, s, v = together(u._kept(), (s * largest.squeeze((-2, -1)))._kept(), v._kept())
    return u, s, v, others


def _longest_first(x: Any) -> tuple[Any, Any]:
    """Return columns sorted by length, and where they come from, (..., n)."""
    order = x.square().sum((-3, -2)).argsort(-1, descending=True)
    return _columns_in(x, order), order


def _rotated(x: Any) -> tuple[Any, Any, Any]:
    """Return U, S and V of square matrices."""
    size = x.shape[-1]
    unit = x.zeros_like() + identity(x, size, size)
    extra = 4 if x.dtype is dtypes.float32 else 6
    turned = _orthogonal(_turned(x).cat(unit, axis=-1), size, size.bit_length() + extra)
    vectors = turned._interval(x.ndim - 1, 0, size)
    order = vectors.square().sum((-3, -1)).argsort(-1, descending=True)
    vectors = _rows_in(vectors, order)
    v = _turned(_rows_in(turned._interval(x.ndim - 1, size, 2 * size), order))
    # the product of many rotations is unitary up to their rounding: take one step nearer
    v = product(v, identity(x, size, size) * 1.5 - product(adjoint(v), v) / 2)._kept()
    # reflections find directions for singular values of 0 as well
    q, r, _ = _reflections(_turned(vectors), False)
    is_negative = part(r, 0).diagonal(0, -2, -1).unsqueeze(-2) < 0
    q = q * is_negative.where(-1.0, 1.0).cast(x.dtype)
    s = (q * product(x, v)).sum((-3, -2)).maximum(0.0)
    order = s.argsort(-1, descending=True)
    return _columns_in(q, order), s.gather(-1, order), _columns_in(v, order)


def _orthogonal(x: Any, width: int, sweeps: int) -> Any:
    count = x.shape[-2]
    if count < 2:
        return x
    return orthogonal_rows(x.pad((0, 0, 0, count % 2)), width, sweeps)._interval(x.ndim - 2, 0, count)


def pseudo_inverse(x: Any, rtol: Any) -> Any:
    """Return pseudo-inverses: (..., 2, m, n) -> (..., 2, n, m).

    Args:
        x: matrices.
        rtol: singular values up to this part of the greatest, a number or (...), count as 0; None: as `pinv`
            of real matrices.
    """
    rows, columns = x.shape[-2:]
    if columns > rows:
        return adjoint(pseudo_inverse(adjoint(x), rtol))
    least = max(rows, columns) * epsilon(x.dtype) if rtol is None else rtol
    u, s, v, _ = _singular(x._fixed(), False)
    is_kept = s > s.pad((0, 1)).max(-1, keepdim=True) * least
    reciprocals = is_kept.where(1 / is_kept.where(s, 1.0), 0.0)
    value = product(v * reciprocals.unsqueeze(-2).unsqueeze(-3), adjoint(u))._kept()
    return x._differentiated([value], _pseudo_inverse_moves)[0]


def _pseudo_inverse_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dP where the rank does not change, as for real matrices."""
    (p,) = values
    turned = adjoint(step)
    right, left = product(p, product(adjoint(p), turned)), product(product(turned, adjoint(p)), p)
    right = right - product(product(right, x), p)
    left = left - product(p, product(x, left))
    return [right + left - product(product(p, step), p)]


def _singular_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dU, dS and dV: as for real matrices, and dU takes what turns both vectors of a pair apart."""
    u, s, v = values
    # squares of scaled values are in range
    largest = _scale(x._fixed())
    s, step = s.unsqueeze(-2) / largest.squeeze(-1), step / largest
    inner = product(adjoint(u), product(step, v))
    row, column = s.unsqueeze(-2), s.unsqueeze(-1)
    gaps = safe_inverse((row - column) * (row + column))
    du = product(u, (inner * row + column * adjoint(inner)) * gaps)
    dv = product(v, (column * inner + adjoint(inner) * row) * gaps)
    reciprocal = safe_inverse(row)
    moved = product(step, v) * reciprocal
    diagonal = inner.diagonal(0, -2, -1).unsqueeze(-2)
    apart = times_i(u) * part(diagonal, 1) * reciprocal
    du = du + moved - product(u, product(adjoint(u), moved)) + apart
    return [du, part(diagonal, 0).squeeze((-3, -2)) * largest.squeeze((-2, -1)), dv]


# --- eigenvalues ---


def eigen(x: Any, count: Dim | None = None) -> tuple[Any, Any]:
    """Return eigenvalues, least first, and eigenvectors of Hermitian matrices: (..., n), (..., 2, n, n).

    Only the lower triangle is read, and of the diagonal the real part. Behind the first `count` rows and
    columns there are zeros, whose values come last.
    """
    fixed = x._fixed()
    size = x.shape[-1]
    lower, diagonal = fixed.tril(-1), fixed * identity(x, size, size)
    w, v = x._differentiated(list(_eigen(lower + adjoint(lower) + diagonal, count)), _eigen_moves)
    return w, v


def _eigen(x: Any, count: Any) -> tuple[Any, Any]:
    size = x.shape[-1]
    largest = _scale(x)
    x = (x / largest)._kept()
    # moved up until all are positive and of like size, eigenvalues are singular values
    length = x.square().sum((-3, -2, -1), keepdim=True).sqrt()
    shift = (length == 0).where(1.0, length * 1.25).cast(x.dtype)
    bits = size.bit_length()
    sweeps = bits + 5 if x.dtype is dtypes.float32 else bits * 5 // 2 + 2
    turned = _orthogonal(_turned(x + identity(x, size, size) * shift), size, sweeps)
    v = _turned(turned / turned.square().sum((-3, -1), keepdim=True).sqrt())._kept()
    w = (v * product(x, v)).sum((-3, -2))
    keys = w if count is None or isinstance(count, int) else _is_behind(x, count).where(math.inf, w)
    order = keys.argsort(-1)
    return (w.gather(-1, order) * largest.squeeze((-2, -1)))._kept(), _columns_in(v, order)._kept()


def _eigen_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dW and dV, as for real symmetric matrices. Of `dA`, only the Hermitian part counts."""
    w, v = values
    inner = product(adjoint(v), product((step + adjoint(step)) / 2, v))
    gaps = safe_inverse(w.unsqueeze(-2) - w.unsqueeze(-1)).unsqueeze(-3)
    return [part(inner, 0).diagonal(0, -2, -1).squeeze(-2), product(v, inner * gaps)]
