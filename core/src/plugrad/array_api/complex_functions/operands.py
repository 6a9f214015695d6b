"""What functions of complex arrays take."""

from typing import Any

from plugrad.array_api.complexes.array import Array, Complex, as_complex
from plugrad.array_api.complexes.dtypes import ComplexDType
from plugrad.dtype import DType
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor

__all__ = ["AnyDType", "Operand", "both", "is_complex", "joined"]

AnyDType = DType | ComplexDType
#: what a function of two operands takes for each
Operand = Tensor | Complex | bool | int | float | complex


def is_complex(x: Any) -> bool:
    """Say whether a function has to do with complex numbers, by one of its arguments.

    Example:
        >>> is_complex(Tensor([1.0])), is_complex([Tensor([1.0]), 2j])
        (False, True)
    """
    if isinstance(x, (Complex, ComplexDType, complex)):
        return True
    return isinstance(x, (list, tuple)) and any(map(is_complex, x))  # pyright: ignore[reportUnknownArgumentType]


def both(x1: Operand, x2: Operand) -> tuple[Any, Any]:
    """Return two operands, one of them complex, for an operator: an array is one at least.

    Raises:
        DtypeError: both are numbers.
    """
    if not isinstance(x1, (Tensor, Complex)) and not isinstance(x2, (Tensor, Complex)):
        raise DtypeError(f"two numbers, {x1!r} and {x2!r}: pass an array for one of them at least.")
    return x1, x2


def joined(arrays: "list[Array] | tuple[Array, ...]") -> list[Complex]:
    """Return arrays as complex ones of one dtype."""
    wide = [as_complex(x) for x in arrays]
    longest = max((x.dtype for x in wide), key=lambda dtype: dtype.itemsize)
    return [x.cast(longest) for x in wide]
