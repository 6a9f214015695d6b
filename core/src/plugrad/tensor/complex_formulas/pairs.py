"""Arithmetic of complex numbers as pairs of real and imaginary tensors.

Infinities and NaN follow annex G of the C standard where the array API leaves it open.

Source: ISO/IEC 9899:2011 (C11), annex G.5.1 and G.6.
"""

import math
from functools import cache
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

Pair = tuple["Tensor", "Tensor"]


@frozen
class Format:
    """Constants of a float dtype for the formulas.

    Attributes:
        bits: the integer dtype of its width.
        exponents: the bits of the exponent, set.
        epsilon: from 1 to the next number.
        smallest: the least normal number.
        largest: the largest number.
        exponent: exp(exponent) is finite, exp(exponent + 1) is not.
    """

    bits: DType
    exponents: int
    epsilon: float
    smallest: float
    largest: float
    exponent: int


@cache
def format_of(dtype: DType) -> Format:
    """Return the constants of float32 or float64.

    Source: IEEE 754-2019, table 3.5.
    """
    if dtype is dtypes.float64:
        return Format(dtypes.int64, 0x7FF << 52, 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023, 709)
    return Format(dtypes.int32, 0xFF << 23, 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 88)


def multiplied(z: Pair, w: Pair) -> Pair:
    """Return the products."""
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


def unit(z: Pair) -> "tuple[Tensor, Tensor, Tensor]":
    """Scale numbers by powers of two to a larger part in [1, 2]; return both.

    Infinite parts become 1 and the others beside them 0, with their signs, and the power is infinite.
    """
    x, y = z
    form = format_of(x.dtype)
    size = x.abs().maximum(y.abs())
    power = (size.bitcast(form.bits) & form.exponents).bitcast(x.dtype).maximum(form.smallest)
    is_infinite = x.isinf() | y.isinf()
    power = is_infinite.where(math.inf, power)
    one, other = (is_infinite.where(_sign_of(part, part.isinf()), part / power) for part in z)
    return one, other, power


def _sign_of(x: "Tensor", is_one: "Tensor") -> "Tensor":
    return is_one.cast(x.dtype).copysign(x)


def divided(z: Pair, w: Pair) -> Pair:
    """Return the quotients: without overflow or underflow on the way.

    A number divided by 0 is infinite, or NaN part by part; by an infinite one it is 0.
    """
    (a, b, above), (c, d, below) = unit(z), unit(w)
    square = c * c + d * d
    real, imag = _rescaled(((a * c + b * d) / square, (b * c - a * d) / square), above, below)
    pole, is_zero = _pole(w)
    return is_zero.where(pole * z[0], real), is_zero.where(pole * z[1], imag)


def inverted(w: Pair, numerator: "Tensor") -> Pair:
    """Return real numbers divided by complex ones, as `divided` does."""
    (a, _, above), (c, d, below) = unit((numerator, numerator.zeros_like())), unit(w)
    square = c * c + d * d
    real, imag = _rescaled((a * c / square, -(a * d) / square), above, below)
    pole, is_zero = _pole(w)
    return is_zero.where(pole * numerator, real), is_zero.where(math.nan, imag)


def _rescaled(z: Pair, above: "Tensor", below: "Tensor") -> Pair:
    # which of both ways overflows depends on which side of 1 the powers are
    is_alike, ratio = (above > 1) == (below > 1), above / below
    real, imag = (is_alike.where(part * ratio, (part * above) / below) for part in z)
    return real, imag


def _pole(w: Pair) -> Pair:
    """Return infinities with the signs of the real parts, and where a number is 0."""
    return w[0].full_like(math.inf).copysign(w[0]), (w[0] == 0) & (w[1] == 0)


def signed(z: Pair) -> Pair:
    """Return numbers divided by their lengths, and 0 for 0."""
    x, y, _ = unit(z)
    length = x.hypot(y)
    is_zero = length == 0
    length = is_zero.where(1.0, length)
    return is_zero.where(z[0], x / length), is_zero.where(z[1], y / length)


def log_length(z: Pair) -> "Tensor":
    """Return logarithms of lengths, accurate for lengths near 1.

    Example:
        >>> round(log_length((Tensor(1.0), Tensor(1e-3))).item() * 1e7, 4)
        5.0
    """
    x, y = z[0].abs(), z[1].abs()
    form = format_of(x.dtype)
    long, short = x.maximum(y), x.minimum(y)
    is_large, is_small = long > form.largest / 4, long < form.smallest / form.epsilon
    factor = is_large.where(0.25, is_small.where(2.0**60, x.ones_like()))
    length = (x * factor).hypot(y * factor)
    shift = is_large.where(math.log(4.0), is_small.where(-60 * math.log(2.0), x.zeros_like()))
    is_near = (length > 0.7) & (length < 1.4) & ~is_small
    near = _square_less_one(long, short).log1p() / 2
    return is_near.where(near, length.log() + shift)


def _square_less_one(x: "Tensor", y: "Tensor") -> "Tensor":
    """Return x*x + y*y - 1 without cancellation, for x >= y >= 0.

    Source: Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971.
    """
    (x_square, x_error), (y_square, y_error) = _square_exactly(x), _square_exactly(y)
    # exact, as x_square is at least half of 1
    rest = x_square - 1
    total = rest + y_square
    lost = y_square - (total - rest)
    return total + (lost + (x_error + y_error))


def _square_exactly(x: "Tensor") -> Pair:
    """Return squares and their rounding errors."""
    high = _upper_half(x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2 * high * low) + low * low


def _upper_half(x: "Tensor") -> "Tensor":
    form = format_of(x.dtype)
    dropped = 27 if form.bits is dtypes.int64 else 12
    return (x.bitcast(form.bits) & -(1 << dropped)).bitcast(x.dtype)
