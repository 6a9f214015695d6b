"""Sums, differences, products, quotients and powers."""

from __future__ import annotations

from typing import Any, Literal

from plugrad.dtype import DType, Number, dtypes, is_bool, is_complex, is_float, is_inexact, is_unsigned
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.complex_formulas import exponentials
from plugrad.tensor.complex_formulas.pairs import apply, joined, parts_of
from plugrad.tensor.elementwise.operands import as_operand, binary, dtype_refusal, operand_nodes
from plugrad.tensor.shapes import as_element, is_one_of
from plugrad.uop import Ops, UOp

# a whole exponent of complex numbers up to this is a few products, which are exact where their factors are
_MOST_PRODUCTS = 128


def add(self: Tensor, other: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
    """Return `self + other`; for bools, `or`.

    Args:
        reverse: which of both comes first, as in tinygrad.
        alpha: what `other` is multiplied by first, as in PyTorch.

    Raises:
        DtypeError: `alpha` is no number.

    Example:
        >>> (Tensor([1, 2]) + 0.5).tolist()
        [1.5, 2.5]
    """
    return binary(self, Ops.ADD, _scaled(self, other, alpha, "add"), reverse=reverse)


def sub(self: Tensor, other: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
    """Return `self - other`, or `other - self` with `reverse`.

    Args:
        reverse: subtract this from `other`.
        alpha: what `other` is multiplied by first, as in PyTorch.

    Raises:
        DtypeError: both are bools, or `alpha` is no number.

    Example:
        >>> Tensor([1, 2]).sub(1).tolist()
        [0, 1]
    """
    other = _scaled(self, other, alpha, "sub")
    if is_bool(promoted([self, as_operand(self, other)])):
        raise dtype_refusal(self, "numbers (use ^ for bools)", other, what="subtraction")
    return binary(self, Ops.SUB, other, reverse=reverse)


def mul(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
    """Return `self * other`; for bools, `and`.

    Example:
        >>> Tensor([1, 2]).mul(3).tolist()
        [3, 6]
    """
    return binary(self, Ops.MUL, other, reverse=reverse)


def _scaled(x: Tensor, other: Any, alpha: Number, name: str) -> Tensor | Number:
    factor = as_element(alpha, name)
    if factor == 1:
        return other
    given = as_operand(x, other)
    return given.mul(factor) if isinstance(given, TensorBase) else given * factor


def div(
    self: Tensor,
    other: Tensor | Number,
    reverse: bool = False,
    *,
    rounding_mode: Literal["trunc", "floor"] | None = None,
) -> Tensor:
    """Return `self / other`: always floats, the default float for two integers.

    Args:
        reverse: divide `other` by this.
        rounding_mode: round down ("floor", as `//`) or towards zero ("trunc", as C); two integers then
            stay integers.

    Raises:
        ArgumentError: there is no such rounding mode.

    Example:
        >>> (Tensor([1, 2]) / 2).tolist()
        [0.5, 1.0]
        >>> Tensor([-7, 7]).div(2, rounding_mode="trunc").tolist()
        [-3, 3]
    """
    if rounding_mode is not None:
        return _rounded_div(self, other, reverse, rounding_mode)
    if is_inexact(self.dtype):
        return binary(self, Ops.FDIV, other, reverse=reverse)
    dtype = promoted([self, as_operand(self, other)])
    return binary(
        self, Ops.FDIV, other, reverse=reverse, dtype=dtype if is_inexact(dtype) else dtypes.default_float
    )


def _rounded_div(tensor: Tensor, other: Tensor | Number, reverse: bool, mode: str) -> Tensor:
    if not is_one_of(mode, ("trunc", "floor")):
        raise ArgumentError(f"there is no rounding_mode {mode!r:.60}; there are 'trunc' and 'floor'.")
    down = tensor.floordiv(other, reverse)
    if mode == "floor":
        return down
    if is_float(down.dtype):
        quotient = tensor.div(other, reverse)
        return quotient._like(quotient._graph.trunc())
    if is_unsigned(down.dtype):
        return down
    operands = operand_nodes(tensor, other, dtype=down.dtype)
    x, y = reversed(operands) if reverse else operands
    return tensor._like(_rounded_to_zero(x, y, down._graph), other)


def floordiv(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
    """Return `self // other`, rounded down as in Python; integers stay integers.

    Of floats it is the whole number next to `(self - self % other) / other`, and `self / other` for a
    divisor of zero. Integers by zero give 0.

    Example:
        >>> (Tensor([-7.0, 7.0]) // 2).tolist()
        [-4.0, 3.0]
    """
    dtype = number_dtype(self, "//", other)
    if is_float(dtype):
        x, y = operand_nodes(self, other)
        x, y = (y, x) if reverse else (x, y)
        wide = dtypes.float32 if dtype.itemsize < 4 else dtype
        return self._like(_float_quotient(x.cast(wide), y.cast(wide)).cast(dtype), other)
    return binary(self, Ops.FLOORDIV, other, reverse=reverse)


def mod(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
    """Return `self % other`, with the sign of the divisor as in Python.

    Exact for floats too, except that a negative remainder of a positive divisor (or the reverse) is moved
    by one divisor, which rounds. A remainder of zero has the divisor's sign. By zero it is NaN, and 0 of
    integers.

    Example:
        >>> (Tensor([-7, 7]) % 3).tolist()
        [2, 1]
    """
    dtype = number_dtype(self, "%", other)
    if not is_float(dtype):
        return binary(self, Ops.FLOORMOD, other, reverse=reverse)
    x, y = operand_nodes(self, other)
    x, y = (y, x) if reverse else (x, y)
    return self._like(_float_remainder(x, y), other)


def number_dtype(x: Tensor, what: str, other: Any) -> DType:
    """Return the dtype that two operands meet in."""
    dtype = promoted([x, as_operand(x, other)])
    if is_bool(dtype):
        raise dtype_refusal(x, "numbers", other, what=what)
    return dtype


def pow(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
    """Return `self ** other`. Small constant exponents become multiplications.

    Raises:
        DtypeError: integers to a negative constant power (cast to float first).

    Example:
        >>> (Tensor([1.0, 2.0, 3.0]) ** 2).tolist()
        [1.0, 4.0, 9.0]
    """
    dtype = promoted([self, as_operand(self, other)])
    if is_bool(dtype):
        raise dtype_refusal(self, "numbers", other, what="power")
    if is_complex(dtype):
        return _complex_pow(self, other, reverse)
    if not reverse and isinstance(other, (int, float)) and (simple := _simple_pow(self, other)) is not None:
        return simple
    x, y = operand_nodes(self, other)
    x, y = (y, x) if reverse else (x, y)
    return self._like(x.alu(Ops.POW, y) if is_float(x.dtype) else _integer_pow(x, y), other)


def _complex_pow(x: Tensor, other: Any, reverse: bool) -> Tensor:
    is_whole = isinstance(other, (int, float)) and float(other).is_integer()
    if is_whole and not reverse and abs(other) <= _MOST_PRODUCTS:
        return apply(lambda z: exponentials.power_of_integer(z, int(other)), x)
    base, exponent = (parts_of(x._like(u, other)) for u in operand_nodes(x, other))
    return joined(*(exponentials.power(exponent, base) if reverse else exponentials.power(base, exponent)))


def _simple_pow(x: Tensor, exponent: int | float) -> Tensor | None:
    if is_float(x.dtype) and exponent == 0.5:
        return x._like(x._graph.sqrt())
    if exponent != exponent or not float(exponent).is_integer() or abs(exponent) > 8:
        return None
    if exponent < 0 and not is_float(x.dtype):
        if isinstance(exponent, float):
            return None
        raise DtypeError(
            f"{x.dtype.name} to the power of {exponent} is no integer. Cast to a float dtype first, "
            f"or write {float(exponent)}."
        )
    base = operand_nodes(x, exponent)[0]
    if not exponent:
        # a number alone would have no gradient, not even 0
        never = UOp.const(dtypes.bool, False).reshape((1,) * x.ndim).expand(x.shape)
        return x._like(never.where(base, base.const_like(1)))
    out = base
    # by squaring, from the bit behind the greatest one on
    for bit in f"{abs(int(exponent)):b}"[1:]:
        out = out * out
        if bit == "1":
            out = out * base
    return x._like(out.reciprocal() if exponent < 0 else out)


def _float_remainder(x: UOp, y: UOp) -> UOp:
    rest = x.fmod(y)
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    # a zero of either sign, with the derivatives of the remainder
    zero = (y < 0.0).where(-(rest.detach() - rest), rest - rest.detach())
    return other_side.where(rest + y, rest.eq(0.0).where(zero, rest))


def _float_quotient(x: UOp, y: UOp) -> UOp:
    """Return the floor quotient from the remainder, as rounding `x / y` may exceed it."""
    rest, ratio = x.fmod(y), x / y
    # a whole number but for its rounding
    quotient = (x - rest) / y
    whole = quotient.trunc()
    whole = (quotient - whole > 0.5).where(whole + 1.0, (quotient - whole < -0.5).where(whole - 1.0, whole))
    whole = whole.eq(0.0).where(ratio * 0.0, whole)  # a zero with the sign of the ratio
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    return y.eq(0.0).where(ratio, other_side.where(whole - 1.0, whole))


def _rounded_to_zero(x: UOp, y: UOp, down: UOp) -> UOp:
    """Return the quotient truncated as in C, from `down`, the floor as in Python."""
    # up by one where something is left of a negative quotient; by zero everything is left
    left = (x - down * y).ne(0)
    return (left & y.ne(0) & (x < 0).ne(y < 0)).where(down + 1, down)


def _integer_pow(x: UOp, y: UOp) -> UOp:
    """Return `x ** y` of integers by squaring, bit by bit; wraps like multiplication."""
    out = x.const_like(1)
    for bit in range(x.dtype.itemsize * 8 - (not is_unsigned(x.dtype))):
        chosen = (y & (1 << bit)).ne(0)
        out = chosen.where(out * x, out)
        x = x * x
    return out
