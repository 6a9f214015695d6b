"""Evaluate elementwise operations on constants, exactly as the dtype would.

Floats are computed in float64 and rounded once more into the dtype: for + - * / and sqrt of types of at
most half its precision that is the correctly rounded result.
"""

import math
import struct
from collections.abc import Callable
from typing import Any

from plugrad._util import numpy as np
from plugrad.dtype import FLOAT8, ConstType, DType, dtypes, is_bool, is_float, is_int, is_unsigned, truncate
from plugrad.uop.ops import Ops


def evaluate(op: Ops, dtype: DType, values: tuple[Any, ...]) -> ConstType | None:
    """Return `op` of constants as a value of `dtype`; None where undefined.

    The operands' dtypes hold `values`.

    Undefined are integer division by zero and shifts by the width or more.

    Example:
        >>> evaluate(Ops.ADD, dtypes.uint8, (250, 10))
        4
    """
    rule: Any = _EVALUATE.get(op)
    if rule is None:
        return None
    if op in _INTEGER_ONLY and not _defined(op, dtype, values):
        return None
    return truncate(rule(*values), dtype)


def convert(value: ConstType, source: DType, target: DType) -> ConstType | None:
    """Return `value` after a CAST, None where undefined (NaN, infinity, too large)."""
    if is_float(source) and is_int(target):
        if not math.isfinite(value):
            return None
        whole = math.trunc(value)
        return whole if truncate(whole, target) == whole else None
    if is_int(source) and is_float(target) and target.scalar() is not dtypes.float64:
        return truncate(_sticky(int(value)), target)
    return truncate(value, target)


def reinterpret(value: ConstType, source: DType, target: DType) -> ConstType | None:
    """Return the BITCAST of `value`; None for NaN, whose bits a constant loses."""
    source, target = source.scalar(), target.scalar()
    if dtypes.index in (source, target) or value != value:
        return None
    if source is dtypes.bfloat16:
        bits = struct.pack("<f", value)[2:]
    elif source in FLOAT8:
        bits = bytes([FLOAT8[source].encode(float(value))])
    else:
        bits = struct.pack("<" + str(source.fmt), value)
    if len(bits) != target.itemsize:
        return None
    if target is dtypes.bfloat16:
        result = struct.unpack("<f", b"\0\0" + bits)[0]
    elif target in FLOAT8:
        result = FLOAT8[target].decode(bits[0])
    else:
        result = struct.unpack("<" + str(target.fmt), bits)[0]
    return result if result == result else None


def _sticky(value: int) -> int:
    """Shorten an integer to 53 bits, rounding to odd, so that rounding again is right."""
    lost = value.bit_length() - 53
    if lost <= 0:
        return value
    size = abs(value)
    kept = (size >> lost) | (size & ((1 << lost) - 1) != 0)
    return (kept << lost) * (1 if value >= 0 else -1)


def _defined(op: Ops, dtype: DType, values: tuple[Any, ...]) -> bool:
    if op in (Ops.SHL, Ops.SHR):
        width = 62 if dtype.scalar() is dtypes.index else dtype.itemsize * 8
        return 0 <= values[1] < width
    return values[1] != 0


def _by_numpy(name: str) -> Callable[..., float]:
    """Return NumPy's function of that name, of float64 and silent about infinities and NaNs."""

    def compute(*values: float) -> float:
        with np.errstate(all="ignore"):
            return float(getattr(np, name)(*map(np.float64, values)))

    return compute


def _add(x: Any, y: Any) -> Any:
    return (x or y) if isinstance(x, bool) else x + y


def _mul(x: Any, y: Any) -> Any:
    return (x and y) if isinstance(x, bool) else x * y


def divide_towards_zero(x: int, y: int) -> int:
    """Return C's quotient of integers."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


_INTEGER_ONLY = frozenset({Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR})

# by number of arguments, which types the parameters of lambdas
_Function = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]

_EVALUATE: dict[Ops, _Function] = {
    Ops.NEG: lambda x: -x,
    Ops.RECIP: _by_numpy("reciprocal"),
    Ops.EXP: _by_numpy("exp"),
    Ops.EXP2: _by_numpy("exp2"),
    Ops.LOG2: _by_numpy("log2"),
    Ops.SIN: _by_numpy("sin"),
    Ops.COS: _by_numpy("cos"),
    Ops.SQRT: _by_numpy("sqrt"),
    Ops.TRUNC: _by_numpy("trunc"),
    Ops.ADD: _add,
    Ops.SUB: lambda x, y: x - y,
    Ops.MUL: _mul,
    Ops.FDIV: _by_numpy("divide"),
    Ops.FMOD: _by_numpy("fmod"),
    Ops.FLOORDIV: lambda x, y: x // y,
    Ops.FLOORMOD: lambda x, y: x % y,
    Ops.CDIV: divide_towards_zero,
    Ops.CMOD: lambda x, y: x - y * divide_towards_zero(x, y),
    Ops.MAX: lambda x, y: x if x != x or (x > y) else y,
    Ops.POW: _by_numpy("power"),
    Ops.CMPLT: lambda x, y: x < y,
    Ops.CMPNE: lambda x, y: x != y,
    Ops.CMPEQ: lambda x, y: x == y,
    Ops.AND: lambda x, y: x & y,
    Ops.OR: lambda x, y: x | y,
    Ops.XOR: lambda x, y: x ^ y,
    Ops.SHL: lambda x, y: x << y,
    Ops.SHR: lambda x, y: x >> y,
    Ops.WHERE: lambda c, x, y: x if c else y,
    Ops.MULACC: lambda x, y, z: _add(_mul(x, y), z),
}


def holds_exactly(source: DType, target: DType) -> bool:
    """Say whether a CAST from `source` to `target` loses no value.

    Example:
        >>> holds_exactly(dtypes.int32, dtypes.float32)
        False
    """
    source, target = source.scalar(), target.scalar()
    if source is target or is_bool(source):
        return True
    if is_float(source):
        return is_float(target) and (
            _DIGITS[source] <= _DIGITS[target]
            and source.itemsize <= target.itemsize
            and not (source is dtypes.bfloat16 and target is dtypes.float16)
            and target not in FLOAT8
        )
    if dtypes.index in (source, target) or is_bool(target):
        return False
    bits = source.itemsize * 8 - (not is_unsigned(source))
    if is_float(target):
        # float16 ends at 65504, so it does not hold all of uint16 by range nor by digits
        return bits <= _DIGITS[target]
    if is_unsigned(target):
        return is_unsigned(source) and source.itemsize <= target.itemsize
    return bits <= target.itemsize * 8 - 1


_DIGITS = {
    **{dtype: layout.fraction_bits + 1 for dtype, layout in FLOAT8.items()},
    dtypes.bfloat16: 8,
    dtypes.float16: 11,
    dtypes.float32: 24,
    dtypes.float64: 53,
}

#: The smallest number above 0 with all its digits. Source: IEEE 754-2019, table 3.5.
SMALLEST_NORMAL = {
    dtypes.bfloat16: 2.0**-126,
    dtypes.float16: 2.0**-14,
    dtypes.float32: 2.0**-126,
    dtypes.float64: 2.0**-1022,
}
