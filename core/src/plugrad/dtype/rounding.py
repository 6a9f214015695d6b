"""Python numbers rounded to what an element type holds."""

import math
import struct

from plugrad.dtype.elements import FLOAT8, dtypes
from plugrad.dtype.kinds import is_bool, is_float, is_unsigned
from plugrad.dtype.types import ConstType, DType


def round_bfloat16(value: float) -> float:
    """Round to the nearest bfloat16, ties to even, and return it as a float.

    Example:
        >>> round_bfloat16(0.1)
        0.10009765625
    """
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        bits = int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return math.copysign(math.inf, value)
    # float64 -> float32 -> bfloat16 rounds twice; the sticky bit of the first step keeps ties honest
    single = struct.unpack("<f", struct.pack("<f", value))[0]
    if bits & 0xFFFF == 0x8000 and single != value:
        bits += 1 if abs(value) > abs(single) else -1
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]


def _round_packed(value: float, fmt: str) -> float:
    try:
        return struct.unpack("<" + fmt, struct.pack("<" + fmt, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def truncate(value: ConstType, dtype: DType) -> ConstType:
    """Return `value` as `dtype` holds it: integers wrap, floats round to nearest even.

    Example:
        >>> truncate(257, dtypes.uint8)
        1
    """
    if is_bool(dtype):
        return bool(value)
    if is_float(dtype):
        value = float(value)
        if dtype.scalar() is dtypes.bfloat16:
            return round_bfloat16(value)
        if (layout := FLOAT8.get(dtype.scalar())) is not None:
            return layout.decode(layout.encode(value))
        return value if dtype.scalar() is dtypes.float64 else _round_packed(value, str(dtype.fmt))
    value = int(value)
    if dtype.scalar() is dtypes.index:
        return value
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if not is_unsigned(dtype) and value >> (bits - 1) else value
