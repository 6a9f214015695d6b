"""Linear algebra of `Complex`: what `plugrad.array_api.linalg` does where a matrix is complex.

Inverses, solutions and triangles of positive definite matrices are those of real matrices of twice the size,
in which each number is a block [[a, -b], [b, a]]: these multiply, and stay apart, as the numbers do. What is
not unique, such as eigenvectors, has algorithms of its own, in `plugrad.array_api.complex_factors`.
"""

from collections.abc import Callable
from typing import Any

from plugrad.array_api.complex_factors import (
    deinterleaved,
    determinants,
    eigen,
    identity,
    interleaved,
    pseudo_inverse,
    singular,
)
from plugrad.array_api.complex_factors import qr as factors
from plugrad.array_api.complex_steps import adjoint, product, times_i
from plugrad.array_api.complexes import Array, Complex
from plugrad.errors import ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted
from plugrad.tensor.shapes import is_static, show

__all__ = [
    "cholesky",
    "det",
    "each",
    "eigh",
    "inv",
    "magnitudes",
    "matrix_power",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "trace",
]


# --- arrays as tensors (..., 2, m, n) ---


def _pair(x: Complex, what: str, square: bool = False) -> Any:
    """Return matrices as one tensor, (..., m, n) -> (..., 2, m, n).

    Raises:
        ShapeError: these are no matrices, or their sizes are symbolic.
    """
    real: Any = x.real
    real._matrices(what, square)
    if not is_static(real.shape[-2:]):
        raise ShapeError(
            f"{what}: rows or columns of shape {show(real.shape)} are symbolic. Take matrices of fixed size: "
            "how many there are may vary."
        )
    return real.stack(x.imag, axis=-3)


def _complex(pair: Any, axis: int = -3) -> Complex:
    real, imag = pair.movedim(axis, 0)
    return Complex(real, imag)


def magnitudes(x: Complex) -> Tensor:
    """Return the magnitudes of complex numbers, without overflow on the way.

    Example:
        >>> magnitudes(Complex(Tensor([3.0]), Tensor([4.0]))).tolist()
        [5.0]
    """
    return x.real.hypot(x.imag)


def each(x: Array, function: Callable[[Tensor], Tensor]) -> Array:
    """Return what is linear of an array: of its parts, if it is complex.

    Example:
        >>> each(Complex(Tensor([1.0, 2.0]), Tensor([0.0, 1.0])), Tensor.sum).imag.item()
        1.0
    """
    return Complex(function(x.real), function(x.imag)) if isinstance(x, Complex) else function(x)


# --- by real matrices of twice the size ---


def inv(x: Complex) -> Complex:
    """Return inverses: (..., n, n) -> (..., n, n)."""
    return _complex(deinterleaved(interleaved(_pair(x, "inv", square=True)).inv()))


def solve(x1: Array, x2: Array) -> Complex:
    """Return `x` with `x1 @ x == x2`: (..., n, n), (..., n, k) -> (..., n, k)."""
    dtype = promoted([x.real if isinstance(x, Complex) else x for x in (x1, x2)])
    if isinstance(x1, Tensor):
        # a real matrix has both parts on its right side
        sides: Any = x2
        found: Any = x1.cast(dtype).solve(sides.real.cat(sides.imag, axis=-1).cast(dtype))
        columns = found.shape[-1] // 2
        return _complex(found.reshape(*found.shape[:-1], 2, columns), -2)
    real, imag = (x2.real, x2.imag) if isinstance(x2, Complex) else (x2, x2.zeros_like())
    right: Any = real.stack(imag, axis=-2).cast(dtype)
    rows, columns = right.shape[-3], right.shape[-1]
    matrix = interleaved(_pair(x1, "solve", square=True).cast(dtype))
    found = matrix.solve(right.reshape(*right.shape[:-3], 2 * rows, columns))
    return _complex(found.reshape(*found.shape[:-2], rows, 2, columns), -2)


def cholesky(x: Complex, upper: bool) -> Complex:
    """Return the lower triangle `L` with `L @ L^H == x`, or its adjoint: (..., n, n) -> (..., n, n)."""
    pair = _pair(x, "cholesky", square=True)
    # of a Hermitian matrix, the diagonal is real
    size = pair.shape[-1]
    is_imaginary = times_i(identity(pair, size, size)) != 0
    factor = deinterleaved(interleaved(is_imaginary.where(0.0, pair).cast(pair.dtype)).cholesky())
    return _complex(adjoint(factor) if upper else factor)


# --- by factors ---


def det(x: Complex) -> Complex:
    """Return determinants: (..., n, n) -> (...)."""
    return _complex(determinants(_pair(x, "det", square=True))[0], -1)


def slogdet(x: Complex) -> tuple[Complex, Tensor]:
    """Return numbers of magnitude 1, or 0, and logarithms of magnitudes: (..., n, n) -> (...), (...)."""
    _, sign, logarithm = determinants(_pair(x, "slogdet", square=True))
    return _complex(sign, -1), logarithm


def qr(x: Complex, complete: bool) -> tuple[Complex, Complex]:
    """Return Q and R: (..., m, n) -> (..., m, k), (..., k, n)."""
    q, r = factors(_pair(x, "qr"), complete)
    return _complex(q), _complex(r)


def eigh(x: Complex, what: str) -> tuple[Tensor, Complex]:
    """Return eigenvalues, least first, and eigenvectors: (..., n, n) -> (..., n), (..., n, n)."""
    w, v = eigen(_pair(x, what, square=True))
    return w, _complex(v)


def svd(x: Complex, full_matrices: bool, what: str) -> tuple[Complex, Tensor, Complex]:
    """Return U, S and Vh: (..., m, n) -> (..., m, k), (..., min(m, n)), (..., k, n)."""
    pair = _pair(x, what)
    is_wide = pair.shape[-1] > pair.shape[-2]
    u, s, v = singular(adjoint(pair) if is_wide else pair, full_matrices)
    left, right = (v, adjoint(u)) if is_wide else (u, adjoint(v))
    return _complex(left), s, _complex(right)


def pinv(x: Complex, rtol: Any) -> Complex:
    """Return pseudo-inverses: (..., m, n) -> (..., n, m)."""
    return _complex(pseudo_inverse(_pair(x, "pinv"), rtol))


# --- products and sums ---


def matrix_power(x: Complex, n: int) -> Complex:
    """Return products of `n` equal matrices, of inverses for negative `n`: (..., m, m) -> (..., m, m)."""
    base = _pair(x, "matrix_power", square=True)
    size = base.shape[-1]
    if n < 0:
        base = deinterleaved(interleaved(base).inv())
    # a constant would have no gradient, not even 0
    out = base.pow(0) * identity(base, size, size)
    for at, bit in enumerate(bin(abs(n))[2:] if n else ""):
        out = product(out, out) if at else out
        out = (product(out, base) if at else base) if bit == "1" else out
    return _complex(out)


def trace(x: Complex, offset: int, dtype: Any) -> Complex:
    """Return sums along diagonals: (..., m, n) -> (...)."""
    return Complex(*[y.diagonal(offset, -2, -1).sum(-1, dtype=dtype) for y in (x.real, x.imag)])
