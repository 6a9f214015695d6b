"""Compare elements, and combine bools and bits."""

from typing import Literal

from plugrad import Tensor
from plugrad.dtype import is_unsigned
from plugrad_onnx.operators.elementwise import aligned
from plugrad_onnx.registry import operator


@operator("Equal")
def equal(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where a equals b."""
    return a == aligned(a, b, axis)


@operator("Greater")
def greater(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where a is greater than b."""
    return a > aligned(a, b, axis)


@operator("Less")
def less(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where a is less than b."""
    return a < aligned(a, b, axis)


@operator("GreaterOrEqual")
def greater_or_equal(a: Tensor, b: Tensor) -> Tensor:
    """Return where a is at least b."""
    return a >= b


@operator("LessOrEqual")
def less_or_equal(a: Tensor, b: Tensor) -> Tensor:
    """Return where a is at most b."""
    return a <= b


@operator("And")
def logical_and(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where both hold."""
    return a & aligned(a, b, axis)


@operator("Or")
def logical_or(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where at least one holds."""
    return a | aligned(a, b, axis)


@operator("Xor")
def logical_xor(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return where exactly one holds."""
    return a ^ aligned(a, b, axis)


@operator("BitwiseAnd")
def bitwise_and(a: Tensor, b: Tensor) -> Tensor:
    """Return the bits that both have."""
    return a & b


@operator("BitwiseOr")
def bitwise_or(a: Tensor, b: Tensor) -> Tensor:
    """Return the bits that at least one has."""
    return a | b


@operator("BitwiseXor")
def bitwise_xor(a: Tensor, b: Tensor) -> Tensor:
    """Return the bits that exactly one has."""
    return a ^ b


@operator("BitShift")
def bit_shift(x: Tensor, y: Tensor, *, direction: Literal["LEFT", "RIGHT"]) -> Tensor:
    """Return x with its bits moved y places; 0 where no bit is left."""
    bits = x.dtype.itemsize * 8
    short = (y >= 0) & (y < bits) if not is_unsigned(y.dtype) else y < bits
    safe = short.where(y, 0).cast(x.dtype)
    moved = x << safe if direction == "LEFT" else x >> safe
    beyond = 0 if direction == "LEFT" or is_unsigned(x.dtype) else (x < 0).where(-1, 0).cast(x.dtype)
    return short.where(moved.cast(x.dtype), beyond).cast(x.dtype)
