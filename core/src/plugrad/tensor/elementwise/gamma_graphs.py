"""lgamma, digamma and the inverse error function on graph nodes.

As in `special_graphs`, no branch overflows that is not taken. All take and return floats of 32 or 64 bits.
"""

import math

from plugrad.dtype import dtypes
from plugrad.tensor.elementwise import special_graphs as graphs
from plugrad.uop import UOp

# the Taylor series of lgamma(2 + t): 1 - Euler's constant, then (-1)**k * (zeta(k) - 1) / k
# Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.33.
_SERIES = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
    -0.00022315475845357936, 9.945751278180853e-05, -4.492623673813314e-05, 2.0507212775670694e-05,
    -9.439488275268395e-06, 4.374866789907487e-06, -2.039215753801366e-06, 9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554667e-07, -1.00432248239681e-07, 4.769810169363981e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10,
)  # fmt: skip
# Bernoulli's numbers B(2), B(4), ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)

# erfinv(x) / x as polynomials: in 2w/5 - 1 for w = -log(1 - x*x) up to 5, and above that in sqrt(w), taken
# from a range to -1..1. Relative errors with rounded coefficients: 9e-8, 2e-8 and, to the last number of
# float64 below 1, 1e-6.
# Substitution: Giles, Approximating the erfinv function, GPU Computing Gems 2 (2011).
_ERFINV_NEAR = (
    1.50140936, 0.616600715, -0.0261086674, -0.0195740919, 0.00852907967, -0.000484701939, -0.000845386904,
    0.000284527993, 3.54502019e-05, -3.35352192e-05,
)  # fmt: skip
_FAR32, _FAR64 = (math.sqrt(5.0), 4.02), (math.sqrt(5.0), 6.15)
_ERFINV_FAR32 = (
    2.96136547, 0.895320975, 0.00557012153, -0.0037292006, 0.00236903244, -0.00141123719, 0.000657741367,
    -0.000144834493, -6.888258e-05, 4.50023726e-05,
)  # fmt: skip
_ERFINV_FAR64 = (
    4.03469315, 1.97637303, 0.00308478816, -0.00567634018, 0.00378921155,
    0.0008672834, 0.000271646614, -0.00579514132, 0.00374271133,
)  # fmt: skip

# from here on the asymptotic series
_LARGE = 7.5


def lgamma(x: UOp) -> UOp:
    """Return log(abs(gamma(x))); infinite at 0, -1, -2 ..."""
    is_left = x < 0.0
    z = is_left.where(1.0 - x, x)
    # below 0 by reflection: gamma(x) * gamma(1 - x) = pi / sin(pi * x)
    inside = is_left & (x > -math.inf)
    left = inside.where(x, x.const_like(-0.5))
    away = graphs.size_of(left - _nearest(left))
    pole = away.eq(0.0)
    # the sine of what is near 0 would be rounded as few subnormal bits are
    is_near = away < (1e-10 if x.dtype is dtypes.float64 else 1e-5)
    sine = (is_near.where(away.const_like(0.5), away) * math.pi).sin() * (1 / math.pi)
    share = is_near.where(pole.where(away.const_like(1.0), away), sine)
    right = _lgamma_right(z)
    reflected = -graphs.log(share) - right
    # infinite, with a derivative that is NaN
    gap = pole.where(away, away.const_like(1.0))
    reflected = pole.where((gap * gap).reciprocal(), reflected)
    infinite = x.const_like(math.inf)
    return inside.where(reflected, is_left.where(infinite, right))


def _lgamma_right(z: UOp) -> UOp:
    """Return lgamma(z) for z >= 0, by series and recurrence, from 7.5 by Stirling."""
    near, nearest, t, is_large = _around_two(z)
    product = t.const_like(1.0)
    for j in range(1, 6):
        product = (nearest >= j + 1.5).where(product * (near - float(j)), product)
    out = t * graphs.polynomial(t, _SERIES[: graphs.terms(z, 12, 27)]) + graphs.log(product)
    one = (nearest < 1.5).where(t, t.const_like(0.0))
    zero = (nearest < 0.5).where(near, near.const_like(1.0))
    out = out - graphs.log1p(one) - graphs.log(zero)
    # infinity has a branch of its own, with an infinite derivative
    is_infinite = z.eq(math.inf)
    y = (is_large & ~is_infinite).where(z, z.const_like(_LARGE))
    count = graphs.terms(z, 4, 9)
    terms = [b / ((2 * k + 2) * (2 * k + 1)) for k, b in enumerate(_BERNOULLI[:count])]
    inverse = y.reciprocal()
    rest = graphs.polynomial(inverse * inverse, terms) * inverse + (math.log(2 * math.pi) - 1) / 2
    beyond = is_infinite.where(z, z.const_like(0.0))
    far = is_infinite.where(beyond * beyond, (y - 0.5) * (graphs.log(y) - 1.0) + rest)
    return is_large.where(far, out)


