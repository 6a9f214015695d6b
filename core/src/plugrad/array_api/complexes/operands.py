"""The operands of operators of complex numbers: as arrays, with parts of one dtype."""

from collections.abc import Callable
from typing import Any, TypeVar

from plugrad.array_api.complexes.dtypes import complex64, complex128
from plugrad.array_api.complexes.host import holds_complex, pair_of_array
from plugrad.array_api.complexes.parts import ComplexParts
from plugrad.dtype import dtypes, least_upper_dtype
from plugrad.tensor import Tensor
from plugrad.tensor.complex_formulas.pairs import Pair

__all__ = ["bilinear", "in_shape_with", "met", "taken", "wide"]

P = TypeVar("P", bound=ComplexParts)


def taken(x: Any, beside: P) -> Tensor | P | None:
    """Return an operand as an array; numbers have the dtype of the array `beside`. None for what is none.

    Example:
        >>> taken(2j, Complex(Tensor([1.0]), Tensor([2.0]))).item()
        2j
    """
    array: Any = x
    if isinstance(x, (ComplexParts, Tensor)):
        return array
    component = beside.real.dtype
    if hasattr(x, "__array__") and not isinstance(x, type):
        if getattr(x, "ndim", None) != 0:
            return (
                beside.of_parts(*pair_of_array(x, beside.device))
                if holds_complex(x)
                else Tensor(x, device=beside.device)
            )
        x = x.item()
    if isinstance(x, complex):
        real, imag = (Tensor(part, dtype=component, device=beside.device) for part in (x.real, x.imag))
        return beside.of_parts(real, imag)
    return Tensor(x, dtype=component, device=beside.device) if isinstance(x, (int, float)) else None


def met(x: P, y: Tensor | ComplexParts) -> tuple[P, Any]:
    """Return two operands with parts of one dtype.

    Example:
        >>> z = Complex(Tensor([1.0]), Tensor([2.0]))
        >>> [operand.dtype for operand in met(z, Tensor([1.0], dtype="float64"))]
        [complex128, dtypes.float64]
    """
    theirs = y.real.dtype if isinstance(y, ComplexParts) else y.dtype
    component = least_upper_dtype(x.real.dtype, theirs)
    dtype = complex128 if component is dtypes.float64 else complex64
    return x.cast(dtype), y.cast(dtype) if isinstance(y, ComplexParts) else y.cast(component)


def bilinear(x: Tensor | P, y: Tensor | P, product: Callable[[Tensor, Tensor], Tensor]) -> P:
    """Return a product that is linear in both of its factors, of arrays of which one is complex at least.

    Example:
        >>> x = Complex(Tensor([1.0, 2.0]), Tensor([0.0, 1.0]))
        >>> bilinear(x, x, lambda one, other: one @ other).item()
        (4+4j)
    """
    if isinstance(x, Tensor):
        theirs: Any = y
        right, left = met(theirs, x)
        c, d = right.parts()
        return right.of_parts(product(left, c), product(left, d))
    left, right = met(x, y)
    a, b = left.parts()
    if not isinstance(right, ComplexParts):
        return left.of_parts(product(a, right), product(b, right))
    c, d = right.parts()
    return left.of_parts(product(a, c) - product(b, d), product(a, d) + product(b, c))


def in_shape_with(x: Tensor, other: Tensor) -> Tensor:
    """Return the values of `x` in the shape that it has with `other`; adding 0 would lose the sign of -0.

    Example:
        >>> in_shape_with(Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]])).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """
    return x * other.ones_like()


def wide(x: Tensor) -> Pair:
    """Return real numbers as a pair.

    Example:
        >>> [part.tolist() for part in wide(Tensor([1.0, 2.0]))]
        [[1.0, 2.0], [0.0, 0.0]]
    """
    return x, x.zeros_like()
