"""Answer questions about linear programs and constants, for renderers of any language."""

import math
import struct
from collections.abc import Sequence

from plugrad.dtype import DType, dtypes, truncate
from plugrad.uop import ALU, Ops, UOp

_PACK_HALF = struct.Struct("<e").pack
_PACK_FLOAT = struct.Struct("<f").pack


def half_bits(dtype: DType, value: float) -> int:
    """Return the bits of a float16 or bfloat16 constant.

    Example:
        >>> hex(half_bits(dtypes.bfloat16, 1.0))
        '0x3f80'
    """
    rounded = float(truncate(value, dtype))
    if dtype is dtypes.float16:
        return int.from_bytes(_PACK_HALF(rounded), "little")
    return int.from_bytes(_PACK_FLOAT(rounded), "little") >> 16


def group_size(uops: Sequence[UOp], most: int = 1024) -> int:
    """Return the work-items of one group, or `most` for sizes known only at launch."""
    sizes = [u.src[0] for u in uops if u.op is Ops.SPECIAL and u.arg.startswith("lidx")]
    if any(size.op is not Ops.CONST for size in sizes):
        return most
    return math.prod(int(size.arg) for size in sizes)


def addresses(uops: Sequence[UOp]) -> set[UOp]:
    """Return the arithmetic that is nothing but parts of addresses and of loops' sizes.

    It stays inside of its buffer, so it cannot overflow, and needs no care for languages where overflow of a
    signed integer is undefined.
    """
    others: set[UOp] = set()  # what something else than an address is made of
    for u in reversed(uops):
        if u.op is Ops.INDEX or u.op is Ops.RANGE or (u.op in ALU and u not in others):
            continue
        others.update(u.src)
    return {u for u in uops if u.op in ALU and u not in others}


def may_overflow(u: UOp, known: set[UOp]) -> bool:
    """Return whether `u` is signed integer arithmetic in C, outside the `known` addresses.

    Small integers compute as `int`, which only products of 16 bits leave.
    """
    is_signed = u.dtype.kind == "int" and u.dtype.itemsize >= 4
    return (is_signed or u.dtype is dtypes.uint16) and u not in known


def is_safe_divisor(u: UOp) -> bool:
    """Return whether `u` is a constant that divides any integer: neither 0 nor -1."""
    return u.op is Ops.CONST and u.arg not in (0, -1)
