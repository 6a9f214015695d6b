"""Bits of integers, and logic of bools."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plugrad.dtype import Number, is_float, is_int, is_unsigned
from plugrad.tensor.base import TensorBase, promoted
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class BitMixin(TensorBase):
    """Operations on bits, and shifts by any amount."""

    __slots__ = ()

    def bitwise_and(self: Tensor, other: Tensor | Number) -> Tensor:
        """Return the bits set in both; for bools, `and`.

        Example:
            >>> Tensor([6]).bitwise_and(3).tolist()
            [2]
        """
        return self._bits(Ops.AND, other)

    def bitwise_or(self: Tensor, other: Tensor | Number) -> Tensor:
        """Return the bits set in either; for bools, `or`.

        Example:
            >>> Tensor([6]).bitwise_or(3).tolist()
            [7]
        """
        return self._bits(Ops.OR, other)

    def bitwise_xor(self: Tensor, other: Tensor | Number) -> Tensor:
        """Return the bits set in one of both; for bools, `!=`.

        Example:
            >>> Tensor([6]).bitwise_xor(3).tolist()
            [5]
        """
        return self._bits(Ops.XOR, other)

    def bitwise_not(self: Tensor) -> Tensor:
        """Return all bits flipped; for bools, `not`.

        Raises:
            DtypeError: this tensor holds floats.

        Example:
            >>> Tensor([0, -1]).bitwise_not().tolist()
            [-1, 0]
        """
        if is_float(self.dtype):
            raise self._refuse("~", "integers or bools")
        return self._like(~self._graph)

    def lshift(self: Tensor, other: Tensor | Number) -> Tensor:
        """Return `self << other`; bits shifted out are lost, so the dtype's width or more gives 0.

        Raises:
            DtypeError: an operand is no integer.

        Example:
            >>> Tensor([1, 3]).lshift(2).tolist()
            [4, 12]
        """
        x, y = self._shift_operands("<<", other)
        return self._with(_shifted(y, lambda amount: x << amount, x.const_like(0)), other)

    def rshift(self: Tensor, other: Tensor | Number) -> Tensor:
        """Return `self >> other`, which keeps the sign; the dtype's width or more gives 0 or -1.

        Raises:
            DtypeError: an operand is no integer.

        Example:
            >>> Tensor([8, -8]).rshift(2).tolist()
            [2, -2]
        """
        x, y = self._shift_operands(">>", other)
        beyond = x.const_like(0) if is_unsigned(x.dtype) else x >> (x.dtype.itemsize * 8 - 1)
        return self._with(_shifted(y, lambda amount: x >> amount, beyond), other)

    def _bits(self: Tensor, op: Ops, other: Any) -> Tensor:
        if is_float(promoted([self, self._operand(other)])):
            raise self._refuse("bitwise operation", "integers or bools", other)
        return self._binary(op, other)

    def _shift_operands(self: Tensor, what: str, other: Any) -> list[UOp]:
        if not is_int(promoted([self, self._operand(other)])):
            raise self._refuse(what, "integers", other)
        return self._operands(other)


def _shifted(y: UOp, shift: Callable[[UOp], UOp], beyond: UOp) -> UOp:
    """Return `shift(y)` where the amount `y` is less than the width, else `beyond`."""
    width = y.dtype.itemsize * 8
    if y.op is Ops.CONST and 0 <= y.arg < width:
        return shift(y)
    inside = y < width if is_unsigned(y.dtype) else (y < width) & (y >= 0)
    return inside.where(shift(inside.where(y, y.const_like(0))), beyond)
