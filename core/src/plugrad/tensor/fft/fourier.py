"""Discrete Fourier transforms.

There is no complex dtype: complex numbers are a last axis of two elements, real and imaginary part, as in
`torch.view_as_real`. `x.stack(x.zeros_like(), axis=-1)` makes them of real numbers; in NumPy,
`array[..., 0] + 1j * array[..., 1]` reads them. Axes are counted without that last axis.

A length that is a product of numbers up to 64 takes one matrix product for each of them, so 3 for 4096 and 4
for a million. Prime lengths up to 256 are one product too, and longer ones for many rows; what else has
larger prime factors is a convolution of at least twice the length. A symbolic length, whose factors vary, is
taken for a prime one: what it is at most says which of these ways.

Source: Cooley and Tukey 1965, "An algorithm for the machine calculation of complex Fourier series"; Bluestein
1970, "A linear filtering approach to the computation of discrete Fourier transform".
"""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
import math
from typing import TYPE_CHECKING, Any, Literal, Unpack

from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.promotion import float_dtypes
from plugrad.tensor.shapes import Dim, as_int, one_axis, show, size_today
from plugrad.uop.shape import add_sizes, greatest
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

FourierNorm = Literal["backward", "ortho", "forward"]

_RADIX = 64
# One more step is less work than two with larger factors than this.
_BALANCED = 32
_DIRECT = 256
# Making a cosine takes as long as multiplying by it for so many rows.
_ROWS_TO_MAKE = 75
# A convolution takes so many multiplications for each element, twice over for each it is padded by.
_CONVOLVED = 4000


