"""Quotients with explicit derivatives, as rescaling formulas have NaN gradients in branches not taken."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plugrad.tensor.complex_formulas import pairs
from plugrad.tensor.complex_formulas.pairs import Pair, multiplied
from plugrad.tensor.custom import with_backward
from plugrad.tensor.shapes import broadcast_shapes

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


def divided(z: Pair, w: Pair) -> Pair:
    """Return the quotients, as `pairs.divided` does."""
    inputs = _spread(*z, *w)
    real, imag = with_backward(pairs.divided(inputs[:2], inputs[2:]), inputs, _quotient_gradients)
    return real, imag


def inverted(w: Pair, numerator: "Tensor") -> Pair:
    """Return real numbers divided by complex ones, as `pairs.inverted` does."""
    inputs = _spread(numerator, *w)
    real, imag = with_backward(pairs.inverted(inputs[1:], inputs[0]), inputs, _quotient_gradients)
    return real, imag


def reciprocal(z: Pair) -> Pair:
    """Return one divided by each number."""
    return inverted(z, z[0].ones_like())


def _spread(*parts: "Tensor") -> Any:
    shape = broadcast_shapes(*(part.shape for part in parts))
    return tuple([part.expand(shape) for part in parts])


def _quotient_gradients(
    gradients: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]
) -> Sequence[Any]:
    """Return the gradients of the numerator's parts and of the denominator."""
    *numerator, real, imag = inputs
    of_numerator = divided((gradients[0], gradients[1]), (real, -imag))
    x, y = multiplied(of_numerator, (outputs[0], -outputs[1]))
    return [*of_numerator[: len(numerator)], -x, -y]
