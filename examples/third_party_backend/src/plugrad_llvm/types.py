"""Types and constants in LLVM's language.

A bool is an `i1` in a register and a byte in memory. A bfloat16 is its bits, since processors without an
instruction for it would call a conversion function that nobody brings; a float16 is a `half`.

Source: LLVM Language Reference Manual, sections "Type System" and "Constants".
"""

import math
import struct

from plugrad.dtype import ConstType, DType, dtypes, is_bool, is_float, truncate

_NAMES = {dtypes.float16: "half", dtypes.bfloat16: "i16", dtypes.float32: "float", dtypes.float64: "double"}
_SUFFIXES = {dtypes.float32: "f32", dtypes.float64: "f64"}


def type_name(dtype: DType) -> str:
    """Return the type of a value.

    Example:
        >>> type_name(dtypes.float32.vec(4)), type_name(dtypes.uint8), type_name(dtypes.bool)
        ('<4 x float>', 'i8', 'i1')
    """
    return lanes("i1" if is_bool(dtype) else _scalar(dtype), dtype.count)


def memory_type(dtype: DType) -> str:
    """Return the type of a value in memory."""
    return lanes("i8" if is_bool(dtype) else _scalar(dtype), dtype.count)


def lanes(scalar: str, count: int) -> str:
    """Return the vector of `count` values of a type, or the type itself for one.

    Example:
        >>> lanes("i8", 16)
        '<16 x i8>'
    """
    return scalar if count == 1 else f"<{count} x {scalar}>"


def suffix(dtype: DType) -> str:
    """Return the suffix of an intrinsic function for a dtype.

    Example:
        >>> suffix(dtypes.int32.vec(8))
        'v8i32'
    """
    scalar = _SUFFIXES.get(dtype.scalar()) or _scalar(dtype)
    return scalar if dtype.count == 1 else f"v{dtype.count}{scalar}"


def literal(dtype: DType, value: ConstType) -> str:
    """Return a constant without its type; in a vector, every lane holds it.

    Example:
        >>> literal(dtypes.float32, 1.0), literal(dtypes.int32.vec(2), -3)
        ('0x3FF0000000000000', 'splat (i32 -3)')
    """
    scalar = dtype.scalar()
    text = _literal(scalar, truncate(value, scalar))
    return text if dtype.count == 1 else f"splat ({type_name(scalar)} {text})"


def _scalar(dtype: DType) -> str:
    return _NAMES.get(dtype.scalar()) or f"i{dtype.itemsize * 8}"


def _literal(dtype: DType, value: ConstType) -> str:
    if is_bool(dtype):
        return "true" if value else "false"
    if not is_float(dtype):
        return str(int(value))
    number = float(value)
    if dtype is dtypes.float16:
        return f"0xH{_bits('e', number):04X}"
    if dtype is dtypes.bfloat16:
        return str(_bits("f", number) >> 16)
    # a float is written as the double of the same value; a NaN as the quiet one, whatever its sign was
    return f"0x{_bits('d', math.nan if math.isnan(number) else number):016X}"


def _bits(code: str, number: float) -> int:
    return int.from_bytes(struct.pack(f"<{code}", number), "little")
