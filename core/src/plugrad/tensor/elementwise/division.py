"""Quotients and remainders, with Python's rounding or C's."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any, Literal

from plugrad.dtype import DType, Number, dtypes, is_bool, is_float, is_inexact, is_unsigned
from plugrad.errors import ArgumentError
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.shapes import is_one_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class DivisionMixin(TensorBase):
    """Division and what it leaves."""

    __slots__ = ()

    def div(
        self: Tensor,
        other: Tensor | Number,
        reverse: bool = False,
        *,
        rounding_mode: Literal["trunc", "floor"] | None = None,
    ) -> Tensor:
        """Return `self / other`: always floats, the default float for two integers.

        Args:
            other: the divisor.
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
            return self._rounded_div(other, reverse, rounding_mode)
        dtype = promoted([self, self._operand(other)])
        return self._binary(
            Ops.FDIV, other, reverse=reverse, dtype=dtype if is_inexact(dtype) else dtypes.default_float
        )

    def _rounded_div(self: Tensor, other: Tensor | Number, reverse: bool, mode: str) -> Tensor:
        if not is_one_of(mode, ("trunc", "floor")):
            raise ArgumentError(
                f"div: there is no rounding_mode {mode!r:.60}; there are 'trunc' and 'floor'."
            )
        down = self.floordiv(other, reverse)
        if mode == "floor":
            return down
        if is_float(down.dtype):
            quotient = self.div(other, reverse)
            return quotient._like(quotient._graph.trunc())
        if is_unsigned(down.dtype):
            return down
        operands = self._operands(other, dtype=down.dtype)
        x, y = reversed(operands) if reverse else operands
        return self._with(_rounded_to_zero(x, y, down._graph), other)

    def floordiv(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
        """Return `self // other`, rounded down as in Python; integers stay integers.

        Of floats it is the whole number next to `(self - self % other) / other`, and `self / other` for a
        divisor of zero. Integers by zero give 0.

        Example:
            >>> (Tensor([-7.0, 7.0]) // 2).tolist()
            [-4.0, 3.0]
        """
        dtype = self._number_dtype("//", other)
        if is_float(dtype):
            x, y = self._operands(other)
            x, y = (y, x) if reverse else (x, y)
            wide = dtypes.float32 if dtype.itemsize < 4 else dtype
            return self._with(_float_quotient(x.cast(wide), y.cast(wide)).cast(dtype), other)
        return self._binary(Ops.FLOORDIV, other, reverse=reverse)

    def mod(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
        """Return `self % other`, with the sign of the divisor as in Python.

        Exact for floats too, except that a negative remainder of a positive divisor (or the reverse) is moved
        by one divisor, which rounds. A remainder of zero has the divisor's sign. By zero it is NaN, and 0 of
        integers.

        Example:
            >>> (Tensor([-7, 7]) % 3).tolist()
            [2, 1]
        """
        dtype = self._number_dtype("%", other)
        if not is_float(dtype):
            return self._binary(Ops.FLOORMOD, other, reverse=reverse)
        x, y = self._operands(other)
        x, y = (y, x) if reverse else (x, y)
        return self._with(_float_remainder(x, y), other)

    def _number_dtype(self: Tensor, what: str, other: Any) -> DType:
        dtype = promoted([self, self._operand(other)])
        if is_bool(dtype):
            raise self._refuse(what, "numbers", other)
        return dtype


def _float_remainder(x: UOp, y: UOp) -> UOp:
    """Return the remainder with the sign of `y`."""
    rest = x.fmod(y)
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    # a zero of either sign, with the derivatives of the remainder
    zero = (y < 0.0).where(-(rest.detach() - rest), rest - rest.detach())
    return other_side.where(rest + y, rest.eq(0.0).where(zero, rest))


def _float_quotient(x: UOp, y: UOp) -> UOp:
    """Return the quotient rounded down, from the remainder: `x / y` may round up to a whole number itself."""
    rest, ratio = x.fmod(y), x / y
    # a whole number but for its rounding
    quotient = (x - rest) / y
    whole = quotient.trunc()
    whole = (quotient - whole > 0.5).where(whole + 1.0, (quotient - whole < -0.5).where(whole - 1.0, whole))
    whole = whole.eq(0.0).where(ratio * 0.0, whole)  # a zero with the sign of the ratio
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    return y.eq(0.0).where(ratio, other_side.where(whole - 1.0, whole))


def _rounded_to_zero(x: UOp, y: UOp, down: UOp) -> UOp:
    """Return the quotient of signed integers as C rounds it, from `down`, which is as Python does."""
    # up by one where something is left of a negative quotient; by zero everything is left
    left = (x - down * y).ne(0)
    return (left & y.ne(0) & (x < 0).ne(y < 0)).where(down + 1, down)
