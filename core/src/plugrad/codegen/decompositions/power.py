"""POW of float32 and float64: 2 ** (y * log2(x)), the logarithm in double precision.

y * log2(x) reaches 2**7 (float32) or 2**10, and its absolute error becomes the relative error of the
result: so log2(x) is computed as a sum of two floats, from atanh(s) = s + s**3/3 + s**5*P(s*s), s =
(m-1)/(m+1), the first two terms and everything after them in pairs. Where a product has to be exact, both
factors are cut to half their digits (the method of T. J. Dekker, "A floating-point technique for extending
the available precision", 1971, by masks).
"""

import math

from plugrad.codegen.decompositions import polynomials
from plugrad.codegen.decompositions.exp_log import exp2
from plugrad.codegen.decompositions.floats import (
    FLOAT32,
    format_of,
    fraction_and_exponent,
    high_half,
    magnitude,
    polynomial,
    sign_bit,
    split,
)
from plugrad.uop import UOp

#: 2*log2(e), as the nearest float64 and what is left
TWO_LOG2_E = (2.8853900817779268, 4.0710547481862066e-17)
THIRD = (1 / 3, 1.850371707708594e-17)


def pow_(x: UOp, y: UOp) -> UOp:
    """Return `x ** y`, at most 1.25 ULP off, with IEEE 754's special cases.

    NaN for a negative finite `x` and a finite `y` that is no integer; 1 for `y == 0` and for `x == 1`,
    whatever the other is.
    """
    a = magnitude(x)
    # every y beyond gives the same result, and its products stay finite
    limit = 2.0**40 if format_of(x) is FLOAT32 else 2.0**66
    bounded = magnitude(y) < limit
    clamped = bounded.where(y, (y < 0.0).where(y.const_like(-limit), y.const_like(limit)))
    result = _exp2_of_product(clamped, *_log2_pair(a))
    grows = (y.const_like(0.0) < y).eq(a.const_like(1.0) < a)
    extreme = a.eq(0.0) | a.eq(math.inf)
    result = extreme.where(grows.where(x.const_like(math.inf), x.const_like(0.0)), result)
    result = (x.ne(x) | y.ne(y)).where(x.const_like(math.nan), result)
    whole = y.trunc().eq(y)
    half = y * 0.5
    odd = whole & half.trunc().ne(half)
    signed = result.bitcast(format_of(x).bits)
    signed = odd.where(signed | sign_bit(x), signed).bitcast(x.dtype)
    undefined = (x < 0.0) & (a < math.inf) & ~whole
    signed = undefined.where(x.const_like(math.nan), signed)
    return (y.eq(0.0) | x.eq(1.0) | (a.eq(1.0) & magnitude(y).eq(math.inf))).where(x.const_like(1.0), signed)


def _log2_pair(a: UOp) -> tuple[UOp, UOp]:
    """Return log2 of a positive finite number as (high, low)."""
    layout = format_of(a)
    m, e = fraction_and_exponent(a)
    # s = f / d; d = m+1 is taken from m's halves, and the quotient's high half is corrected by its remainder
    f, d = m - 1.0, m + 1.0
    m_top = high_half(m)
    s_high = high_half(f / d, spare=1)
    s_low = ((f - s_high * (m_top + 1.0)) - s_high * (m - m_top)) / d
    # z = s*s, and u = 1 + z/3 + z*z*P(z)
    z_high, z_low = s_high * s_high, (s_high * 2.0 + s_low) * s_low
    z = z_high + z_low
    z_top = high_half(z)
    z_rest = (z_high - z_top) + z_low
    third, third_low = split(*THIRD, layout)
    t = z_top * third
    tail = polynomial(z, polynomials.ATANH_TAIL[layout.dtype])
    t_low = z_top * third_low + z_rest * THIRD[0] + z * z * tail
    u_high = high_half((t + t_low) + 1.0)
    u_low = ((u_high.const_like(1.0) - u_high) + t) + t_low
    # log2(m) = s * u * 2*log2(e)
    v, v_low = s_high * u_high, s_high * u_low + s_low * (u_high + u_low)
    v_sum = v + v_low
    v_top = high_half(v_sum)
    v_rest = (v - v_top) + v_low
    scale, scale_low = split(*TWO_LOG2_E, layout)
    product = v_top * scale
    total = e + product
    low = ((e - total) + product) + (v_top * scale_low + v_rest * TWO_LOG2_E[0])
    high = total + low
    return high, (total - high) + low


def _exp2_of_product(y: UOp, high: UOp, low: UOp) -> UOp:
    y_top, high_top = high_half(y), high_half(high)
    product = y_top * high_top
    rest = y_top * (high - high_top) + (y - y_top) * high + y * low
    total = product + rest
    return exp2(total, (product - total) + rest)
