"""Python's operators, and arithmetic in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from plugrad.dtype import Number
from plugrad.tensor.base import TensorBase
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class OperatorMixin(TensorBase):
    """Python's operators, and arithmetic that writes to this tensor."""

    __slots__ = ()

    # these two directly: a name of its own costs a call, and the check of its flags another
    def __add__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._binary(Ops.ADD, other)

    def __radd__(self: Tensor, other: Number) -> Tensor:
        return self._binary(Ops.ADD, other, reverse=True)

    def __sub__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.sub(other)

    def __rsub__(self: Tensor, other: Number) -> Tensor:
        return self.sub(other, reverse=True)

    def __mul__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._binary(Ops.MUL, other)

    def __rmul__(self: Tensor, other: Number) -> Tensor:
        return self._binary(Ops.MUL, other, reverse=True)

    def __truediv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.div(other)

    def __rtruediv__(self: Tensor, other: Number) -> Tensor:
        return self.div(other, reverse=True)

    def __floordiv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.floordiv(other)

    def __rfloordiv__(self: Tensor, other: Number) -> Tensor:
        return self.floordiv(other, reverse=True)

    def __mod__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.mod(other)

    def __rmod__(self: Tensor, other: Number) -> Tensor:
        return self.mod(other, reverse=True)

    def __divmod__(self: Tensor, other: Tensor | Number) -> tuple[Tensor, Tensor]:
        return self.floordiv(other), self.mod(other)

    def __rdivmod__(self: Tensor, other: Number) -> tuple[Tensor, Tensor]:
        return self.floordiv(other, reverse=True), self.mod(other, reverse=True)

    def __pow__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.pow(other)

    def __rpow__(self: Tensor, other: Number) -> Tensor:
        return self.pow(other, reverse=True)

    def __and__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.bitwise_and(other)

    def __rand__(self: Tensor, other: Number) -> Tensor:
        return self.bitwise_and(other)

    def __or__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.bitwise_or(other)

    def __ror__(self: Tensor, other: Number) -> Tensor:
        return self.bitwise_or(other)

    def __xor__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.bitwise_xor(other)

    def __rxor__(self: Tensor, other: Number) -> Tensor:
        return self.bitwise_xor(other)

    def __invert__(self: Tensor) -> Tensor:
        return self.bitwise_not()

    def __lshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.lshift(other)

    def __rlshift__(self: Tensor, other: Number) -> Tensor:
        return self._tensor_operand(other).lshift(self)

    def __rshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.rshift(other)

    def __rrshift__(self: Tensor, other: Number) -> Tensor:
        return self._tensor_operand(other).rshift(self)

    def __lt__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.lt(other)

    def __gt__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.gt(other)

    def __le__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.le(other)

    def __ge__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self.ge(other)

    # what is no number at all is not equal as a whole, as in PyTorch: `t == None` is False
    def __eq__(self: Tensor, other: Tensor | Number) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.eq(other)

    def __ne__(self: Tensor, other: Tensor | Number) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.ne(other)

    # tensors are keys by identity
    __hash__ = object.__hash__

    def _updated(self: Tensor, result: Tensor, other: Tensor | Number) -> Tensor:
        is_asked = isinstance(other, OperatorMixin) and other.requires_grad and not self._forgets
        if self._is_tracked or is_asked:
            return result
        return self.assign(result)

    def __iadd__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self + other, other)

    def __isub__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self - other, other)

    def __imul__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self * other, other)

    def __itruediv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self / other, other)

    def __ifloordiv__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self // other, other)

    def __imod__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self % other, other)

    def __ipow__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self**other, other)

    def __iand__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self & other, other)

    def __ior__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self | other, other)

    def __ixor__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self ^ other, other)

    def __ilshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self << other, other)

    def __irshift__(self: Tensor, other: Tensor | Number) -> Tensor:
        return self._updated(self >> other, other)


def _may_be_numbers(x: object) -> bool:
    return isinstance(x, (TensorBase, int, float, complex, list, tuple)) or hasattr(x, "__array__")
