"""Matrices, the last two axes of arrays: the extension `linalg` of the array API standard.

They are those of tensors, which say how far each algorithm carries, and which gradients there are. Nothing
looks at values, so a matrix that is singular, or not positive definite where it must be, gives elements that
are not finite. Integers become floats. Sizes may be symbolic.

Source: Python array API standard 2024.12, "Linear Algebra Extension".
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

from plugrad.array_api.manipulation import matmul, matrix_transpose, tensordot, vecdot
from plugrad.array_api.methods import describe_all, unary
from plugrad.array_api.reductions import sum
from plugrad.dtype import DType, dtypes
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.argument_checks import float_dtypes, real_number
from plugrad.tensor.linalg.factorizations import epsilon
from plugrad.tensor.linalg.matrix_results import EighResult, QRResult, SlogdetResult, SVDResult
from plugrad.tensor.linalg.operands import matrices
from plugrad.tensor.shapes import greater, show, some_axes

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

Tolerance = float | int | Tensor | None

# --- products and diagonals ---


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    return x1.outer(x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return x1.cross(x2, axis)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Return the elements on a diagonal of matrices: (..., m, n) -> (..., k).

    Args:
        x: matrices.
        offset: how far above the main diagonal; below it for negative ones.

    Raises:
        ArgumentError: `offset` is no integer.
        ShapeError: these are no matrices.

    Example:
        >>> diagonal(Tensor([[1, 2], [3, 4]]), offset=1).tolist()
        [2]
    """
    matrices(x)
    return x.diagonal(offset, -2, -1)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """Return sums along a diagonal of matrices: (..., m, n) -> (...).

    Args:
        x: matrices.
        offset: as for `diagonal`.
        dtype: of the sums; by default that of the function `sum`.

    Raises:
        ArgumentError: `offset` is no integer.
        DtypeError: complex numbers are to become real ones.
        ShapeError: these are no matrices.

    Example:
        >>> trace(Tensor([[1, 2], [3, 4]])).item()
        5
    """
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# --- inverses and determinants ---

