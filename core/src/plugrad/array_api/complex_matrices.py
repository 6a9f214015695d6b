"""Linear algebra of complex matrices: what `plugrad.array_api.linalg` does where a matrix is complex.

Inverses, solutions and triangles of positive definite matrices are those of real matrices of twice the size,
in which each number is a block [[a, -b], [b, a]]: these multiply, and stay apart, as the numbers do. What is
not unique, such as eigenvectors, has algorithms of its own, in `plugrad.array_api.complex_factors`.

Matrices of symbolic sizes are parts of those of their greatest ones, with zeros or an identity behind: what
is computed of these, with gradients, has what is asked for in front.
"""

from typing import Any

from plugrad.array_api.complex_factors import (
    deinterleaved,
    determinants,
    eigen,
    factors_of_part,
    identity,
    interleaved,
    pseudo_inverse,
    singular,
)
from plugrad.array_api.complex_factors import qr as factors
from plugrad.array_api.complex_steps import adjoint, product, times_i
from plugrad.dtype import is_complex
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted
from plugrad.tensor.linalg.factorizations import epsilon
from plugrad.tensor.linalg.matrix_results import EighResult, QRResult, SlogdetResult, SVDResult
from plugrad.tensor.shapes import Dim, greater, is_static, lesser

__all__ = [
    "cholesky",
    "det",
    "eigh",
    "inv",
    "matrix_power",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
]


# --- arrays as tensors (..., 2, m, n) ---


def _pair(x: Tensor, what: str) -> Any:
    """Return matrices as one tensor, (..., m, n) -> (..., 2, m, n); with zeros behind symbolic sizes.

    Raises:
        ShapeError: these are no matrices.
    """
    real: Any = x.real
    imag: Any = x.imag
    real._matrices(what)
    return real._among_zeros().stack(imag._among_zeros(), axis=-3)


def _square_pair(x: Tensor, what: str, one: bool = True) -> Any:
    """Return square matrices as `_pair`; behind symbolic sizes those of `one` are the identity.

    Raises:
        ShapeError: these are no square matrices.
    """
    real: Any = x.real
    imag: Any = x.imag
    real._squares(what)
    real = real._among_ones() if one else real._among_zeros()
    return real.stack(imag._among_zeros(), axis=-3)


def _complex(pair: Any, axis: int = -3) -> Tensor:
    real, imag = pair.movedim(axis, 0)
    return Tensor.complex(real, imag)


def _cut(pair: Any, rows: Dim, columns: Dim) -> Tensor:
    """Return the first rows and columns of matrices: what a symbolic size leaves of the greatest one."""
    is_whole = is_static((rows, columns)) and pair.shape[-2:] == (rows, columns)
    return _complex(pair if is_whole else pair._corner(rows, columns))


def _sizes(x: Tensor) -> tuple[Dim, Dim]:
    rows, columns = x.shape[-2:]
    return rows, columns


# --- by real matrices of twice the size ---


def inv(x: Tensor) -> Tensor:
    """Return inverses: (..., n, n) -> (..., n, n)."""
    pair = _square_pair(x, "inv")
    return _cut(deinterleaved(interleaved(pair).inv()), *_sizes(x))


def solve(x1: Tensor, x2: Tensor) -> Tensor:
    """Return `x` with `x1 @ x == x2`: (..., n, n), (..., n, k) -> (..., n, k)."""
    dtype = promoted([x.real if is_complex(x.dtype) else x for x in (x1, x2)])
    if not is_complex(x1.dtype):
        # a real matrix has both parts on its right side
        sides: Any = x2
        found: Any = x1.cast(dtype).unsqueeze(-3).solve(sides.real.stack(sides.imag, axis=-3).cast(dtype))
        return _complex(found)
    parts = (x2.real, x2.imag) if is_complex(x2.dtype) else (x2, x2.zeros_like())
    real: Any = parts[0]
    imag: Any = parts[1]
    right = real._among_zeros().stack(imag._among_zeros(), axis=-2).cast(dtype)
    rows, columns = right.shape[-3], right.shape[-1]
    matrix = interleaved(_square_pair(x1, "solve").cast(dtype))
    found = matrix.solve(right.reshape(*right.shape[:-3], 2 * rows, columns))
    pair = found.reshape(*found.shape[:-2], rows, 2, columns).movedim(-2, -3)
    return _cut(pair, x1.shape[-1], x2.shape[-1])


