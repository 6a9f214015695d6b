"""SIN and COS of float32 and float64, for arguments of any size.

The argument is reduced to a quarter turn in integers (M. Payne and R. Hanek, "Radian reduction for
trigonometric functions", 1983): x * 2/pi is computed modulo 4 from the digits of 2/pi that matter at x's
exponent. Its integer part names the quadrant, the fraction is exact to beyond the float's digits even
beside multiples of pi, where it is tiny. Numbers under pi/4 skip it. Vectors of processors multiply no words
of 64 bits, but have floats of that size. Cosines are one quadrant further on;
both functions of one argument share all of the reduction.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from plugrad.codegen.decompositions import polynomials
from plugrad.codegen.decompositions.floats import (
    FLOAT32,
    FloatFormat,
    bits,
    format_of,
    high_half,
    magnitude,
    polynomial,
    split,
)
from plugrad.dtype import DType, dtypes
from plugrad.uop import UOp

#: pi/2 less its nearest float64
HALF_PI_MORE = 6.123233995736766e-17
_WORDS_64 = tuple(
    a << 32 | b for a, b in zip(polynomials.TWO_OVER_PI[::2], polynomials.TWO_OVER_PI[1::2], strict=True)
)


Reduction = Callable[[UOp, FloatFormat], tuple[UOp, UOp]]


def sin(x: UOp) -> UOp:
    """Return the sine of float32 or float64 radians, at most 1.6 ULP off."""
    return _sine(x, _by_integers)


def cos(x: UOp) -> UOp:
    """Return the cosine of radians, at most 1.6 ULP off; NaN for infinities.

    It is for float32 and float64.
    """
    return _cosine(x, _by_integers)


def sin_by_vectors(x: UOp) -> UOp:
    """Return `sin` without products of 64 bits, which vectors of processors lack."""
    return _sine(x, _by_float64)


def cos_by_vectors(x: UOp) -> UOp:
    """Return `cos` without products of 64 bits, which vectors of processors lack."""
    return _cosine(x, _by_float64)


def _sine(x: UOp, reduction: Reduction) -> UOp:
    layout = format_of(x)
    quadrant, sine, cosine = _reduced(magnitude(x), layout, reduction)
    value = (quadrant & 1).ne(0).where(cosine, sine)
    return _with_quadrant(x, value, quadrant, bits(x), layout)


def _cosine(x: UOp, reduction: Reduction) -> UOp:
    layout = format_of(x)
    quadrant, sine, cosine = _reduced(magnitude(x), layout, reduction)
    value = (quadrant & 1).ne(0).where(sine, cosine)
    return _with_quadrant(x, value, quadrant + 1, quadrant.const_like(0), layout)


def _with_quadrant(x: UOp, value: UOp, quadrant: UOp, sign: UOp, layout: FloatFormat) -> UOp:
    """Negate `value` in the third and fourth quadrant; NaN where `x` is no number."""
    sign = (sign ^ (quadrant << (layout.bits.itemsize * 8 - 2))) & layout.sign_mask
    return (magnitude(x) < math.inf).where((bits(value) ^ sign).bitcast(x.dtype), math.nan)


def _reduced(a: UOp, layout: FloatFormat, reduction: Reduction) -> tuple[UOp, UOp, UOp]:
    """Return an angle's quadrant, and sine and cosine of its rest, in [-pi/4, pi/4]."""
    small = a < math.pi / 4
    # what comes of the digits of a small angle is not taken
    quadrant, rest = reduction(a, layout)
    r = small.where(a, rest)
    quadrant = small.where(quadrant.const_like(0), quadrant)
    z = r * r
    sine = r * z * polynomial(z, polynomials.SINE[layout.dtype]) + r
    cosine = z * (z * polynomial(z, polynomials.COSINE[layout.dtype]) - 0.5) + 1.0
    return quadrant, sine, cosine


def _by_integers(a: UOp, layout: FloatFormat) -> tuple[UOp, UOp]:
    """Return the quadrant of an angle and the rest, by products of 64 bits."""
    quadrant, turn, turn_low = (_turns_short if layout is FLOAT32 else _turns_long)(a, layout)
    upper, lower = split(math.pi / 2, HALF_PI_MORE, layout)
    return quadrant, turn * upper + (turn * lower + turn_low * (math.pi / 2))


def _by_float64(a: UOp, layout: FloatFormat) -> tuple[UOp, UOp]:
    """Return the same of a float32 by products that float64 rounds.

    Of the first digits only those below 2**32 count, in an int32; the others make up a hundredth of a turn at
    most. The float32 next to a multiple of pi/2 is 2**-30 of a turn off, digits are right to 2**-60.
    """
    if layout is not FLOAT32:
        return _by_integers(a, layout)
    m = _significand(a, layout).cast(dtypes.int32)
    d0, d1, d2 = (d.bitcast(dtypes.int32) for d in _digits(bits(a) >> layout.fraction_bits))
    d2 = d2 >> 8
    # the second digits are taken as signed: what that leaves out belongs to the first
    upper = m * (d0 - (d1 >> 31))
    quadrant = (upper + (1 << 29)) >> 30
    rest, second, third = (u.cast(dtypes.float64) for u in (upper - (quadrant << 30), d1, d2 & 0xFFFFFF))
    unit = math.pi / 2 * 2.0**-30
    # not fused: gcc takes fused ones of vectors of two registers lane by lane
    lower = third * (unit * 2.0**-56) + second * (unit * 2.0**-32)
    return quadrant, (m.cast(dtypes.float64) * lower + rest * unit).cast(dtypes.float32)


