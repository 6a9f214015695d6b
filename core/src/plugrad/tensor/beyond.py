"""Operators of tensors beside complex numbers, which no tensor holds."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from plugrad.tensor.compound import Compound

__all__ = ["leaves_complex_numbers"]

T = TypeVar("T")

_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
_REAL = frozenset((bool, int, float))


def leaves_complex_numbers(cls: type[T]) -> type[T]:
    """Leave complex operands of operators to arrays of them, which know what they are beside a tensor."""
    for name in (*_OPERATORS, *(f"r{name}" for name in _OPERATORS), *_COMPARED):
        method = getattr(cls, f"__{name}__", None)
        if method is not None:
            setattr(cls, f"__{name}__", _leaving(method))
    return cls


def _leaving(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:

    @wraps(operator)
    def careful(self: Any, other: Any) -> Any:
        if type(other) is type(self) or type(other) in _REAL:
            return operator(self, other)
        if isinstance(other, Compound):
            return NotImplemented
        return operator(self, other)

    return careful