def cholesky(x: Tensor, upper: bool) -> Tensor:
    """Return the lower triangle `L` with `L @ L^H == x`, or its adjoint: (..., n, n) -> (..., n, n)."""
    pair = _square_pair(x, "cholesky")
    # of a Hermitian matrix, the diagonal is real
    size = pair.shape[-1]
    is_imaginary = times_i(identity(pair, size, size)) != 0
    factor = deinterleaved(interleaved(is_imaginary.where(0.0, pair).cast(pair.dtype)).cholesky())
    return _cut(adjoint(factor) if upper else factor, *_sizes(x))


# --- by factors ---


def det(x: Tensor) -> Tensor:
    """Return determinants: (..., n, n) -> (...)."""
    return _complex(determinants(_square_pair(x, "det"))[0], -1)


def slogdet(x: Tensor) -> SlogdetResult[Tensor, Tensor]:
    """Return numbers of magnitude 1, or 0, and logarithms of magnitudes: (..., n, n) -> (...), (...)."""
    _, sign, logarithm = determinants(_square_pair(x, "slogdet"))
    return SlogdetResult(_complex(sign, -1), logarithm)


def qr(x: Tensor, complete: bool) -> QRResult[Tensor]:
    """Return Q and R: (..., m, n) -> (..., m, k), (..., k, n)."""
    pair = _pair(x, "qr")
    rows, columns = _sizes(x)
    count = lesser(rows, columns)
    q, r = factors(pair, complete) if is_static((rows, columns)) else factors_of_part(pair, complete, count)
    count = rows if complete else count
    return QRResult(_cut(q, rows, count), _cut(r, count, columns))


def eigh(x: Tensor, what: str) -> EighResult[Tensor, Tensor]:
    """Return eigenvalues, least first, and eigenvectors: (..., n, n) -> (..., n), (..., n, n)."""
    size: Any = x.shape[-1] if x.ndim else 0
    w, v = eigen(_square_pair(x, what, one=False), size)
    return EighResult(_first(w, size), _cut(v, size, size))


def svd(x: Tensor, full_matrices: bool, what: str) -> SVDResult[Tensor, Tensor]:
    """Return U, S and Vh: (..., m, n) -> (..., m, k), (..., min(m, n)), (..., k, n)."""
    pair = _pair(x, what)
    rows, columns = _sizes(x)
    is_wide = pair.shape[-1] > pair.shape[-2]
    u, s, v = singular(adjoint(pair) if is_wide else pair, full_matrices)
    left, right = (v, adjoint(u)) if is_wide else (u, adjoint(v))
    count = lesser(rows, columns)
    ends = (rows, columns) if full_matrices else (count, count)
    return SVDResult(_cut(left, rows, ends[0]), _first(s, count), _cut(right, ends[1], columns))


def pinv(x: Tensor, rtol: Any) -> Tensor:
    """Return pseudo-inverses: (..., m, n) -> (..., n, m)."""
    pair = _pair(x, "pinv")
    rows, columns = _sizes(x)
    size: Any = greater(rows, columns)
    if rtol is None and not isinstance(size, int):
        rtol = pair._make(size.cast(pair.dtype), pair.device) * epsilon(pair.dtype)
    return _cut(pseudo_inverse(pair, rtol), columns, rows)


def _first(x: Tensor, count: Dim) -> Tensor:
    whole: Any = x
    return x if isinstance(count, int) else whole._interval(x.ndim - 1, 0, count)


# --- products and sums ---


def matrix_power(x: Tensor, n: int) -> Tensor:
    """Return products of `n` equal matrices, of inverses for negative `n`: (..., m, m) -> (..., m, m)."""
    base = _square_pair(x, "matrix_power")
    size = base.shape[-1]
    if n < 0:
        base = deinterleaved(interleaved(base).inv())
    # a constant would have no gradient, not even 0
    out = base.pow(0) * identity(base, size, size)
    for at, bit in enumerate(bin(abs(n))[2:] if n else ""):
        out = product(out, out) if at else out
        out = (product(out, base) if at else base) if bit == "1" else out
    return _cut(out, *_sizes(x))
