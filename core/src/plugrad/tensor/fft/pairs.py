"""Complex numbers as a last axis of size two, transformed by real matrix products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plugrad.dtype import DType, dtypes
from plugrad.tensor.shapes import Dim
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


def count_up(x: Tensor, size: Dim) -> Tensor:
    """Return the integers from 0 to `size - 1` on the device of `x`."""
    return x._make(UOp.iota(size, dtypes.int32), x.device)


def size_beside(x: Tensor, size: Dim, dtype: DType) -> Any:
    """Return a size as a number, a symbolic one as a tensor beside `x`."""
    return size if isinstance(size, int) else x._make(size.cast(dtype), x.device)


def in_memory(x: Tensor) -> Tensor:
    """Return `x` written to memory once and read from there."""
    return x._like(x._graph.contiguous())


def signs(x: Tensor) -> Tensor:
    """Return (1, -1) in the dtype of `x`."""
    return 1 - 2 * count_up(x, 2).cast(x.dtype)


def conjugate(x: Tensor) -> Tensor:
    """Return the conjugates of pairs."""
    return x * signs(x)


def times(x: Tensor, real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the products of pairs with the numbers of these parts."""
    return x * real - x.flip(-1) * signs(x) * imaginary


def turned_by(x: Tensor, part: Tensor, whole: Any, sign: int) -> Tensor:
    """Return pairs turned by `part / whole` of a circle."""
    cosine, sine = circle(part, whole, x.dtype)
    return times(x, cosine.unsqueeze(-1), sine.unsqueeze(-1) * sign)


def circle(part: Tensor, whole: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """Return the cosine and sine of 2 pi `part / whole`, for 0 <= part < whole.

    The angle is taken from the nearest quarter, so that it is small and its rounding as well.
    """
    quarter = (part * 4 + whole // 2) // whole
    unit = math.pi / 2 / (whole if isinstance(whole, int) else whole.cast(dtype))
    angle = (part * 4 - quarter * whole).cast(dtype) * unit
    cosine, sine = angle.cos(), angle.sin()
    is_odd, is_behind = quarter % 2 == 1, quarter % 4 >= 2
    first, second = is_odd.where(-sine, cosine), is_odd.where(cosine, sine)
    return is_behind.where(-first, first), is_behind.where(-second, second)
