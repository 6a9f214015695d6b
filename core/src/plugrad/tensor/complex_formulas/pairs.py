"""Complex numbers as pairs of real and imaginary tensors: conversions, arithmetic, derivatives.

Infinities and NaN follow annex G of the C standard where the array API leaves it open.

Source: ISO/IEC 9899:2011 (C11), annex G.5.1 and G.6.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, TypeVar

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.custom_gradient import with_backward
from plugrad.tensor.shapes import broadcast_shapes, expanded
from plugrad.uop import Ops

Pair = tuple["Tensor", "Tensor"]


@frozen
class Format:
    """Constants of a float dtype for the formulas.

    Attributes:
        bits: the integer dtype of its width.
        exponents: the bits of the exponent, set.
        epsilon: from 1 to the next number.
        smallest: the least normal number.
        largest: the largest number.
        exponent: exp(exponent) is finite, exp(exponent + 1) is not.
    """

    bits: DType
    exponents: int
    epsilon: float
    smallest: float
    largest: float
    exponent: int


@cache
def format_of(dtype: DType) -> Format:
    """Return the constants of float32 or float64.

    Source: IEEE 754-2019, table 3.5.
    """
    if dtype is dtypes.float64:
        return Format(dtypes.int64, 0x7FF << 52, 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023, 709)
    return Format(dtypes.int32, 0xFF << 23, 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 88)


def multiplied(z: Pair, w: Pair) -> Pair:
    """Return the products."""
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


def unit(z: Pair) -> "tuple[Tensor, Tensor, Tensor]":
    """Scale numbers by powers of two to a larger part in [1, 2]; return both.

    Infinite parts become 1 and the others beside them 0, with their signs, and the power is infinite.
    """
    x, y = z
    form = format_of(x.dtype)
    size = x.abs().maximum(y.abs())
    power = (size.bitcast(form.bits) & form.exponents).bitcast(x.dtype).maximum(form.smallest)
    is_infinite = x.isinf() | y.isinf()
    power = is_infinite.where(math.inf, power)
    one, other = (is_infinite.where(part.isinf().cast(x.dtype).copysign(part), part / power) for part in z)
    return one, other, power


def plain_quotient(z: Pair, w: Pair) -> Pair:
    """Return the quotients: without overflow or underflow on the way.

    A number divided by 0 is infinite, or NaN part by part; by an infinite one it is 0.
    """
    (a, b, above), (c, d, below) = unit(z), unit(w)
    square = c * c + d * d
    real, imag = _rescaled(((a * c + b * d) / square, (b * c - a * d) / square), above, below)
    pole, is_zero = _pole(w)
    return is_zero.where(pole * z[0], real), is_zero.where(pole * z[1], imag)


def plain_inverse(w: Pair, numerator: "Tensor") -> Pair:
    """Return real numbers divided by complex ones, as `plain_quotient` does."""
    (a, _, above), (c, d, below) = unit((numerator, numerator.zeros_like())), unit(w)
    square = c * c + d * d
    real, imag = _rescaled((a * c / square, -(a * d) / square), above, below)
    pole, is_zero = _pole(w)
    return is_zero.where(pole * numerator, real), is_zero.where(math.nan, imag)


def _rescaled(z: Pair, above: "Tensor", below: "Tensor") -> Pair:
    # which of both ways overflows depends on which side of 1 the powers are
    is_alike, ratio = (above > 1) == (below > 1), above / below
    real, imag = (is_alike.where(part * ratio, (part * above) / below) for part in z)
    return real, imag


def _pole(w: Pair) -> Pair:
    """Return infinities with the signs of the real parts, and where a number is 0."""
    return w[0].full_like(math.inf).copysign(w[0]), (w[0] == 0) & (w[1] == 0)


def signed(z: Pair) -> Pair:
    """Return numbers divided by their lengths, and 0 for 0."""
    x, y, _ = unit(z)
    length = x.hypot(y)
    is_zero = length == 0
    length = is_zero.where(1.0, length)
    return is_zero.where(z[0], x / length), is_zero.where(z[1], y / length)


def log_length(z: Pair) -> "Tensor":
    """Return logarithms of lengths, accurate for lengths near 1.

    Example:
        >>> round(log_length((Tensor(1.0), Tensor(1e-3))).item() * 1e7, 4)
        5.0
    """
    x, y = z[0].abs(), z[1].abs()
    form = format_of(x.dtype)
    long, short = x.maximum(y), x.minimum(y)
    is_large, is_small = long > form.largest / 4, long < form.smallest / form.epsilon
    factor = is_large.where(0.25, is_small.where(2.0**60, x.ones_like()))
    length = (x * factor).hypot(y * factor)
    shift = is_large.where(math.log(4.0), is_small.where(-60 * math.log(2.0), x.zeros_like()))
    is_near = (length > 0.7) & (length < 1.4) & ~is_small
    near = _square_less_one(long, short).log1p() / 2
    return is_near.where(near, length.log() + shift)


def _square_less_one(x: "Tensor", y: "Tensor") -> "Tensor":
    """Return x*x + y*y - 1 without cancellation, for x >= y >= 0.

    Source: Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971.
    """
    (x_square, x_error), (y_square, y_error) = _square_exactly(x), _square_exactly(y)
    # exact, as x_square is at least half of 1
    rest = x_square - 1
    total = rest + y_square
    lost = y_square - (total - rest)
    return total + (lost + (x_error + y_error))


def _square_exactly(x: "Tensor") -> Pair:
    """Return squares and their rounding errors."""
    high = _upper_half(x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2 * high * low) + low * low


def _upper_half(x: "Tensor") -> "Tensor":
    form = format_of(x.dtype)
    dropped = 27 if form.bits is dtypes.int64 else 12
    return (x.bitcast(form.bits) & -(1 << dropped)).bitcast(x.dtype)


def divided(z: Pair, w: Pair) -> Pair:
    """Return the quotients, as `plain_quotient` does."""
    inputs = _spread(*z, *w)
    real, imag = with_backward(plain_quotient(inputs[:2], inputs[2:]), inputs, _quotient_gradients)
    return real, imag


def inverted(w: Pair, numerator: "Tensor") -> Pair:
    """Return real numbers divided by complex ones, as `plain_inverse` does."""
    inputs = _spread(numerator, *w)
    real, imag = with_backward(plain_inverse(inputs[1:], inputs[0]), inputs, _quotient_gradients)
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


Function = Callable[[Pair], Pair]


def has_derivative(derivative: Callable[[Pair, Pair], Pair]) -> Callable[[Function], Function]:
    """Return the decorator that gives an analytic function its derivative.

    A formula that chooses between cases has wrong gradients, or NaN, where a case is not chosen.

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


#: A real part, and an imaginary part or None. Beside real numbers both parts are computed alone: no product
#: with an imaginary part of 0 makes an infinity NaN.
Operand = tuple[Any, "Tensor | None"]


def _product(z: Operand, w: Operand) -> Pair:
    real, other = (z[0], w) if z[1] is None else (w[0], z)
    return real * other[0], real * _given(other[1])


def _quotient(z: Operand, w: Operand) -> Pair:
    (a, b), (c, d) = z, w
    if d is None:
        return a / c, _given(b) / c
    return inverted((c, d), a) if b is None else divided((a, b), (c, d))


def _given(*parts: "Tensor | None") -> Any:
    return next(part for part in parts if part is not None)


#: By op, for operands of which one is real; FDIV also for two complex ones.
MIXED: Mapping[Ops, Callable[[Any, Any], Pair]] = {
    Ops.ADD: lambda z, w: (z[0] + w[0], _given(z[1], w[1])),
    Ops.SUB: lambda z, w: (z[0] - w[0], _given(z[1], None if w[1] is None else -w[1])),
    Ops.MUL: _product,
    Ops.FDIV: _quotient,
}


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
