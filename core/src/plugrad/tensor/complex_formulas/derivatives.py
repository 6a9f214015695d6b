"""Gradients of analytic functions, by their derivatives.

Formulas that choose between cases by values have wrong gradients, or NaN, where a case is not chosen.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from plugrad.tensor.complex_formulas.pairs import Pair, multiplied
from plugrad.tensor.complex_formulas.quotients import inverted
from plugrad.tensor.custom import with_backward

Function = Callable[[Pair], Pair]


def has_derivative(derivative: Callable[[Pair, Pair], Pair]) -> Callable[[Function], Function]:
    """Return the decorator that gives an analytic function its derivative.

    What flows back is multiplied by the conjugate of that: gradients are of the real and the imaginary part.
    Source: the Cauchy-Riemann equations.

    Args:
        derivative: takes a number and the function of it.

    Example:
        >>> square = has_derivative(lambda z, w: (2 * z[0], 2 * z[1]))(lambda z: multiplied(z, z))
        >>> x, y = Tensor(3.0, requires_grad=True), Tensor(4.0, requires_grad=True)
        >>> [part.item() for part in square((x, y))[0].gradient(x, y)]
        [6.0, -8.0]
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def apply(z: Pair) -> Pair:
            real, imag = with_backward(function(z), z, _flow)
            return real, imag

        def _flow(gradients: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> Pair:
            real, imag = derivative((inputs[0], inputs[1]), (outputs[0], outputs[1]))
            return multiplied((gradients[0], gradients[1]), (real, -imag))

        return apply

    return decorate


def over(z: Pair, times: float = 1.0) -> Pair:
    """Return `times` divided by a number."""
    return inverted(z, z[0].full_like(times))