def digamma(x: UOp) -> UOp:
    """Return the derivative of lgamma; NaN at -1, -2 ..., infinite at 0."""
    is_left = x < 0.0
    z = is_left.where(1.0 - x, x)
    left = is_left.where(x, x.const_like(-0.5))
    angle = (left - _nearest(left)) * math.pi
    pole = angle.eq(0.0)
    angle = pole.where(angle.const_like(1.0), angle)
    reflected = _digamma_right(z) - angle.cos() * math.pi / angle.sin()
    reflected = pole.where(graphs.undefined(pole, x), reflected)
    return is_left.where(reflected, _digamma_right(z))


def _digamma_right(z: UOp) -> UOp:
    near, nearest, t, is_large = _around_two(z)
    series = [c * (k + 1) for k, c in enumerate(_SERIES[: graphs.terms(z, 14, 27)])]
    out = graphs.polynomial(t, series)
    nothing = t.const_like(0.0)
    for j in range(1, 6):
        is_above = nearest >= j + 1.5
        out = out + is_above.where(1.0 / is_above.where(near - float(j), t.const_like(1.0)), nothing)
    is_one, is_zero = nearest < 1.5, nearest < 0.5
    out = out - is_one.where(1.0 / is_one.where(t + 1.0, t.const_like(1.0)), nothing)
    out = out - is_zero.where(1.0 / is_zero.where(near, t.const_like(1.0)), nothing)
    y = is_large.where(z, z.const_like(_LARGE))
    terms = [b / (2 * k + 2) for k, b in enumerate(_BERNOULLI[: graphs.terms(z, 4, 9)])]
    inverse = y.reciprocal()
    square = inverse * inverse
    return is_large.where(graphs.log(y) - inverse * 0.5 - graphs.polynomial(square, terms) * square, out)


def _nearest(x: UOp) -> UOp:
    return (x.detach() + (x < 0.0).where(x.const_like(-0.5), x.const_like(0.5))).trunc()


def _around_two(z: UOp) -> tuple[UOp, UOp, UOp, UOp]:
    """Return small z, its nearest integer, the offset from that, and where z is large."""
    is_large = z >= _LARGE
    near = is_large.where(z.const_like(2.0), z)
    nearest = _nearest(near)
    return near, nearest, near - nearest, is_large


def erfinv(x: UOp) -> UOp:
    """Return the inverse of erf: a polynomial, and in float64 a step of Halley's method."""
    size = graphs.size_of(x)
    inside = size < 1.0
    a = inside.where(size, size.const_like(0.0))
    w = -graphs.log((1.0 - a) * (a + 1.0))
    is_far = w > 5.0
    is_single = x.dtype.itemsize == 4
    (low, high), far = (_FAR32, _ERFINV_FAR32) if is_single else (_FAR64, _ERFINV_FAR64)
    s = (is_far.where(w, w.const_like(low * low)).sqrt() - low) * (2 / (high - low)) - 1.0
    n = is_far.where(w.const_like(5.0), w) * 0.4 - 1.0
    y = a * is_far.where(graphs.polynomial(s, far), graphs.polynomial(n, _ERFINV_NEAR))
    if not is_single:
        # a step towards erf(y) = a: what is missing, where erf is near 1 from its complement
        rest = (a > 0.5).where((1.0 - a) - graphs.erfc(y), graphs.erf(y) - a)
        step = rest * (math.sqrt(math.pi) / 2) * (y * y).exp()
        y = y - step / (step * y + 1.0)
    end = size.eq(1.0).where(x, x.const_like(0.0)) * math.inf
    is_outside = ~(size <= 1.0)
    beyond = is_outside.where(graphs.undefined(is_outside, x), end)
    return inside.where(graphs.signed_like(y, x), beyond)
