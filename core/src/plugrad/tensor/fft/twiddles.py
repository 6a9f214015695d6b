"""Twiddle factors, products of complex pairs, and transforms as sums of cosines and sines."""

from __future__ import annotations

import math
from typing import Any

from plugrad.dtype import DType, dtypes
from plugrad.tensor.base import Tensor
from plugrad.tensor.linalg.jvp import in_memory
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim
from plugrad.uop import UOp


def count_up(x: Tensor, size: Dim) -> Tensor:
    """Return the integers from 0 to `size - 1` on the device of `x`."""
    return x._make(UOp.iota(size, dtypes.int32), x.device)


def signs(x: Tensor) -> Tensor:
    """Return (1, -1) in the dtype of `x`."""
    return 1 - 2 * count_up(x, 2).cast(x.dtype)


def conjugate(x: Tensor) -> Tensor:
    """Return the conjugates of pairs."""
    return x * signs(x)


def complex_product(x: Tensor, real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the products of complex pairs with the numbers `real + 1j * imaginary`."""
    return x * real - x.flip(-1) * signs(x) * imaginary


def times_twiddles(x: Tensor, part: Tensor, whole: Any, sign: int) -> Tensor:
    """Return complex pairs times the twiddle factors `exp(sign * 2j * pi * part / whole)`."""
    cosine, sine = twiddle_factors(part, whole, x.dtype)
    return complex_product(x, cosine.unsqueeze(-1), sine.unsqueeze(-1) * sign)


def twiddle_factors(part: Tensor, whole: Any, dtype: DType) -> tuple[Tensor, Tensor]:
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


def cosines_and_sines(x: Tensor, sign: int) -> tuple[Tensor, Tensor]:
    """Return the sums of real numbers times cosines, and times `sign` times sines.

    The angle of `x[j]` is `2 * pi * j * k / n`: (..., n) -> (..., n//2+1) each, for the frequencies k from 0
    to n//2. Elements at the same distance from both ends meet the same cosine, and opposite sines: their
    sums and differences are multiplied by half of the columns each, an eighth of the
    products that complex numbers take.

    Source: Bracewell 2000, "The Fourier transform and its applications", third edition, chapters 2 (even and
    odd parts) and 11.
    """
    size: Any = x.shape[-1]
    last, pairs = size // 2, (size - 1) // 2
    axis = x.ndim - 1
    late = interval(x, axis, last + 1, size).flip(axis)
    widths = [(0, 0)] * axis
    place = count_up(x, last + 1)
    cosine, sine = twiddle_factors(place.unsqueeze(-1) * place % size, size, x.dtype)
    even = interval(x, axis, 0, last + 1) + late.pad([*widths, (1, last - pairs)])
    cosines = even.matmul(in_memory(cosine))
    if not pairs:
        return cosines, cosines - cosines  # 0.0, and NaN where that is
    odd = interval(x, axis, 1, pairs + 1) - late
    return cosines, odd.matmul(in_memory(interval(sine, 0, 1, pairs + 1) * sign))


def half_by_matrices(x: Tensor) -> Tensor:
    """Return the first half of the transform of real numbers: (..., n) -> (..., n//2+1, 2)."""
    # a sum of nothing is 0.0: were it turned around instead of the sines, it would be -0.0
    cosines, sines = cosines_and_sines(x, -1)
    return cosines.stack(sines, axis=-1)


def by_real_transforms(x: Tensor, sign: int) -> Tensor:
    """Return the transform of (..., n, 2) by those of real and imaginary parts."""
    size: Any = x.shape[-2]
    cosines, sines = cosines_and_sines(x.transpose(-1, -2), sign)
    turned = sines.flip(-2) * -signs(x).unsqueeze(-1)
    first, second = ((cosines + turned).transpose(-1, -2), (cosines - turned).transpose(-1, -2))
    at = x.ndim - 2
    return first.cat(interval(second, at, 1, (size - 1) // 2 + 1).flip(at), axis=at)
