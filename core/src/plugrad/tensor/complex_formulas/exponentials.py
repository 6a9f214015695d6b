"""Exponentials, logarithms, powers and trigonometric functions of pairs.

What infinities, NaN and signed zeros give is that of the array API standard, and of annex G of C where that
leaves it open.

Source: Python array API standard 2024.12, "Special cases" of each function; ISO/IEC 9899:2011, G.6.
"""

import math
from collections.abc import Callable

from plugrad.dtype import dtypes
from plugrad.tensor.base import Tensor
from plugrad.tensor.complex_formulas.pairs import (
    Pair,
    format_of,
    has_derivative,
    log_length,
    multiplied,
    over,
    reciprocal,
)


@has_derivative(lambda z, w: w)
def exp(z: Pair) -> Pair:
    """Return e to the power of each number."""
    x, y = z
    # e**x may overflow where its product with a small cosine does not
    most = format_of(x.dtype).exponent
    near, rest = x.minimum(most).exp(), (x - most).relu().exp()
    real, imag = near * y.cos() * rest, near * y.sin() * rest
    is_point = (x == -math.inf) & ~y.isfinite()
    # NaN and infinities times 0
    real = is_point.where(0.0, ((x == math.inf) & ~y.isfinite()).where(math.inf, real))
    return real, (y == 0).where(y, is_point.where(0.0, imag))


@has_derivative(lambda z, w: (w[0] + 1, w[1]))
def expm1(z: Pair) -> Pair:
    """Return exp(z) - 1, exact for small numbers."""
    x, y = z
    real, imag = exp(z)
    half = (y / 2).sin()
    near = x.expm1() * y.cos() - 2 * half * half
    return (x.abs() > 20).where(real - 1, near), imag


@has_derivative(lambda z, w: over(z))
def log(z: Pair) -> Pair:
    """Return natural logarithms."""
    return log_length(z), angle(z)


def angle(z: Pair) -> "Tensor":
    """Return the angles from the positive real axis, in [-pi, pi]."""
    return z[1].atan2(z[0])


@has_derivative(lambda z, w: over((z[0] + 1, z[1])))
def log1p(z: Pair) -> Pair:
    """Return log(1 + z), exact for small numbers."""
    x, y = z
    moved = x + 1, y
    is_near = (x.abs() < 0.5) & (y.abs() < 0.5)
    near = (x * (x + 2) + y * y).log1p() / 2
    return is_near.where(near, log_length(moved)), angle(moved)


def power(z: Pair, w: Pair) -> Pair:
    """Return `z**w` as exp(w * log(z)), and 1 where `w` is 0.

    Where `z` is 0 it is 0 if the real part of `w` is positive, and NaN else.

    Example:
        >>> [part.item() for part in power((Tensor(0.0), Tensor(0.0)), (Tensor(2.0), Tensor(1.0)))]
        [0.0, 0.0]
    """
    real, imag = exp(multiplied(w, log(z)))
    at_zero = (w[0] > 0).where(0.0, w[0].full_like(math.nan))
    is_zero, is_one = (z[0] == 0) & (z[1] == 0), (w[0] == 0) & (w[1] == 0)
    return is_one.where(1.0, is_zero.where(at_zero, real)), is_one.where(0.0, is_zero.where(at_zero, imag))


# each is the derivative of the other
def _sinh(z: Pair, w: Pair) -> Pair:
    return sinh(z)


@has_derivative(_sinh)
def cosh(z: Pair) -> Pair:
    """Return hyperbolic cosines."""
    x, y = z
    even, odd = _halves(x)
    real, imag = even(y.cos()), odd(y.sin())
    real = (x.isinf() & ~y.isfinite()).where(math.inf, real)
    # NaN has a sign too
    one = x.ones_like()
    nothing = 0.0 * one.copysign(x) * one.copysign(y)
    return real, (imag.isnan() & ((x == 0) | (y == 0))).where(nothing, imag)


@has_derivative(lambda z, w: cosh(z))
def sinh(z: Pair) -> Pair:
    """Return hyperbolic sines."""
    x, y = z
    even, odd = _halves(x)
    real, imag = odd(y.cos()), even(y.sin())
    real = (x.isinf() & ~y.isfinite()).where(x, real)
    return (real.isnan() & (x == 0)).where(x, real), (y == 0).where(y, imag)


