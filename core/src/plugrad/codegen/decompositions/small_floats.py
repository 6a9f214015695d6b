"""Operations on floats of at most 16 bits, computed in float32 and rounded back.

They are for targets that only store such floats.

For + - * / and square roots that is the correctly rounded result: float32 has more than twice their digits,
plus two. Conversions from and to other types go through float32 too, so that targets convert between these
two only.

A reduction is in float32 as a whole, and rounded once at its end.
"""

from plugrad.codegen.decompositions.floats import bits
from plugrad.codegen.decompositions.transcendental import in_float32
from plugrad.dtype import FLOAT8, DType, dtypes, is_float
from plugrad.uop import ALU, COMPARE, Ops, PatternMatcher, UOp, UPat

_COMPUTED = ALU - COMPARE - {Ops.WHERE}


def _through_float32(u: UOp) -> UOp | None:
    """Return the cast as one to or from float32 and one more."""
    value = u.src[0]
    if dtypes.float32 in (value.dtype.scalar(), u.dtype.scalar()):
        return None
    if value.dtype.scalar() is dtypes.float64:
        return _to_odd_float32(value).cast(u.dtype)
    if value.dtype.itemsize > 2 and not is_float(value.dtype):
        # what float32 rounds is too large for all others
        is_exact = u.dtype.scalar() is not dtypes.bfloat16
        return (value.cast(dtypes.float32) if is_exact else _odd_float32_of_int(value)).cast(u.dtype)
    return value.cast(dtypes.float32).cast(u.dtype)


def _to_odd_float32(x: UOp) -> UOp:
    """Return the float64 in float32, rounded to odd.

    Of two neighbours, that is the one with an odd last digit.

    Rounding that again gives what one rounding would (S. Boldo and G. Melquiond, "Emulation of a FMA and
    correctly rounded sums", 2008): a tie in the second step can only be a tie of the original.
    """
    near = x.cast(dtypes.float32)
    back = near.cast(dtypes.float64)
    near_bits = bits(near)
    even = (near_bits & 1).eq(0)
    # one step of the bits towards x: up where near is too small in magnitude
    too_small = (back < x).eq(x.const_like(0.0) < x)
    odd = near_bits + too_small.where(near_bits.const_like(1), near_bits.const_like(-1))
    # infinity steps back to the largest number, which still rounds up to it
    return (even & back.ne(x) & x.eq(x)).where(odd, near_bits).bitcast(dtypes.float32)


# Integers of so many bytes: from which power of two on, how many of the lowest bits are left out. What stays
# has 10 bits at least, two more than bfloat16, and 24 at most, as many as float32.
_LEFT_OUT = {4: ((24, 8),), 8: ((24, 15), (39, 30), (54, 40))}


def _odd_float32_of_int(x: UOp) -> UOp:
    """Return the integer in float32, rounded to odd as in `_to_odd_float32`. It needs no float64."""
    out = x.cast(dtypes.float32)
    for power, count in _LEFT_OUT[x.dtype.itemsize]:
        rest = (x & ((1 << count) - 1)).ne(0)
        kept = (x >> count) | rest.where(x.const_like(1), x.const_like(0))
        is_large = x >= (1 << power)
        if x.dtype.kind == "int":
            is_large = is_large | (x < -(1 << power))
        scaled = kept.cast(dtypes.float32)
        out = is_large.where(scaled * scaled.const_like(float(1 << count)), out)
    return out


def _reduce_in_float32(u: UOp) -> UOp:
    count = u.arg[1]
    values = tuple([v.cast(dtypes.float32) for v in u.src[:count]])
    wide = dtypes.float32.vec(u.dtype.count)
    return UOp(Ops.REDUCE, wide, (*values, *u.src[count:]), u.arg).cast(u.dtype)


def _table(dtype: DType) -> PatternMatcher:
    return PatternMatcher(
        (UPat(_COMPUTED, dtype, name="u"), in_float32),
        (UPat(Ops.REDUCE, dtype, name="u"), _reduce_in_float32),
        (
            UPat(COMPARE, src=(UPat(dtype=dtype), UPat(dtype=dtype)), name="u"),
            lambda u: u.replace(src=tuple([s.cast(dtypes.float32) for s in u.src])),
        ),
        (UPat(Ops.CAST, dtype, name="u"), _through_float32),
        (UPat(Ops.CAST, src=(UPat(dtype=dtype),), name="u"), _through_float32),
    )


TABLES = {dtype: _table(dtype) for dtype in (dtypes.float16, dtypes.bfloat16, *FLOAT8)}
