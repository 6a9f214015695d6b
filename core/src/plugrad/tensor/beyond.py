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
    """Leave complex operands of operators to arrays of them, which know what they are beside a tensor.

    Beside a complex number of Python or NumPy the tensor becomes such an array first.

    Example:
        >>> (Tensor([1.0]) + 2j).tolist()
        [(1+2j)]
    """
    for name in (*_OPERATORS, *(f"r{name}" for name in _OPERATORS), *_COMPARED):
        method = getattr(cls, f"__{name}__", None)
        if method is not None:
            setattr(cls, f"__{name}__", _leaving(method))
    return cls


def _leaving(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    name = operator.__name__

    @wraps(operator)
    def careful(self: Any, other: Any) -> Any:
        if type(other) is type(self) or type(other) in _REAL:
            return operator(self, other)
        if isinstance(other, Compound):
            return NotImplemented
        if isinstance(other, complex) or getattr(getattr(other, "dtype", None), "kind", None) == "c":
            namespace = self.__array_namespace__()
            wide = namespace.asarray(self, dtype=namespace.result_type(self, 1j))
            return getattr(wide, name)(other)
        return operator(self, other)

    return careful
