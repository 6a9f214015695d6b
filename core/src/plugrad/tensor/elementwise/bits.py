"""Bits of integers, and logic of bools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugrad.dtype import Number, is_float, is_int, is_unsigned
from plugrad.tensor.base import Tensor, promoted
from plugrad.tensor.elementwise.operands import as_operand, binary, dtype_refusal, operand_nodes
from plugrad.uop import Ops, UOp


def bitwise_and(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the bits set in both; for bools, `and`.

    Example:
        >>> Tensor([6]).bitwise_and(3).tolist()
        [2]
    """
    return _bits(self, Ops.AND, other)


def bitwise_or(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the bits set in either; for bools, `or`.

    Example:
        >>> Tensor([6]).bitwise_or(3).tolist()
        [7]
    """
    return _bits(self, Ops.OR, other)


def bitwise_xor(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the bits set in one of both; for bools, `!=`.

    Example:
        >>> Tensor([6]).bitwise_xor(3).tolist()
        [5]
    """
    return _bits(self, Ops.XOR, other)


def bitwise_not(self: Tensor) -> Tensor:
    """Return all bits flipped; for bools, `not`.

    Raises:
        DtypeError: this tensor holds floats.

    Example:
        >>> Tensor([0, -1]).bitwise_not().tolist()
        [-1, 0]
    """
    if is_float(self.dtype):
        raise dtype_refusal(self, "integers or bools", what="~")
    return self._like(~self._graph)


def lshift(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self << other`; bits shifted out are lost, so the dtype's width or more gives 0.

    Raises:
        DtypeError: an operand is no integer.

    Example:
        >>> Tensor([1, 3]).lshift(2).tolist()
        [4, 12]
    """
    x, y = _shift_operands(self, "<<", other)
    return self._like(_guarded_shift(y, lambda amount: x << amount, x.const_like(0)), other)


def rshift(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self >> other`, which keeps the sign; the dtype's width or more gives 0 or -1.

    Raises:
        DtypeError: an operand is no integer.

    Example:
        >>> Tensor([8, -8]).rshift(2).tolist()
        [2, -2]
    """
    x, y = _shift_operands(self, ">>", other)
    beyond = x.const_like(0) if is_unsigned(x.dtype) else x >> (x.dtype.itemsize * 8 - 1)
    return self._like(_guarded_shift(y, lambda amount: x >> amount, beyond), other)


def _bits(x: Tensor, op: Ops, other: Any) -> Tensor:
    if is_float(promoted([x, as_operand(x, other)])):
        raise dtype_refusal(x, "integers or bools", other, what="bitwise operation")
    return binary(x, op, other)


def _shift_operands(x: Tensor, what: str, other: Any) -> list[UOp]:
    if not is_int(promoted([x, as_operand(x, other)])):
        raise dtype_refusal(x, "integers", other, what=what)
    return operand_nodes(x, other)


def _guarded_shift(y: UOp, shift: Callable[[UOp], UOp], beyond: UOp) -> UOp:
    """Return `shift(y)` where the amount `y` is less than the width, else `beyond`."""
    width = y.dtype.itemsize * 8
    if y.op is Ops.CONST and 0 <= y.arg < width:
        return shift(y)
    inside = y < width if is_unsigned(y.dtype) else (y < width) & (y >= 0)
    return inside.where(shift(inside.where(y, y.const_like(0))), beyond)
