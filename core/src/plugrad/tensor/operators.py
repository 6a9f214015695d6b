"""Python's operators on tensors."""

from typing import Self

from plugrad.dtype import ConstType
from plugrad.tensor.arithmetic import ArithmeticMixin
from plugrad.tensor.base import TensorBase
from plugrad.tensor.bits import BitMixin
from plugrad.tensor.choices import ChoiceMixin
from plugrad.tensor.comparing import ComparingMixin
from plugrad.tensor.division import DivisionMixin
from plugrad.tensor.powers import PowerMixin
from plugrad.uop.ops import Ops


class OperatorMixin(ComparingMixin, ArithmeticMixin, DivisionMixin, PowerMixin, BitMixin, ChoiceMixin):
    """`+`, `<` and their like: the methods that they stand for, with either side first."""

    __slots__ = ()

    # these two directly: a name of its own costs a call, and the check of its flags another
    def __add__(self, other: Self | ConstType) -> Self:
        return self._binary(Ops.ADD, other)

    def __radd__(self, other: ConstType) -> Self:
        return self._binary(Ops.ADD, other, reverse=True)

    def __sub__(self, other: Self | ConstType) -> Self:
        return self.sub(other)

    def __rsub__(self, other: ConstType) -> Self:
        return self.sub(other, reverse=True)

    def __mul__(self, other: Self | ConstType) -> Self:
        return self._binary(Ops.MUL, other)

    def __rmul__(self, other: ConstType) -> Self:
        return self._binary(Ops.MUL, other, reverse=True)

    def __truediv__(self, other: Self | ConstType) -> Self:
        return self.div(other)

    def __rtruediv__(self, other: ConstType) -> Self:
        return self.div(other, reverse=True)

    def __floordiv__(self, other: Self | ConstType) -> Self:
        return self.floordiv(other)

    def __rfloordiv__(self, other: ConstType) -> Self:
        return self.floordiv(other, reverse=True)

    def __mod__(self, other: Self | ConstType) -> Self:
        return self.mod(other)

    def __rmod__(self, other: ConstType) -> Self:
        return self.mod(other, reverse=True)

    def __divmod__(self, other: Self | ConstType) -> tuple[Self, Self]:
        return self.floordiv(other), self.mod(other)

    def __rdivmod__(self, other: ConstType) -> tuple[Self, Self]:
        return self.floordiv(other, reverse=True), self.mod(other, reverse=True)

    def __pow__(self, other: Self | ConstType) -> Self:
        return self.pow(other)

    def __rpow__(self, other: ConstType) -> Self:
        return self.pow(other, reverse=True)

    def __and__(self, other: Self | ConstType) -> Self:
        return self.bitwise_and(other)

    def __rand__(self, other: ConstType) -> Self:
        return self.bitwise_and(other)

    def __or__(self, other: Self | ConstType) -> Self:
        return self.bitwise_or(other)

    def __ror__(self, other: ConstType) -> Self:
        return self.bitwise_or(other)

    def __xor__(self, other: Self | ConstType) -> Self:
        return self.bitwise_xor(other)

    def __rxor__(self, other: ConstType) -> Self:
        return self.bitwise_xor(other)

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __lshift__(self, other: Self | ConstType) -> Self:
        return self.lshift(other)

    def __rlshift__(self, other: ConstType) -> Self:
        return self._tensor_operand(other).lshift(self)

    def __rshift__(self, other: Self | ConstType) -> Self:
        return self.rshift(other)

    def __rrshift__(self, other: ConstType) -> Self:
        return self._tensor_operand(other).rshift(self)

    def __lt__(self, other: Self | ConstType) -> Self:
        return self.lt(other)

    def __gt__(self, other: Self | ConstType) -> Self:
        return self.gt(other)

    def __le__(self, other: Self | ConstType) -> Self:
        return self.le(other)

    def __ge__(self, other: Self | ConstType) -> Self:
        return self.ge(other)

    # what is no number at all is not equal as a whole, as in PyTorch: `t == None` is False
    def __eq__(self, other: Self | ConstType) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.eq(other)

    def __ne__(self, other: Self | ConstType) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.ne(other)

    # tensors are keys by identity
    __hash__ = object.__hash__


def _may_be_numbers(x: object) -> bool:
    return isinstance(x, (TensorBase, int, float, list, tuple)) or hasattr(x, "__array__")
