"""Floats to integers with one answer for every float, also where C leaves it open.

In range, a cast loses the fraction. Out of range, NaN among them, C calls the cast undefined: processors
differ, and so do the constants that compilers fold. Here every device gives what PyTorch gives for one
element on x86-64: the instruction answers the least integer, whose bits wrap to the integer asked for.
"""

from plugrad.dtype import DType, dtypes
from plugrad.uop.uop import UOp

_THROUGH_LONG = (dtypes.int64, dtypes.uint32)


def to_integer(x: UOp, target: DType) -> UOp:
    """Return floats as integers of `target`, with a defined result for every value.

    Integers of up to 16 bits, and int32, go through int32; unsigned ones of 8 and 32 bits through int64.
    (Where int32 ends, float32 has no bits left below 256: only float64 tells for uint8; int32 is quicker.)
    """
    wide = x if x.dtype is dtypes.float64 else x.cast(dtypes.float32)
    if target is dtypes.uint64:
        return _to_uint64(wide)
    through_long = target in _THROUGH_LONG or (target is dtypes.uint8 and wide.dtype is dtypes.float64)
    return _clipped_cast(wide, dtypes.int64 if through_long else dtypes.int32).cast(target)


def _clipped_cast(x: UOp, target: DType) -> UOp:
    """Cast to a signed integer, to its least one out of range (bounds are exact floats)."""
    limit = 1 << (target.itemsize * 8 - 1)
    is_held = (x > -limit) & (x < limit)
    return is_held.where(x.cast(target), UOp.const(target, -limit))


def _to_uint64(x: UOp) -> UOp:
    """Cast the upper half of uint64 with 2**63 subtracted, and set its top bit again."""
    half = 1 << 63
    is_upper = ~(x < half) & x.eq(x)
    low = _clipped_cast(is_upper.where(x - half, x), dtypes.int64).cast(dtypes.uint64)
    return low ^ is_upper.where(UOp.const(dtypes.uint64, half), UOp.const(dtypes.uint64, 0))
