"""Methods of tensors as functions of the array API, promoting arrays and Python numbers.

A function made here, or written without a docstring, has the summary and the example of its method, whose
`self` is `x` or `x1`, and whose `other` is `x2`.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from plugrad.dtype import DType, Number, element_dtype, is_complex, part_dtype
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted

#: what a function of two operands takes for each
Operand = Tensor | Number

F = TypeVar("F", bound=Callable[..., Any])


def unary(method: Callable[[Tensor], Tensor], name: str = "") -> Callable[[Tensor], Tensor]:
    """Return a method without arguments as a function, by its own name or another."""

    def function(x: Tensor, /) -> Tensor:
        return method(x)

    return named_after(method, function, name)


def binary(
    method: Callable[[Tensor, Tensor], Tensor], name: str = ""
) -> Callable[[Operand, Operand], Tensor]:
    """Return a method of two operands, either maybe a Python number, as a function."""

    def function(x1: Operand, x2: Operand, /) -> Tensor:
        return method(*both(x1, x2))

    return named_after(method, function, name)


def named_after(method: Callable[..., Any], function: F, name: str = "") -> F:
    """Give a function the name, summary and example of the method that it calls."""
    function.__name__ = function.__qualname__ = name or method.__name__
    function.__doc__ = described(method, method.__name__)
    return function


def described(method: object, name: str) -> str:
    """Return the summary and example of a method, and where its full docstring is."""
    summary, _, rest = (method.__doc__ or "").partition("\n\n")
    _, mark, example = rest.partition("    Example:")
    return f"{summary}\n\n    See `Tensor.{name}`.\n\n{mark}{example}"


def describe_all(namespace: dict[str, Any]) -> None:
    """Describe the functions in a module's `__all__` that have no docstring, as their methods."""
    for name in namespace["__all__"]:
        if inspect.isfunction(function := namespace[name]):
            function.__doc__ = function.__doc__ or described(getattr(Tensor, name), name)


def check_keeps_imaginary(x: Tensor, dtype: DType) -> None:
    """Raise DtypeError where real numbers would be made of complex ones."""
    if is_complex(x.dtype) and not is_complex(element_dtype(dtype)):
        raise DtypeError(f"{x.dtype.name} as {dtype!r:.60}: the imaginary parts would be lost. Take real(x).")


def both(x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    """Return two operands, at most one a Python number, as tensors of one dtype.

    Beside a complex one a real operand stays real: methods compute with its part alone.
    """
    dtype = promoted([x1, x2])
    device = next((x.device for x in (x1, x2) if isinstance(x, Tensor)), None)
    if device is None:
        raise DtypeError(f"two numbers, {x1!r} and {x2!r}: pass a tensor for one of them at least.")

    def made(x: Operand) -> Tensor:
        if isinstance(x, Tensor):
            return x if is_complex(dtype) else x.cast(dtype)
        own = dtype if isinstance(x, complex) or not is_complex(dtype) else part_dtype(dtype)
        return Tensor(x, dtype=own, device=device)

    return made(x1), made(x2)
