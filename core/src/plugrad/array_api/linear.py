"""What of linear algebra is linear in each array: products, diagonals and their sums."""

from collections.abc import Callable

from plugrad.array_api import manipulation
from plugrad.array_api.checks import checked
from plugrad.array_api.complex_functions.dispatch import also_complex
from plugrad.array_api.complex_matrices import each
from plugrad.array_api.complexes import Array, Complex, ComplexDType
from plugrad.array_api.complexes.operands import bilinear
from plugrad.dtype import DType
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_int, show

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]


# those that are functions of the namespace as well
matmul = also_complex(checked(manipulation.matmul))
matrix_transpose = also_complex(checked(manipulation.matrix_transpose))
tensordot = also_complex(checked(manipulation.tensordot))
vecdot = also_complex(checked(manipulation.vecdot))


@checked
def outer(x1: Array, x2: Array, /) -> Array:
    """Return all products of the elements of two vectors: (n,), (m,) -> (n, m).

    Raises:
        ShapeError: one of them is no vector.

    Example:
        >>> outer(Tensor([1, 2]), Tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return _bilinear(x1, x2, Tensor.outer)


@checked
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return cross products of vectors with three elements along an axis; other axes broadcast.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: it has not three elements, or other axes do not broadcast.

    Example:
        >>> cross(Tensor([1, 0, 0]), Tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
    return _bilinear(x1, x2, lambda left, right: left.cross(right, axis))


@checked
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
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
    _check_matrices(x, "diagonal")
    return each(x, lambda part: part.diagonal(offset, -2, -1))


@checked
def trace(x: Array, /, *, offset: int = 0, dtype: "DType | ComplexDType | None" = None) -> Array:
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
    _check_matrices(x, "trace")
    along = diagonal(x, offset=as_int(offset, "trace", "offset"))
    if isinstance(dtype, ComplexDType):
        along = along if isinstance(along, Complex) else Complex(*_zero_beside(along, dtype.component))
        return each(along, lambda part: part.sum(-1, dtype=dtype.component))
    if isinstance(along, Complex) and dtype is not None:
        raise DtypeError(f"trace of complex numbers in {dtype}: pass a complex dtype.")
    return each(along, lambda part: part.sum(-1, dtype=dtype))


def _zero_beside(x: Tensor, dtype: DType) -> tuple[Tensor, Tensor]:
    real = x.cast(dtype)
    return real, real.zeros_like()


def _bilinear(x1: Array, x2: Array, product: Callable[[Tensor, Tensor], Tensor]) -> Array:
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        return product(x1, x2)
    return bilinear(x1, x2, product)


def _check_matrices(x: Array, what: str) -> None:
    if x.ndim < 2:
        raise ShapeError(f"{what} of shape {show(x.shape)}: it takes matrices: (..., m, n).")
