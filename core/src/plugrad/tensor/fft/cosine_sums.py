"""Fourier transforms as sums of cosines and sines, for real and complex numbers.

Elements at the same distance from both ends meet the same cosine, and opposite sines. So their sums and
differences are multiplied by half of the columns each: an eighth of the products that complex numbers take.

Source: Bracewell 2000, "The Fourier transform and its applications", third edition, chapters 2 (even and odd
parts) and 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.tensor.fft.pairs import circle, count_up, in_memory, signs
from plugrad.tensor.shape.padding import interval

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


def cosines_and_sines(x: Tensor, sign: int) -> tuple[Tensor, Tensor]:
    """Return the sums of `x[j]` times cosine and `sign` times sine of `2 * pi * j * k / n`.

    (..., n) -> (..., n//2+1) each, for the frequencies k from 0 to n//2.
    """
    size: Any = x.shape[-1]
    last, pairs = size // 2, (size - 1) // 2
    axis = x.ndim - 1
    late = interval(x, axis, last + 1, size).flip(axis)
    widths = [(0, 0)] * axis
    place = count_up(x, last + 1)
    cosine, sine = circle(place.unsqueeze(-1) * place % size, size, x.dtype)
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


def by_symmetry(x: Tensor, sign: int) -> Tensor:
    """Return the transform of (..., n, 2) by those of real and imaginary parts."""
    size: Any = x.shape[-2]
    cosines, sines = cosines_and_sines(x.transpose(-1, -2), sign)
    turned = sines.flip(-2) * -signs(x).unsqueeze(-1)
    first, second = ((cosines + turned).transpose(-1, -2), (cosines - turned).transpose(-1, -2))
    at = x.ndim - 2
    return first.cat(interval(second, at, 1, (size - 1) // 2 + 1).flip(at), axis=at)