def _turns_short(a: UOp, layout: FloatFormat) -> tuple[UOp, UOp, UOp]:
    """Return (quadrant, fraction, more of it) of a*2/pi, for a float32 from 2**-1 on."""
    m = _significand(a, layout).cast(dtypes.uint64)
    d0, d1, d2 = (d.cast(dtypes.uint64) for d in _digits(bits(a) >> layout.fraction_bits))
    product = m * (d0 << 32 | d1) + (m * d2 >> 32)
    quadrant = (product + (1 << 61)) >> 62
    fraction = (product - (quadrant << 62)).bitcast(dtypes.int64)
    top = high_half(fraction.cast(a.dtype))
    rest = (fraction - top.cast(dtypes.int64)).cast(a.dtype)
    return quadrant.cast(layout.bits), top * 2.0**-62, rest * 2.0**-62


def _digits(field: UOp) -> list[UOp]:
    """Return binary digits of 2/pi by a float32's exponent field, in three words.

    They are 64 whose products with the significand have the weights 2**1 .. 2**-62, and 32 more for their
    carry.
    """
    start = field - 120
    shift = (start & 31).cast(dtypes.uint32)
    words = _select((0, *polynomials.TWO_OVER_PI[:7]), start >> 5, dtypes.uint32)
    back = shift ^ 31
    return [(left << shift) | (right >> 1 >> back) for left, right in pairwise(words)]


def _turns_long(a: UOp, layout: FloatFormat) -> tuple[UOp, UOp, UOp]:
    """Return the turns of a float64 as `_turns_short`, by 128 digits of the product."""
    field = bits(a) >> layout.fraction_bits
    m = _significand(a, layout).cast(dtypes.uint64)
    start = field - 1013
    shift = (start & 63).cast(dtypes.uint64)
    a0, a1, a2, a3 = _select((0, *_WORDS_64[:19]), start >> 6, dtypes.uint64)
    back = shift * -1 + 63
    d0, d1, d2 = ((left << shift) | (right >> 1 >> back) for left, right in ((a0, a1), (a1, a2), (a2, a3)))
    carry = _upper_product(m, d2)
    low = m * d1 + carry
    high = m * d0 + _upper_product(m, d1) + (low < carry).cast(dtypes.uint64)
    quadrant = (high + (1 << 61)) >> 62
    fraction = high - (quadrant << 62)
    # as sign and magnitude: of a small negative number the lower word alone would say nothing
    negative = fraction.bitcast(dtypes.int64) < 0
    high = negative.where(~fraction, fraction).bitcast(dtypes.int64)
    low = negative.where(~low, low)
    top = high_half(high.cast(a.dtype))
    rest = (high - top.cast(dtypes.int64)).cast(a.dtype)
    rest = rest + (low >> 11).bitcast(dtypes.int64).cast(a.dtype) * 2.0**-53
    unit = negative.where(a.const_like(-(2.0**-62)), a.const_like(2.0**-62))
    return quadrant.bitcast(layout.bits), top * unit, rest * unit


def _significand(a: UOp, layout: FloatFormat) -> UOp:
    return (bits(a) & ((1 << layout.fraction_bits) - 1)) | (1 << layout.fraction_bits)


def _select(words: Sequence[int], start: UOp, dtype: DType) -> list[UOp]:
    """Return four words from `start` on, by a choice for each binary digit."""
    like = start.cast(dtype)
    chosen = [like.const_like(w) for w in words]
    step = 1 << ((len(words) - 4).bit_length() - 1)
    while step:
        skip = (start & step).ne(0)
        chosen += [like.const_like(0)] * (2 * step + 2 - len(chosen))
        # what smaller steps can still reach
        needed = 4 + step - 1
        chosen += [like.const_like(0)] * (needed + step - len(chosen))
        chosen = [skip.where(chosen[i + step], chosen[i]) for i in range(needed)]
        step >>= 1
    return chosen


def _upper_product(a: UOp, b: UOp) -> UOp:
    """Return the upper 64 bits of the product of two uint64, the first below 2**53."""
    mask = 0xFFFFFFFF
    a0, a1, b0, b1 = a & mask, a >> 32, b & mask, b >> 32
    cross = a0 * b1
    middle = (a0 * b0 >> 32) + (cross & mask) + a1 * b0
    return a1 * b1 + (cross >> 32) + (middle >> 32)
