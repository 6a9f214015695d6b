"""Linear algebra that is linear in each array: products, diagonals, traces."""

from plugrad.array_api.manipulation import matmul, matrix_transpose, tensordot, vecdot
from plugrad.array_api.reductions import sum
from plugrad.dtype import DType
from plugrad.tensor import Tensor
from plugrad.tensor.linalg.operands import matrices
from plugrad.tensor.shapes import as_int

__all__ = ["cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return all products of the elements of two vectors: (n,), (m,) -> (n, m).

    Raises:
        ShapeError: one of them is no vector.

    Example:
        >>> outer(Tensor([1, 2]), Tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return x1.outer(x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return cross products of vectors with three elements along an axis; other axes broadcast.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: it has not three elements, or other axes do not broadcast.

    Example:
        >>> cross(Tensor([1, 0, 0]), Tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
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
    matrices(x, "diagonal")
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
    matrices(x, "trace")
    along = diagonal(x, offset=as_int(offset, "trace: offset"))
    return sum(along, axis=-1, dtype=dtype)
