"""Operands of linear algebra: checks, padding of symbolic sizes, parts of matrices."""

from __future__ import annotations

from typing import Any

from plugrad.dtype import DType, dtypes, is_complex
from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import float_dtypes
from plugrad.tensor.base import Tensor
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, cut_to, is_static, show
from plugrad.uop import UOp
from plugrad.uop.shape import greatest as greatest_size


def inexact_dtypes(x: Tensor) -> tuple[DType, DType]:
    """Return the dtype of the result and the one to compute in, floats or complex."""
    return (x.dtype, x.dtype) if is_complex(x.dtype) else float_dtypes(x)


def matrices(x: Tensor, square: bool = False) -> tuple[Tensor, DType]:
    """Return matrices in the dtype to compute in, and the dtype of the result."""
    shape = x.shape
    if x.ndim < 2 or (square and shape[-1] is not shape[-2] and shape[-1] != shape[-2]):
        kind = "square matrices: (..., n, n)" if square else "matrices: (..., m, n)"
        raise ShapeError(f"operation of shape {show(shape)}: it takes {kind}.")
    narrow, wide = inexact_dtypes(x)
    return x.cast(wide), narrow


def square_matrices(x: Tensor) -> tuple[Tensor, DType]:
    """Return square matrices, checked, as `matrices` does."""
    return matrices(x, square=True)


def right_sides(x: Tensor, b: Tensor) -> tuple[Tensor, bool]:
    """Return the right sides of a system as matrices, and whether they were vectors."""
    is_vector = b.ndim == 1 or b.shape == x.shape[:-1]
    right = b.unsqueeze(-1) if is_vector else b
    if right.ndim < 2 or right.shape[-2] != x.shape[-2]:
        raise ShapeError(
            f"operation of shapes {show(x.shape)} and {show(b.shape)}: the right sides need "
            f"{show(x.shape[-2:-1])[1:-2]} rows, one for each row of the matrix."
        )
    return right, is_vector


def pad_with_identity(x: Tensor) -> Tensor:
    """Pad square matrices of a symbolic size, with ones on the diagonal.

    Determinants are the same, and inverses and triangles have these of the matrices in front.
    """
    size: Any = x.shape[-1]
    if isinstance(size, int):
        return x
    most = greatest_size(size)
    place = UOp.iota(most, dtypes.int64)
    is_one = (place >= size.cast(dtypes.int64)).reshape((1, most)).expand((most, most))
    row, column = place.reshape((most, 1)), place.reshape((1, most))
    is_one = is_one & row.expand((most, most)).eq(column.expand((most, most)))
    whole = x.pad((0, most - size, 0, most - size))
    return x._make(is_one, x.device).where(1, whole).cast(x.dtype)


def pad_with_zeros(x: Tensor) -> Tensor:
    """Pad matrices of symbolic sizes with zeros."""
    rows, columns = x.shape[-2:]
    if is_static((rows, columns)):
        return x
    return x.pad((0, greatest_size(columns) - columns, 0, greatest_size(rows) - rows))


def corner(x: Tensor, rows: Dim, columns: Dim) -> Tensor:
    """Return the first rows and columns of matrices."""
    return interval(interval(x, x.ndim - 2, 0, rows), x.ndim - 1, 0, columns)


def unpad(whole: Tensor, x: Tensor) -> Tensor:
    """Cut padded matrices back to the shape of `x`."""
    return whole._like(cut_to(whole._graph, x.shape))


def identity(x: Tensor, rows: Dim, columns: Dim) -> Tensor:
    """Return the identity, in the dtype and on the device of `x`: (m, n)."""
    return type(x).eye(rows, columns, dtype=x.dtype, device=x.device)


def adjoint(x: Tensor) -> Tensor:
    """Return conjugate transposes."""
    return x.transpose(-2, -1).conj() if is_complex(x.dtype) else x.transpose(-2, -1)


def squared_lengths(x: Tensor) -> Tensor:
    """Return squared magnitudes, which are real."""
    return x.real.square() + x.imag.square() if is_complex(x.dtype) else x.square()


def times_i(x: Tensor) -> Tensor:
    """Return `1j * x` for real `x`."""
    return type(x).complex(x.zeros_like(), x)


def diagonal_of(x: Tensor) -> Tensor:
    """Return the diagonals of matrices: (..., m, n) -> (..., min(m, n))."""
    return x.diagonal(0, -2, -1)


def matrix_scale(x: Tensor) -> Tensor:
    """Return the greatest magnitude of each matrix, 1 for zeros: (..., m, n) -> (..., 1, 1)."""
    size = x.real.abs().maximum(x.imag.abs()) if is_complex(x.dtype) else x.abs()
    largest = greatest(size)
    return (largest == 0).where(1.0, largest).cast(size.dtype)


def greatest(x: Any) -> Any:
    """Return the maxima of matrices of magnitudes, 0 for empty ones: (..., m, n) -> (..., 1, 1)."""
    # a kernel that reduces what is padded is large: pad only where it needs to
    return (x.pad((0, 1, 0, 1)) if 0 in x.shape[-2:] else x).max((-2, -1), keepdim=True)


def size_of(x: Any, axis: int) -> Any:
    """Return the size of an axis, typed as an int or a symbolic size alike."""
    return x.shape[axis]
