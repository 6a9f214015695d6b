"""Fourier transforms of real numbers, of which half the frequencies are enough: the others mirror them.

Elements at the same distance from both ends meet the same cosine, and opposite sines. So their sums and
differences are multiplied by half of the columns each: an eighth of the products that complex numbers take.

Source: Bracewell 2000, "The Fourier transform and its applications", third edition, chapters 2 (even and odd
parts) and 11.
"""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
import math
from typing import TYPE_CHECKING, Any

from plugrad.dtype import DType, dtypes
from plugrad.tensor.base import TensorBase
from plugrad.tensor.shapes import Dim
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class HalfSpectraMixin(TensorBase):
    """Sums of cosines and of sines."""

    __slots__ = ()

    def _cosines_and_sines(self: Tensor, sign: int) -> tuple[Tensor, Tensor]:
        """Return the sums of `x[j]` times cosine and `sign` times sine of `2 * pi * j * k / n`.

        (..., n) -> (..., n//2+1) each, for the frequencies k from 0 to n//2.
        """
        size: Any = self.shape[-1]
        last, pairs = size // 2, (size - 1) // 2
        axis = self.ndim - 1
        late = self._interval(axis, last + 1, size).flip(axis)
        widths = [(0, 0)] * axis
        place = self._counted(last + 1)
        cosine, sine = self._circle(place.unsqueeze(-1) * place % size, size)
        even = self._interval(axis, 0, last + 1) + late.pad([*widths, (1, last - pairs)])
        cosines = even.matmul(cosine._kept_pairs())
        if not pairs:
            return cosines, cosines - cosines  # 0.0, and NaN where that is
        odd = self._interval(axis, 1, pairs + 1) - late
        return cosines, odd.matmul((sine._interval(0, 1, pairs + 1) * sign)._kept_pairs())

    def _half_by_matrices(self: Tensor) -> Tensor:
        """Return the first half of the transform of real numbers: (..., n) -> (..., n//2+1, 2)."""
        # a sum of nothing is 0.0: were it turned around instead of the sines, it would be -0.0
        cosines, sines = self._cosines_and_sines(-1)
        return cosines.stack(sines, axis=-1)

    def _half_columns(self: Tensor, radix: int) -> Tensor:
        """Return the first of two steps for real numbers: (..., n) -> (..., n // radix, radix//2+1, 2).

        Element `first * (n / radix) + second` is part of the frequencies `low + radix * high`; here are those
        of `second` and `low`.
        """
        size: Any = self.shape[-1]
        rest = size // radix
        x = self.reshape(*self.shape[:-1], radix, rest).transpose(-1, -2)._half_by_matrices()
        second, low = self._counted(rest).unsqueeze(-1), self._counted(radix // 2 + 1)
        return x._turned_by(second * low, size, -1)._kept_pairs()

    def _half_from_columns(self: Tensor, radix: int) -> Tensor:
        """Return the frequencies of real numbers, by those whose remainder is at most half the radix.

        (..., radix//2+1, rest, 2) -> (..., radix * rest // 2 + 1, 2), from [low, high] to low + radix * high.
        """
        *others, some, rest, _ = self.shape
        low, count = self.ndim - 3, radix * rest // 2 + 1
        columns = self.transpose(-3, -2)
        rows = -(-count // radix)
        # the others are conjugates of those as far from the end
        mirrored = columns._interval(low + 1, 1, radix - some + 1).flip(low, low + 1)
        whole = columns._interval(low, 0, rows).cat(
            mirrored._interval(low, 0, rows)._conjugate(), axis=low + 1
        )
        return whole.reshape(*others, rows * radix, 2)._interval(low, 0, count)

    def _half_from_pairs(self: Tensor, size: int) -> Tensor:
        """Return the frequencies of real numbers, by those of neighbours taken for complex numbers.

        (..., n/2, 2) -> (..., n/2+1, 2)
        """
        at = self.ndim - 2
        there = self.cat(self._interval(at, 0, 1), axis=at)
        back = there.flip(at)._conjugate()
        # the first ones of neighbours are half the sum, the second ones half the difference over i
        part = self._counted(size // 2 + 1)
        second = (there - back).flip(-1)._conjugate()._turned_by(part, size, -1)
        return (there + back + second) * 0.5

    def _by_symmetry(self: Tensor, sign: int) -> Tensor:
        """Return the transform of (..., n, 2) by those of real and imaginary parts."""
        size: Any = self.shape[-2]
        cosines, sines = self.transpose(-1, -2)._cosines_and_sines(sign)
        turned = sines.flip(-2) * -self._signs().unsqueeze(-1)
        first, second = ((cosines + turned).transpose(-1, -2), (cosines - turned).transpose(-1, -2))
        at = self.ndim - 2
        return first.cat(second._interval(at, 1, (size - 1) // 2 + 1).flip(at), axis=at)

    # --- complex numbers as pairs ---

    def _counted(self: Tensor, size: Dim) -> Tensor:
        return self._make(UOp.iota(size, dtypes.int32), self._device)

    def _today(self: Tensor, size: Dim, dtype: DType) -> Any:
        """Return a size as a number, a symbolic one as a tensor."""
        return size if isinstance(size, int) else self._make(size.cast(dtype), self._device)

    def _kept_pairs(self: Tensor) -> Tensor:
        return self._like(self._graph.contiguous())

    def _signs(self: Tensor) -> Tensor:
        """Return (1, -1): what conjugates."""
        return 1 - 2 * self._counted(2).cast(self.dtype)

    def _conjugate(self: Tensor) -> Tensor:
        return self * self._signs()

    def _turned_by(self: Tensor, part: Tensor, whole: Any, sign: int) -> Tensor:
        """Return complex numbers turned by `part / whole` of a circle."""
        cosine, sine = self._circle(part, whole)
        return self._times(cosine.unsqueeze(-1), sine.unsqueeze(-1) * sign)

    def _times(self: Tensor, real: Tensor, imaginary: Tensor) -> Tensor:
        return self * real - self.flip(-1) * self._signs() * imaginary

    def _circle(self: Tensor, part: Tensor, whole: Any) -> tuple[Tensor, Tensor]:
        """Return cosine and sine of `part / whole` of a circle, for integers 0 <= part < whole.

        The angle is taken from the nearest quarter, so that it is small and its rounding as well.
        """
        quarter = (part * 4 + whole // 2) // whole
        unit = math.pi / 2 / (whole if isinstance(whole, int) else whole.cast(self.dtype))
        angle = (part * 4 - quarter * whole).cast(self.dtype) * unit
        cosine, sine = angle.cos(), angle.sin()
        is_odd, is_behind = quarter % 2 == 1, quarter % 4 >= 2
        first, second = is_odd.where(-sine, cosine), is_odd.where(cosine, sine)
        return is_behind.where(-first, first), is_behind.where(-second, second)
