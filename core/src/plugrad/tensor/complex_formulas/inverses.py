"""Inverse sines, cosines and tangents of pairs, hyperbolic or not.

Source: Hull, Fairgrieve and Tang, "Implementing the Complex Arcsine and Arccosine Functions Using Exception
Handling", ACM TOMS 23 (3), 1997; Kahan, "Branch Cuts for Complex Elementary Functions", 1987, CATANH. What
infinities and NaN give: Python array API standard 2024.12.
"""

import math

from plugrad.tensor.base import Tensor
from plugrad.tensor.complex_formulas.exponentials import root, turned, turned_back
from plugrad.tensor.complex_formulas.pairs import (
    Pair,
    format_of,
    has_derivative,
    log_length,
    multiplied,
    over,
    plain_quotient,
)

# beyond this asin(b) loses digits
_STEEP = 0.6417
# beyond this log(a + sqrt(a*a - 1)) loses none
_HIGH = 1.5


def _arcs(x: "Tensor", y: "Tensor") -> "tuple[Tensor, Tensor, Tensor]":
    """Return the real parts of asin and acos, and the size of their imaginary part.

    For numbers without a negative part.
    """
    form = format_of(x.dtype)
    right, left = (x + 1).hypot(y), (x - 1).hypot(y)
    a = (right + left) / 2
    b, square, above = x / a, y * y, a + x
    is_inside = x <= 1
    inside = (above * (square / (right + (x + 1)) + (left + (1 - x))) / 2).sqrt()
    outside = y * ((above / (right + (x + 1)) + above / (left + (x - 1))) / 2).sqrt()
    opposite = is_inside.where(inside, outside)
    is_flat = b <= _STEEP
    sine, cosine = is_flat.where(b.asin(), x.atan2(opposite)), is_flat.where(b.acos(), opposite.atan2(x))
    more = (square / (right + (x + 1)) + (x < 1).where(square / (left + (1 - x)), left + (x - 1))) / 2
    height = (a <= _HIGH).where((more + (more * (a + 1)).sqrt()).log1p(), (a + (a * a - 1).sqrt()).log())
    # where the square of y is lost
    is_low = (x < 1) & (y <= form.epsilon * (1 - x))
    height = is_low.where(y / ((1 - x) * (1 + x)).sqrt(), height)
    # where that of x is
    is_far = x.hypot(y) > 1 / form.epsilon
    sine, cosine = is_far.where(x.atan2(y), sine), is_far.where(y.atan2(x), cosine)
    height = is_far.where(log_length((x, y)) + math.log(2.0), height)
    is_middle = x == 0
    return is_middle.where(0.0, sine), is_middle.where(math.pi / 2, cosine), height


@has_derivative(lambda z, w: over(_sides(z)))
def asin(z: Pair) -> Pair:
    """Return inverse sines."""
    sine, _, height = _arcs(z[0].abs(), z[1].abs())
    return sine.copysign(z[0]), height.copysign(z[1])


@has_derivative(lambda z, w: over(_sides(turned(z))))
def asinh(z: Pair) -> Pair:
    """Return inverse hyperbolic sines."""
    sine, _, height = _arcs(z[1].abs(), z[0].abs())
    return height.copysign(z[0]), sine.copysign(z[1])


@has_derivative(lambda z, w: over(_sides(z), -1.0))
def acos(z: Pair) -> Pair:
    """Return inverse cosines."""
    _, cosine, height = _arcs(z[0].abs(), z[1].abs())
    return _mirrored(cosine, z[0]), height.copysign(-z[1])


@has_derivative(lambda z, w: over(multiplied(root((z[0] - 1, z[1])), root((z[0] + 1, z[1])))))
def acosh(z: Pair) -> Pair:
    """Return inverse hyperbolic cosines, whose real parts are not negative."""
    _, cosine, height = _arcs(z[0].abs(), z[1].abs())
    return height, _mirrored(cosine, z[0]).copysign(z[1])


def _sides(z: Pair) -> Pair:
    return multiplied(root((1 - z[0], -z[1])), root((1 + z[0], z[1])))


def _mirrored(angle: "Tensor", x: "Tensor") -> "Tensor":
    return (x < 0).where(math.pi - angle, angle)


@has_derivative(lambda z, w: over(multiplied((1 - z[0], -z[1]), (1 + z[0], z[1]))))
def atanh(z: Pair) -> Pair:
    """Return inverse hyperbolic tangents."""
    x, y = z[0].abs(), z[1].abs()
    epsilon = format_of(x.dtype).epsilon
    real = (4 * x / ((x - 1) * (x - 1) + y * y)).log1p() / 4
    imag = (2 * y).atan2((1 - x) * (1 + x) - y * y) / 2
    is_pole = (x == 1) & (y < epsilon)
    real = is_pole.where((math.log(2.0) - y.log()) / 2, real)
    is_far = x.hypot(y) > 1 / epsilon
    real = is_far.where(plain_quotient((x.ones_like(), x.zeros_like()), (x, y))[0], real)
    imag = is_far.where(y.isnan().where(y, math.pi / 2), imag)
    return (x == 0).where(0.0, real).copysign(z[0]), imag.copysign(z[1])


def atan(z: Pair) -> Pair:
    """Return inverse tangents."""
    return turned_back(atanh(turned(z)))