det = unary(Tensor.det)
inv = unary(Tensor.inv)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return `x` with `x1 @ x == x2`: (..., n, n), (..., n, k) -> (..., n, k).

    Other axes broadcast.

    Args:
        x1: square matrices.
        x2: right sides, matrices; with one axis, a vector.

    Raises:
        ShapeError: these are no square matrices, or `x2` does not fit.

    Example:
        >>> solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 2.0])).tolist()
        [1.0, 0.5]
    """
    if x1.ndim < 2 or not x2.ndim or x2.shape[max(-2, -x2.ndim)] != x1.shape[-1]:
        raise ShapeError(
            f"solve of shapes {show(x1.shape)} and {show(x2.shape)}: it takes square matrices, (..., n, n), "
            "and right sides with as many rows, (..., n, k) or (n,)."
        )
    # a shape that could be one of vectors as well gets axes until it could not
    is_vector, missing = x2.ndim == 1, x1.ndim - x2.ndim
    right = x2.unsqueeze(-1) if is_vector else x2.unsqueeze(0) if missing == 1 else x2
    found = x1.solve(right)
    return found.squeeze(-1) if is_vector else found


def slogdet(x: Tensor, /) -> SlogdetResult[Tensor, Tensor]:
    return x.slogdet()


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    return x.matrix_power(n)


# --- factors ---


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    return x.cholesky(upper)


def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult[Tensor]:
    return x.qr(mode)


def eigh(x: Tensor, /) -> EighResult[Tensor, Tensor]:
    return x.eigh()


def eigvalsh(x: Tensor, /) -> Tensor:
    """Return eigenvalues, least first, of Hermitian matrices, or symmetric ones: (..., n, n) -> (..., n).

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> eigvalsh(Tensor([[1.0, 0.0], [0.0, -3.0]])).tolist()
        [-3.0, 1.0]
    """
    return x.eigh().eigenvalues


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult[Tensor, Tensor]:
    return x.svd(full_matrices)


def svdvals(x: Tensor, /) -> Tensor:
    """Return singular values, greatest first: (..., m, n) -> (..., min(m, n)).

    Raises:
        ShapeError: these are no matrices.

    Example:
        >>> svdvals(Tensor([[0.0, 2.0], [1.0, 0.0]])).tolist()
        [2.0, 1.0]
    """
    return x.svd(False).S


def pinv(x: Tensor, /, *, rtol: Tolerance = None) -> Tensor:
    return x.pinv(_for_each_value(rtol))


def matrix_rank(x: Tensor, /, *, rtol: Tolerance = None) -> Tensor:
    """Return the number of singular values above the tolerance: (..., m, n) -> (...).

    Args:
        x: matrices.
        rtol: as for `pinv`.

    Raises:
        DtypeError: `rtol` is no number.
        ShapeError: these are no matrices, or `rtol` does not fit.

    Example:
        >>> matrix_rank(Tensor([[2.0, 0.0], [0.0, 0.0]])).item()
        1
    """
    s: Any = svdvals(x)
    wide = s.cast(float_dtypes(s)[1])
    size: Any = greater(*x.shape[-2:])
    size = size if isinstance(size, int) else wide._make(size.cast(wide.dtype), wide.device)
    part = size * epsilon(wide.dtype) if rtol is None else _for_each_value(rtol)
    return (wide > wide.pad((0, 1)).max(-1, keepdim=True) * part).sum(-1, dtype=dtypes.int32)


def _for_each_value(rtol: Tolerance) -> Any:
    return rtol.unsqueeze(-1) if isinstance(rtol, Tensor) else rtol


# --- norms ---


def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Return `sum(|x| ** ord) ** (1 / ord)` over some axes, or all: the Euclidean length for 2.

    Args:
        x: real or complex numbers.
        axis: what to sum over.
        keepdims: keep those axes with size 1.
        ord: `inf` and `-inf` give the greatest and least magnitude, 0 how many elements are not 0.

    Raises:
        ArgumentError: `ord` is no number, or `keepdims` neither True nor False.
        AxisError: an axis does not exist, or comes twice.
        ShapeError: there are no elements, for an infinite `ord`.

    Example:
        >>> vector_norm(Tensor([[3.0, 4.0], [0.0, -5.0]]), axis=1).tolist()
        [5.0, 5.0]
    """
    ord = real_number(ord, "ord")
    axes = some_axes(axis, x.ndim)
    if math.isinf(ord) and any(x.shape[at] == 0 for at in axes):
        raise ShapeError(f"vector_norm of shape {show(x.shape)} with ord={ord}: there are no elements.")
    return x.norm(ord, axes, keepdims)


def matrix_norm(
    x: Tensor, /, *, keepdims: bool = False, ord: "float | Literal['fro', 'nuc'] | None" = "fro"
) -> Tensor:
    """Return norms of matrices: (..., m, n) -> (...).

    Args:
        x: matrices of real or complex numbers.
        keepdims: keep both axes with size 1.
        ord: "fro" (or None), the root of the sum of squares; "nuc", the sum of singular values; 2 and -2, the
            greatest and least of these; 1 and -1, the greatest and least sum of magnitudes of a column; `inf`
            and `-inf`, of a row.

    Raises:
        ArgumentError: `ord` is none of these, or `keepdims` neither True nor False.
        ShapeError: these are no matrices, or there are no elements for what is least.

    Example:
        >>> x = Tensor([[3.0, 0.0], [0.0, -4.0]])
        >>> [matrix_norm(x, ord=ord).item() for ord in ("fro", "nuc", 1, -2)]
        [5.0, 7.0, 4.0, 3.0]
    """
    matrices(x)
    kind: Any = ord or "fro" if ord is None or isinstance(ord, str) else real_number(ord, "ord")
    if kind not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ArgumentError(f"ord={ord!r:.60} is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf.")
    return x.matrix_norm(kind, keepdim=keepdims)


describe_all(globals())