class FourierMixin(TensorBase):
    """Transforms between values and frequencies. Narrow floats compute in float32."""

    __slots__ = ()

    def fft(
        self: Tensor,
        n: Dim | None = None,
        axis: int = -1,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxisNames],
    ) -> Tensor:
        """Return the Fourier transform of complex numbers along an axis: (..., n, 2) -> (..., n, 2).

        In float32, errors are about a millionth of the greatest result.

        Args:
            n: how many elements to take, also a bound Variable; zeros are added where there are fewer.
            axis: which axis, counted without the one of real and imaginary parts.
            norm: what divides by n: "backward" (or None) the inverse, "forward" this; "ortho" both by its
                root.

        Raises:
            ArgumentError: `n` is less than 1, or `norm` none of these.
            AxisError: the axis does not exist.
            ShapeError: the last axis has not two elements.

        Example:
            >>> Tensor([[1.0, 0.0], [0.0, 0.0]]).fft().tolist()
            [[1.0, 0.0], [1.0, 0.0]]
        """
        if names:
            (axis,) = renamed(self.fft, names, axis=axis)
        return self._transformed("fft", n, axis, norm, -1)

    def ifft(
        self: Tensor,
        n: Dim | None = None,
        axis: int = -1,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxisNames],
    ) -> Tensor:
        """Return the inverse of `fft`: (..., n, 2) -> (..., n, 2).

        Example:
            >>> Tensor([[1.0, 0.0], [1.0, 0.0]]).ifft().tolist()
            [[1.0, 0.0], [0.0, 0.0]]
        """
        if names:
            (axis,) = renamed(self.ifft, names, axis=axis)
        return self._transformed("ifft", n, axis, norm, 1)

    def rfft(
        self: Tensor,
        n: Dim | None = None,
        axis: int = -1,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxisNames],
    ) -> Tensor:
        """Return the Fourier transform of real numbers without its mirror: (..., n) -> (..., n//2+1, 2).

        Args:
            n: how many elements to take; zeros are added where there are fewer.
            axis: which axis of this tensor.
            norm: as for `fft`.

        Raises:
            ArgumentError: `n` is less than 1, or `norm` none of these.
            AxisError: the axis does not exist.

        Example:
            >>> Tensor([1.0, 2.0]).rfft().tolist()
            [[3.0, 0.0], [-1.0, 0.0]]
        """
        if names:
            (axis,) = renamed(self.rfft, names, axis=axis)
        at = one_axis(axis, self.ndim, "rfft")
        size = self.shape[at] if n is None else _count(n, "rfft")
        if not isinstance(size, int):
            out = self.stack(self.zeros_like(), axis=-1)._transformed("rfft", n, at, norm, -1)
            return out._interval(at, 0, out.shape[at] // 2 + 1)
        _check_norm("rfft", size, norm)
        narrow, wide = float_dtypes(self)
        out = self.cast(wide)._resized(at, size).movedim(at, -1)._half_frequencies()
        return out._divided(size, norm, -1).movedim(-2, at).cast(narrow)

    def irfft(
        self: Tensor,
        n: Dim | None = None,
        axis: int = -1,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxisNames],
    ) -> Tensor:
        """Return the inverse of `rfft`: (..., n//2+1, 2) -> (..., n).

        Imaginary parts that a transform of real numbers could not have are ignored.

        Args:
            n: how many elements to return; by default an even number, 2 less than twice the frequencies.
            axis: which axis, counted without the one of real and imaginary parts.
            norm: as for `fft`.

        Raises:
            ArgumentError: `n` is less than 1, or `norm` none of these.
            AxisError: the axis does not exist.
            ShapeError: the last axis has not two elements.

        Example:
            >>> Tensor([[3.0, 0.0], [-1.0, 0.0]]).irfft().tolist()
            [1.0, 2.0]
        """
        if names:
            (axis,) = renamed(self.irfft, names, axis=axis)
        at = self._check_complex("irfft", axis)
        count: Any = (self.shape[at] - 1) * 2 if n is None else _count(n, "irfft")
        if size_today(count) < 1:
            raise ArgumentError(f"irfft: n={size_today(count)} elements. Ask for at least 1, with n=.")
        half = self._resized(at, count // 2 + 1)
        mirrored = half._interval(at, 1, (count + 1) // 2).flip(at) * half._signs()
        full = half.cat(mirrored, axis=at)
        return full._transformed("irfft", None, at, norm, 1)._interval(self.ndim - 1, 0, 1).squeeze(-1)

    # --- what these are made of ---

    def _check_complex(self: Tensor, what: str, axis: int) -> int:
        shape = self.shape
        if not shape or shape[-1] != 2:
            raise ShapeError(
                f"{what} of shape {show(shape)}: complex numbers are a last axis of 2 elements. Make them by "
                "real.stack(imaginary, axis=-1), or use rfft for real numbers."
            )
        if self.ndim < 2:
            raise AxisError(f"{what} of shape {show(shape)}: that is one number. Unsqueeze it.")
        return one_axis(axis, self.ndim - 1, what)

    def _resized(self: Tensor, axis: int, size: Dim) -> Tensor:
        have = self.shape[axis]
        if have is size:
            return self
        if not (isinstance(have, int) and isinstance(size, int)):
            room = max(greatest(have), greatest(size))
            widths = [(0, add_sizes(room, -have) if at == axis else 0) for at in range(self.ndim)]
            return self.pad(widths)._interval(axis, 0, size)
        if size <= have:
            return self._interval(axis, 0, size)
        return self.pad_to(*[size if at == axis else None for at in range(self.ndim)])

    def _transformed(
        self: Tensor, what: str, n: Dim | None, axis: int, norm: FourierNorm | None, sign: int
    ) -> Tensor:
        """Return the sums of `exp(sign * 2j * pi * j * k / n) * x[j]`, divided as `norm` says."""
        at = self._check_complex(what, axis)
        size = self.shape[at] if n is None else _count(n, what)
        _check_norm(what, size, norm)
        narrow, wide = float_dtypes(self)
        out = self.cast(wide)._resized(at, size).movedim(at, -2)._frequencies(sign)
        return out._divided(size, norm, sign).movedim(-2, at).cast(narrow)

    def _divided(self: Tensor, size: Dim, norm: FourierNorm | None, sign: int) -> Tensor:
        if norm == "ortho":
            return self / (math.sqrt(size) if isinstance(size, int) else self._today(size, self.dtype).sqrt())
        return self / self._today(size, self.dtype) if (norm != "forward") == (sign > 0) else self

    def _frequencies(self: Tensor, sign: int) -> Tensor:
        """Return the transform of (..., n, 2) by the way that suits n."""
        size = self.shape[-2]
        if not isinstance(size, int):
            return self._by_matrix(sign) if greatest(size) <= _DIRECT else self._by_convolution(sign)
        radix = _radix(size)
        if radix == size:
            return self._by_matrix(sign)
        if radix == 1:
            return self._by_symmetry(sign) if self._is_direct(size, 2) else self._by_convolution(sign)
        # element i = first * (size / radix) + second gives frequency k = low + radix * high
        others = self.shape[:-2]
        rest = size // radix
        x = self.reshape(*others, radix, rest, 2).transpose(-3, -2)._by_matrix(sign)
        second, low = self._counted(rest).unsqueeze(-1), self._counted(radix)
        x = x._turned_by(second * low, size, sign)._kept_pairs()
        x = x.transpose(-3, -2)._frequencies(sign)
        return x.transpose(-3, -2).reshape(*others, size, 2)

    def _half_frequencies(self: Tensor) -> Tensor:
        """Return the transform of (..., n) real numbers without its mirror: (..., n//2+1, 2)."""
        size: Any = self.shape[-1]
        radix = _radix(size)
        if radix == size or (radix == 1 and self._is_direct(size, 1)):
            return self._half_by_matrices()
        if size % 2 == 0:
            return self.reshape(*self.shape[:-1], size // 2, 2)._frequencies(-1)._half_from_pairs(size)
        if radix == 1:
            half = self.stack(self.zeros_like(), axis=-1)._by_convolution(-1)
            return half._interval(self.ndim - 1, 0, size // 2 + 1)
        return self._half_columns(radix).transpose(-3, -2)._frequencies(-1)._half_from_columns(radix)

    def _is_direct(self: Tensor, size: int, parts: int) -> bool:
        """Say whether products with all cosines and sines cost less than a convolution, for these rows."""
        rows = math.prod(map(greatest, self.shape)) // size // parts
        return size <= _DIRECT or parts * size * (rows + _ROWS_TO_MAKE) <= _CONVOLVED * rows

    def _by_matrix(self: Tensor, sign: int) -> Tensor:
        """Return the transform as one product with a (2n, 2n) matrix of cosines and sines."""
        shape: Any = self.shape
        size: Any = shape[-2]
        place = self._counted(size)
        part = place.unsqueeze(-1) * place % self._today(size, place.dtype)
        cosine, sine = self._circle(part, self._today(size, place.dtype))
        cosine, sine = (x.reshape(size, 1, size, 1) for x in (cosine, sine * sign))
        have, want = self._counted(2).reshape(1, 2, 1, 1), self._counted(2)
        matrix = (have == want).where(cosine, (have < want).where(sine, -sine))
        matrix = matrix.reshape(2 * size, 2 * size)._kept_pairs()
        return self.reshape(*shape[:-2], 2 * size).matmul(matrix).reshape(*shape)

    def _by_convolution(self: Tensor, sign: int) -> Tensor:
        """Return the transform as a convolution with a chirp, by transforms of a power of two."""
        today: Any = self.shape[-2]
        size = greatest(today)
        length = 1 << (2 * size - 2).bit_length()
        place = self._counted(size).cast(dtypes.int64)
        squares = (place * place % self._today(today * 2, dtypes.int64)).cast(dtypes.int32)
        whole = self._today(today * 2, dtypes.int32)
        x = self._resized(self.ndim - 2, size)._turned_by(squares, whole, sign)
        cosine, sine = self._circle(squares, whole)
        chirp = cosine.stack(sine * -sign, axis=-1)
        later = chirp._interval(0, 1, size).flip(0)
        chirp = chirp.cat(chirp.zeros_like()._interval(0, 0, 1).expand(length - 2 * size + 1, 2), later)
        left = x._resized(self.ndim - 2, length)._kept_pairs()._frequencies(-1)
        right = chirp._kept_pairs()._frequencies(-1)
        product = left._times(right._interval(1, 0, 1), right._interval(1, 1, 2))
        out = product._kept_pairs()._frequencies(1) / length
        out = out._interval(self.ndim - 2, 0, size)._turned_by(squares, whole, sign)
        return out._interval(self.ndim - 2, 0, today)


def _check_norm(what: str, size: Dim, norm: Any) -> None:
    if norm is not None and (not isinstance(norm, str) or norm not in ("backward", "ortho", "forward")):
        raise ArgumentError(f"{what}: norm={norm!r} is none of 'backward', 'ortho' and 'forward'.")
    if size_today(size) < 1:
        raise ArgumentError(f"{what}: n={size_today(size)} elements. There must be at least 1.")


def _count(n: Any, what: str) -> Dim:
    return n if isinstance(n, UOp) else as_int(n, what, "n")


def _radix(size: int) -> int:
    """Return the factor to split off, up to 64: `size` itself, a balanced one, or 1 where there is none.

    Example:
        >>> [_radix(n) for n in (60, 4096, 1 << 20, 127, 2 * 127)]
        [60, 16, 32, 1, 2]
    """
    if size <= _RADIX:
        return size
    factors = [factor for factor in range(2, _RADIX + 1) if size % factor == 0]
    if not factors:
        return 1
    levels = math.ceil(math.log(size) / math.log(_BALANCED) - 1e-9)
    balanced = size ** (1 / levels) - 1e-6
    return min([factor for factor in factors if factor >= balanced], default=factors[-1])
