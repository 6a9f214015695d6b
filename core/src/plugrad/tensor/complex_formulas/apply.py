"""From complex tensors to pairs of real ones, and back."""

from collections.abc import Callable
from typing import Any, TypeVar

from plugrad.tensor.base import TensorBase
from plugrad.tensor.complex_formulas.pairs import Pair
from plugrad.tensor.shapes import expanded

T = TypeVar("T", bound=TensorBase)


def parts_of(z: Any) -> Pair:
    """Return the real and the imaginary parts."""
    return z._like(z._graph.real()), z._like(z._graph.imag())


def joined(real: Any, imag: Any) -> Any:
    """Return the complex numbers of these parts, which have one shape and one float dtype."""
    return real._like(real._graph.with_imag(expanded(imag._graph, real.shape)), imag)


def apply(formula: Callable[[Pair], Pair], z: T) -> T:
    """Return a function of complex numbers that is given for pairs."""
    return joined(*formula(parts_of(z)))