def _halves(x: "Tensor") -> "tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]":
    """Return functions that multiply by cosh(x) and by sinh(x), also where these overflow alone."""
    most = format_of(x.dtype).exponent
    near, rest = x.clamp(-most, most), (x.abs() - most).relu().exp()
    return lambda factor: near.cosh() * factor * rest, lambda factor: near.sinh() * factor * rest


@has_derivative(lambda z, w: (1 - w[0] * w[0] + w[1] * w[1], -2 * w[0] * w[1]))
def tanh(z: Pair) -> Pair:
    """Return hyperbolic tangents.

    Source: Kahan, "Branch Cuts for Complex Elementary Functions", 1987, CTANH.
    """
    x, y = z
    far = 22.0 if format_of(x.dtype).exponent > 100 else 11.0
    near = x.clamp(-far, far)
    tangent, sine = y.tan(), near.sinh()
    slope = tangent * tangent + 1
    below = slope * sine * sine + 1
    real, imag = slope * (sine * sine + 1).sqrt() * sine / below, tangent / below
    is_far = x.abs() > far
    limit = 4 * y.sin() * y.cos() * (-x.abs()).exp() * (-x.abs()).exp()
    limit = (x.isinf() & ~y.isfinite()).where(0.0, limit)
    real, imag = is_far.where(x.sign(), real), is_far.where(limit, imag)
    return (x == 0).where(x, real), (y == 0).where(y, imag)


def exp2(z: Pair) -> Pair:
    """Return 2 to the power of each number."""
    return exp((z[0] * math.log(2), z[1] * math.log(2)))


def log2(z: Pair) -> Pair:
    """Return logarithms to base 2."""
    return _of_base(z, 2)


def log10(z: Pair) -> Pair:
    """Return logarithms to base 10."""
    return _of_base(z, 10)


def _of_base(z: Pair, base: int) -> Pair:
    length, turn = log(z)
    return length / math.log(base), turn / math.log(base)


def sin(z: Pair) -> Pair:
    """Return sines."""
    return turned_back(sinh(turned(z)))


def cos(z: Pair) -> Pair:
    """Return cosines."""
    return cosh(turned(z))


def tan(z: Pair) -> Pair:
    """Return tangents."""
    return turned_back(tanh(turned(z)))


def power_of_integer(z: Pair, exponent: int) -> Pair:
    """Return integer powers by repeated squaring."""
    out, square = (z[0].ones_like(), z[1].zeros_like()), z
    for bit in range(abs(exponent).bit_length()):
        if bit:
            square = multiplied(square, square)
        if abs(exponent) >> bit & 1:
            is_first = abs(exponent) & ((1 << bit) - 1) == 0
            out = square if is_first else multiplied(out, square)
    return reciprocal(out) if exponent < 0 else out


def turned(z: Pair) -> Pair:
    """Return numbers times i."""
    return -z[1], z[0]


def turned_back(z: Pair) -> Pair:
    """Return numbers times -i."""
    return z[1], -z[0]


@has_derivative(lambda z, w: over(w, 0.5))
def root(z: Pair) -> Pair:
    """Return principal square roots: real parts >= 0, imaginary parts signed like those of `z`.

    Source: Kahan, "Branch Cuts for Complex Elementary Functions", 1987, CSQRT.
    """
    form = format_of(z[0].dtype)
    size = z[0].abs().maximum(z[1].abs())
    is_large, is_small = size > form.largest / 4, size < form.smallest / form.epsilon
    up, back = (2.0**60, 2.0**-30) if form.bits is dtypes.int32 else (2.0**108, 2.0**-54)
    x, y = (is_large.where(part / 16, is_small.where(part * up, part)) for part in z)
    long = ((x.abs() + x.hypot(y)) / 2).sqrt()
    short = y.abs() / (long * 2)
    is_right = x >= 0
    parts = is_right.where(long, short), is_right.where(short, long)
    real, imag = (is_large.where(part * 4, is_small.where(part * back, part)) for part in parts)
    is_zero, is_infinite = size == 0, z[1].isinf()
    real = is_infinite.where(math.inf, is_zero.where(0.0, real))
    return real, is_infinite.where(math.inf, is_zero.where(0.0, imag)).copysign(z[1])
