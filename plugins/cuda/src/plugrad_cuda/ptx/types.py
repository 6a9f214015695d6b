"""Write dtypes in PTX: registers, types of instructions and of memory, constants.

A bool is a predicate in a register and a byte in memory. Integers of 8 and 16 bits live in registers of 32
bits, extended by their sign or by zeros. float16 and bfloat16 are their bits.

Source: PTX ISA, sections "Types" and "Constants".
"""

import struct

from plugrad.dtype import ConstType, DType, dtypes, is_bool, is_float, truncate
from plugrad.renderer.facts import half_bits

HALVES = (dtypes.float16, dtypes.bfloat16)
_CODES = {dtypes.float32: "f", dtypes.float64: "d"}


def plain_type(dtype: DType) -> str:
    """Return the type under which values are declared, moved and chosen.

    Example:
        >>> plain_type(dtypes.int8), plain_type(dtypes.float64), plain_type(dtypes.bool)
        ('b32', 'f64', 'pred')
    """
    if is_bool(dtype):
        return "pred"
    if dtype in HALVES:
        return "b16"
    return f"{'f' if is_float(dtype) else 'b'}{register_bits(dtype)}"


def number_type(dtype: DType) -> str:
    """Return the type of arithmetic on numbers.

    Example:
        >>> number_type(dtypes.uint8), number_type(dtypes.int64), number_type(dtypes.float32)
        ('u32', 's64', 'f32')
    """
    if is_float(dtype):
        return plain_type(dtype)
    return f"{'s' if dtype.kind == 'int' else 'u'}{register_bits(dtype)}"


def memory_type(dtype: DType) -> str:
    """Return the type of one value in memory.

    Example:
        >>> memory_type(dtypes.int8), memory_type(dtypes.bfloat16), memory_type(dtypes.uint64)
        ('s8', 'b16', 'u64')
    """
    if dtype in HALVES:
        return "b16"
    return f"{'f' if is_float(dtype) else 's' if dtype.kind == 'int' else 'u'}{dtype.itemsize * 8}"


def register_bits(dtype: DType) -> int:
    """Return the bits of the register that holds a number."""
    return 16 if dtype in HALVES else max(32, dtype.itemsize * 8)


def is_narrow(dtype: DType) -> bool:
    """Say whether `dtype` is an integer that leaves part of its register unused."""
    return not is_float(dtype) and not is_bool(dtype) and dtype.itemsize < 4


def literal(dtype: DType, value: ConstType) -> str:
    """Return a scalar constant.

    Example:
        >>> literal(dtypes.float32, 1.0), literal(dtypes.int32, -3), literal(dtypes.float16, 1.0)
        ('0f3F800000', '-3', '15360')
    """
    value = truncate(value, dtype)
    if dtype in HALVES:
        return str(half_bits(dtype, float(value)))
    if (code := _CODES.get(dtype)) is None:
        return str(int(value))
    bits = struct.pack(f">{code}", float(value)).hex().upper()
    return f"0{code}{bits}"


def is_literal(text: str) -> bool:
    """Say whether an operand is a constant, and no register."""
    return not text.startswith("%")
