"""Decompositions of SUB, NEG, FDIV, RECIP, MAX, TRUNC, SQRT, MULACC, FLOORDIV, FLOORMOD and CMOD.

Floor division by powers of two is a shift or a mask, which round down for every sign. Where bounds prove both
operands not negative, C's division is Python's. Else the quotient is corrected by one where the remainder's
sign is not the divisor's. Nothing is computed that could leave the type.
"""

import math

from plugrad.codegen.decompositions.floats import FLOAT32, bits, format_of, high_half, magnitude, sign_bit
from plugrad.codegen.decompositions.transcendental import by_width
from plugrad.dtype import is_bool, is_float, is_unsigned
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, pvars
from plugrad.uop.symbolic import INTS

x, y, z = pvars("x y z")
c = UPat.cvar("c")


# rules that docs/floats.md names
def _divide(x: UOp, y: UOp) -> UOp:
    return x * y.reciprocal()


def _multiply_add(x: UOp, y: UOp, z: UOp) -> UOp:
    return x * y + z


def _maximum(x: UOp, y: UOp) -> UOp:
    if is_bool(x.dtype):
        return x | y
    greater = x < y
    # where x is NaN, x < y is false and x stays
    return (greater | y.ne(y) if is_float(x.dtype) else greater).where(y, x)


def truncate(x: UOp) -> UOp:
    """Return `x` without its fraction, through an integer that surely holds it."""
    layout = format_of(x)
    # from here on every float is an integer; NaN and infinities pass too
    has_fraction = magnitude(x) < 2.0**layout.fraction_bits
    whole = has_fraction.where(x, 0.0).cast(layout.bits).cast(x.dtype)
    return has_fraction.where((bits(whole) | sign_bit(x)).bitcast(x.dtype), x)


def square_root(x: UOp) -> UOp:
    """Return the square root, at most 1 ULP off.

    It is Newton's iteration for 1/sqrt(x), and one step on the root.

    The first guess halves the exponent in the bits (C. Lomont, "Fast inverse square root", 2003); each step
    doubles the digits, and the last one takes the remainder x - s*s exactly, from the halves of s.
    """
    layout = format_of(x)
    tiny = x < layout.smallest_normal
    scaled = tiny.where(x * 2.0 ** (2 * layout.digits), x)
    guess = 0x5F3759DF if layout is FLOAT32 else 0x5FE6EB50C7B537A9
    r = ((bits(scaled) >> 1) * -1 + guess).bitcast(x.dtype)
    half = scaled * 0.5
    for _ in range(3 if layout is FLOAT32 else 4):
        r = r * (r.const_like(1.5) - half * r * r)
    s = scaled * r
    top = high_half(s)
    low = s - top
    remainder = (scaled - top * top) - (top * low * 2.0 + low * low)
    root = remainder * r * 0.5 + s
    root = tiny.where(root * 2.0**-layout.digits, root)
    # zeros keep their sign, infinity stays
    root = (x.eq(0.0) | x.eq(math.inf)).where(x, root)
    return (x < 0.0).where(x.const_like(math.nan), root)


def _is_power_of_two(c: UOp) -> bool:
    return c.arg > 0 and c.arg & (c.arg - 1) == 0


def _rounds_the_same(x: UOp, y: UOp) -> bool:
    """Say whether C and Python agree on the quotient for sure."""
    return is_unsigned(x.dtype) or (x.vmin >= 0 and y.vmin >= 0) or (x.vmax <= 0 and y.vmax < 0)


def _has_other_sign(remainder: UOp, y: UOp) -> UOp:
    """Return where a remainder of C has to be moved by one divisor."""
    if y.vmin > 0:
        return remainder < 0
    return remainder.ne(0) & (remainder ^ y < 0)


def _floor_divide(x: UOp, y: UOp) -> UOp:
    quotient = x.alu(Ops.CDIV, y)
    if _rounds_the_same(x, y):
        return quotient
    down = _has_other_sign(x - quotient * y, y)
    if y.vmin <= 0 <= y.vmax:
        down &= y.ne(0)  # division by 0 gives 0, and leaves x
    return down.where(quotient + -1, quotient)


def _floor_remainder(x: UOp, y: UOp) -> UOp:
    remainder = x.alu(Ops.CMOD, y)
    if _rounds_the_same(x, y):
        return remainder
    return _has_other_sign(remainder, y).where(remainder + y, remainder)


TABLES = {
    Ops.SUB: PatternMatcher((x - y, lambda x, y: x + -y)),
    # -1 is all ones in unsigned types too
    Ops.NEG: PatternMatcher((-x, lambda x: x * -1)),
    Ops.FDIV: PatternMatcher((x / y, _divide)),
    Ops.RECIP: PatternMatcher((x.alu(Ops.RECIP), lambda x: x.const_like(1.0) / x)),
    Ops.MAX: PatternMatcher((UPat(Ops.MAX, src=(x, y)), _maximum)),
    Ops.TRUNC: by_width(Ops.TRUNC, truncate),
    Ops.SQRT: by_width(Ops.SQRT, square_root),
    Ops.MULACC: PatternMatcher((x.alu(Ops.MULACC, y, z), _multiply_add)),
    Ops.FLOORDIV: PatternMatcher(
        (
            UPat(Ops.FLOORDIV, INTS, (x, c)),
            lambda x, c: x >> (c.arg.bit_length() - 1) if _is_power_of_two(c) else None,
        ),
        (UPat(Ops.FLOORDIV, INTS, (x, y)), _floor_divide),
    ),
    Ops.FLOORMOD: PatternMatcher(
        (UPat(Ops.FLOORMOD, INTS, (x, c)), lambda x, c: x & (c.arg - 1) if _is_power_of_two(c) else None),
        (UPat(Ops.FLOORMOD, INTS, (x, y)), _floor_remainder),
    ),
    Ops.CMOD: PatternMatcher(
        (UPat(Ops.CMOD, INTS, (x, y)), lambda x, y: x.alu(Ops.SUB, x.alu(Ops.CDIV, y) * y))
    ),
}
