"""FLOORDIV, FLOORMOD, CDIV and CMOD from C's division, from shifts, or from bounds.

Powers of two become shifts and masks, which round down for every sign. Where bounds prove both operands not
negative, C's division is Python's. Else the quotient is corrected by one where the remainder's sign is not
the divisor's. Nothing is computed that could leave the type.
"""

from plugrad.dtype import is_unsigned
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, pvars
from plugrad.uop.symbolic import INTS

x, y = pvars("x y")
c = UPat.cvar("c")


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


pm_floordiv = PatternMatcher(
    (
        UPat(Ops.FLOORDIV, INTS, (x, c)),
        lambda x, c: x >> (c.arg.bit_length() - 1) if _is_power_of_two(c) else None,
    ),
    (UPat(Ops.FLOORDIV, INTS, (x, y)), _floor_divide),
)
pm_floormod = PatternMatcher(
    (UPat(Ops.FLOORMOD, INTS, (x, c)), lambda x, c: x & (c.arg - 1) if _is_power_of_two(c) else None),
    (UPat(Ops.FLOORMOD, INTS, (x, y)), _floor_remainder),
)
pm_cmod = PatternMatcher(
    (UPat(Ops.CMOD, INTS, (x, y)), lambda x, y: x.alu(Ops.SUB, x.alu(Ops.CDIV, y) * y)),
)
TABLES = {Ops.FLOORDIV: pm_floordiv, Ops.FLOORMOD: pm_floormod, Ops.CMOD: pm_cmod}
