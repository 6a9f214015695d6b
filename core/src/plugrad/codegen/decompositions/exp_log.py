"""EXP, EXP2 and LOG2 of float32 and float64 as arithmetic.

2**x: x is split into the nearest integer n and the rest f in [-0.5, 0.5]; 2**f is a polynomial, and 2**n is
built from its exponent bits. It is multiplied in as two factors, so that results below the normal numbers
round once, and those above overflow to infinity.

e**x: the same with n*log(2) taken from x in two parts, the first of which is exact (W. Cody and W. Waite,
"Software Manual for the Elementary Functions", 1980, chapter 6). 2**(x*log2(e)) would round the product, and
lose as many digits as n has.

log2(x): x is split into m * 2**e with m in [sqrt(1/2), sqrt(2)); log2(m) is a polynomial or, for float64,
an atanh series as in fdlibm's `log` (K. C. Ng, 1993; R by our own fit), put together in an order that keeps
e exact.
"""

import math

from plugrad.codegen.decompositions import polynomials
from plugrad.codegen.decompositions.floats import (
    FLOAT32,
    FloatFormat,
    bits,
    format_of,
    fraction_and_exponent,
    high_half,
    multiply_add,
    polynomial,
    split,
)
from plugrad.uop import UOp

LOG2_E = 1.4426950408889634
#: log2(e) less its nearest float64
LOG2_E_MORE = 2.0355273740931033e-17
LOG_2 = 0.6931471805599453
#: log(2) less its nearest float64
LOG_2_MORE = 2.3190468138462996e-17


def exp(x: UOp) -> UOp:
    """Return `e ** x`, at most 1 ULP off (float32 and float64).

    Right for infinities, NaN and results below the normal numbers.
    """
    layout = format_of(x)
    lowest, highest = _ends(layout)
    inside = _between(x, lowest * LOG_2, highest * LOG_2)
    counted, n = _rounded(inside, LOG2_E, layout)
    upper, lower = split(LOG_2, LOG_2_MORE, layout)
    r = multiply_add(n, -lower, multiply_add(n, -upper, inside))
    p = multiply_add(r * r, polynomial(r, polynomials.EXP[layout.dtype]), r) + 1.0
    return _scaled(p, counted, layout)


def exp2(x: UOp, more: UOp | None = None) -> UOp:
    """Return `2 ** (x + more)`, at most 1.2 ULP off.

    It is for float32 and float64; `more` is below an ULP of `x`.

    Right for infinities, NaN and results below the normal numbers.
    """
    layout = format_of(x)
    inside = _between(x, *_ends(layout))
    counted, n = _rounded(inside, 1.0, layout)
    f = inside - n
    if more is not None:
        f = inside.eq(x).where(f + more, f)
    p = multiply_add(f, polynomial(f, polynomials.EXP2[layout.dtype]), f.const_like(1.0))
    return _scaled(p, counted, layout)


def _ends(layout: FloatFormat) -> tuple[float, float]:
    """Return the exponents of 2 from which on every result is 0 or infinity."""
    return 1.0 - layout.bias - layout.digits - 1, layout.bias + 2.0


def _between(x: UOp, lowest: float, highest: float) -> UOp:
    """Return `x` limited from both sides; NaN stays."""
    low, high = x.const_like(lowest), x.const_like(highest)
    x = (x < low).where(low, x)
    return (high < x).where(high, x)


def _rounded(x: UOp, factor: float, layout: FloatFormat) -> tuple[UOp, UOp]:
    """Return the integer nearest to `x * factor` as bits, and as a float.

    Added to 1.5 * 2**fraction_bits, numbers lose their fractions and are counted in the last digits. The
    count is 2*bias more, so that it is positive and each half of it an exponent field.
    """
    start = 1.5 * 2.0**layout.fraction_bits + 2.0 * layout.bias
    counted = x + start if factor == 1.0 else multiply_add(x, factor, x.const_like(start))
    return counted, counted - start


def _scaled(p: UOp, counted: UOp, layout: FloatFormat) -> UOp:
    """Return `p * 2**n` for the number n of `_rounded`."""
    # the digits above the count are shifted out
    count = bits(counted)
    half = count >> 1
    first = (half << layout.fraction_bits).bitcast(p.dtype)
    second = ((count - half) << layout.fraction_bits).bitcast(p.dtype)
    return p * first * second


def log2(x: UOp) -> UOp:
    """Return the base-2 logarithm, at most 1.5 ULP off (float32 and float64).

    -inf for zeros, NaN below, right for numbers below the normal ones.
    """
    value = (x < math.inf).where(log2_of_fraction(*fraction_and_exponent(x)), math.inf)
    outside = x.eq(0.0).where(x.const_like(-math.inf), x.const_like(math.nan))
    return (x.const_like(0.0) < x).where(value, outside)


def log2_of_fraction(m: UOp, e: UOp) -> UOp:
    """Return the base-2 logarithm of `m * 2**e`, for m in [sqrt(1/2), sqrt(2))."""
    return _log2_short(m - 1.0, e) if format_of(m) is FLOAT32 else _log2_long(m - 1.0, e)


def _log2_short(f: UOp, e: UOp) -> UOp:
    square = f * f
    y = square * (f * polynomial(f, polynomials.LOG[f.dtype.scalar()]) - 0.5)
    # ln(m) = f + y; times log2(e) = 1 + c, with f itself added late
    c = LOG2_E - 1
    return (y * c + f * c) + y + f + e


def _log2_long(f: UOp, e: UOp) -> UOp:
    s = f / (f + 2.0)
    z = s * s
    rest = z * polynomial(z, polynomials.ATANH[f.dtype.scalar()]) * 2.0
    half_square = f * f * 0.5
    high = high_half(f - half_square)
    low = (f - high) - half_square + s * (half_square + rest)
    upper, lower = split(LOG2_E, LOG2_E_MORE, format_of(f))
    # exact: half the digits of each
    product = high * upper
    total = e + product
    return ((e - total) + product + ((low + high) * lower + low * upper)) + total
