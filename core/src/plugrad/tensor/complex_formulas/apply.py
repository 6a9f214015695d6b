"""From complex tensors to pairs of real ones, and back."""

from collections.abc import Callable
from typing import Any, TypeVar

from plugrad.tensor.base import TensorBase
from plugrad.tensor.complex_formulas.pairs import Pair
from plugrad.tensor.shapes import expanded

T = TypeVar("T", bound=TensorBase)


def parts_of(z: Any) -> Pair:
    """Return the real and the imaginary parts.

    Example:
        >>> [part.tolist() for part in parts_of(Tensor([1 + 2j]))]
        [[1.0], [2.0]]
    """
    return z._like(z._graph.real()), z._like(z._graph.imag())


def joined(real: Any, imag: Any) -> Any:
    """Return the complex numbers of these parts, which have one shape and one float dtype.

    Example:
        >>> joined(Tensor([1.0]), Tensor([2.0])).tolist()
        [(1+2j)]
    """
    return real._like(real._graph.with_imag(expanded(imag._graph, real.shape)), imag)


def apply(formula: Callable[[Pair], Pair], z: T) -> T:
    """Return a function of complex numbers that is given for pairs.

    Example:
        >>> apply(lambda pair: (pair[1], pair[0]), Tensor([1 + 2j])).tolist()
        [(2+1j)]
    """
    return joined(*formula(parts_of(z)))
