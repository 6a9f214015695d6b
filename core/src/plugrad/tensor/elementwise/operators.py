"""Python's operators, and arithmetic in place."""

from __future__ import annotations

from collections.abc import Callable

from plugrad.dtype import Number
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.elementwise.operands import as_tensor_operand, binary
from plugrad.uop import Ops, UOp


# these two directly: a name of its own costs a call, and the check of its flags another
def __add__(self: Tensor, other: Tensor | Number) -> Tensor:
    return binary(self, Ops.ADD, other)


def __radd__(self: Tensor, other: Number) -> Tensor:
    return binary(self, Ops.ADD, other, reverse=True)


def __rsub__(self: Tensor, other: Number) -> Tensor:
    return self.sub(other, reverse=True)


def __rmul__(self: Tensor, other: Number) -> Tensor:
    return binary(self, Ops.MUL, other, reverse=True)


def __rtruediv__(self: Tensor, other: Number) -> Tensor:
    return self.div(other, reverse=True)


def __rfloordiv__(self: Tensor, other: Number) -> Tensor:
    return self.floordiv(other, reverse=True)


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


def __rlshift__(self: Tensor, other: Number) -> Tensor:
    return as_tensor_operand(self, other).lshift(self)


def __rrshift__(self: Tensor, other: Number) -> Tensor:
    return as_tensor_operand(self, other).rshift(self)


def may_be_numbers(x: object) -> bool:
    """Say whether `==` compares element by element; other objects are unequal as a whole."""
    return isinstance(x, (TensorBase, UOp, int, float, complex, list, tuple)) or hasattr(x, "__array__")


def update_in_place(x: Tensor, result: Tensor, other: Tensor | Number) -> Tensor:
    """Write a result into `x`; return the result itself where a gradient is needed."""
    is_asked = isinstance(other, TensorBase) and other.requires_grad and not x._forgets
    if x._is_tracked or is_asked:
        return result
    return x.assign(result)


def in_place(
    name: str, operator: Callable[[Tensor, Tensor | Number], Tensor]
) -> Callable[[Tensor, Tensor | Number], Tensor]:
    """Return the operator `name`, which writes its result into its first operand."""

    def operate(self: Tensor, other: Tensor | Number) -> Tensor:
        return update_in_place(self, operator(self, other), other)

    operate.__name__, operate.__qualname__ = name, f"Tensor.{name}"
    return operate
