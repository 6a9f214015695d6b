"""FMOD of float32 and float64, exact for all quotients, without loops and branches.

With x = m * 2**ex and y = n * 2**ey in integers m and n, the remainder is (m * 2**(ex-ey) mod n) * 2**ey. The
power of two is raised modulo n, one squaring for each binary digit of the exponent. Each product is reduced
by a quotient that floats guess: the guess is off by a few, product and multiple wrap alike, so their
difference is right (P. Montgomery's remark on floating-point modular multiplication, in V. Shoup's NTL).
"""

import math

from plugrad.codegen.decompositions.floats import FLOAT32, FloatFormat, bits, format_of, magnitude, sign_bit
from plugrad.uop import UOp


def fmod(x: UOp, y: UOp) -> UOp:
    """Return `x - trunc(x/y)*y` without any rounding, with the sign of `x`.

    NaN for an infinite `x` and for `y == 0`; `x` itself for an infinite `y`.
    """
    layout = format_of(x)
    a, b = magnitude(x), magnitude(y)
    (m, a_field), (n, b_field) = _significand_and_exponent(a, layout), _significand_and_exponent(b, layout)
    # zero and what is smaller than the divisor take part with some other number, and are put right below
    n = n.eq(0).where(n.const_like(1), n)
    distance = a_field - b_field
    distance = (distance < 0).where(distance.const_like(0), distance)
    rest = _shifted_modulo(m, n, distance, layout)
    # two factors: the unit of the smallest numbers is none that every device multiplies by
    unit = (b_field << layout.fraction_bits).bitcast(x.dtype)
    size = rest.cast(x.dtype) * 2.0**-layout.fraction_bits * unit
    signed = (bits(size) | sign_bit(x)).bitcast(x.dtype)
    is_defined = (a < math.inf) & b.ne(0.0) & b.eq(b)
    return (a < b).where(x, is_defined.where(signed, x.const_like(math.nan)))


def _significand_and_exponent(a: UOp, layout: FloatFormat) -> tuple[UOp, UOp]:
    """Return the significand of `a` as an integer, and its exponent field (1 for subnormals)."""
    field = bits(a) >> layout.fraction_bits
    digits = bits(a) & ((1 << layout.fraction_bits) - 1)
    is_normal = field.ne(0)
    hidden = is_normal.where(field.const_like(1 << layout.fraction_bits), field.const_like(0))
    return digits | hidden, is_normal.where(field, field.const_like(1))


def _shifted_modulo(m: UOp, n: UOp, distance: UOp, layout: FloatFormat) -> UOp:
    low_digits = 4 if layout is FLOAT32 else 6
    inverse = n.cast(layout.dtype.vec(n.dtype.count)).reciprocal()
    power = n.const_like(1) << (distance >> low_digits)
    for digit in reversed(range(low_digits)):
        power = _product_modulo(power, power, n, inverse)
        power = power << ((distance >> digit) & 1)
    rest = _product_modulo(power, m, n, inverse)
    for _ in range(2):  # a little below -n, adding n once does not do
        rest = (rest < 0).where(rest + n, rest)
    return (rest < n).where(rest, rest - n)


def _product_modulo(a: UOp, b: UOp, n: UOp, inverse: UOp) -> UOp:
    """Return `a * b` modulo `n`, in about the interval from -n to n.

    The first quotient is off by a few units of its last place, which leaves at most some dozens of n; the
    second is right but for the rounding beside an integer.
    """
    dtype = inverse.dtype
    quotient = (a.cast(dtype) * b.cast(dtype) * inverse).cast(n.dtype)
    near = a * b - quotient * n
    return near - (near.cast(dtype) * inverse).cast(n.dtype) * n
