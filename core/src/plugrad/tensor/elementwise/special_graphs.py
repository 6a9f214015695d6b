"""Special functions on graph nodes: series near 0, where formulas cancel, formulas elsewhere.

Each is written so that the branch that is not taken overflows nowhere: a gradient through it would be NaN.
All take and return floats of 32 or 64 bits.
"""

import math
from collections.abc import Sequence

from plugrad.dtype import dtypes
from plugrad.uop import UOp

# log(exp(z*z) * erfc(z) / t) as a polynomial in 2t-1, for t = 2/(2+z): fitted at Chebyshev's points, with an
# error of 6e-9 in single and 3e-15 in double precision. Substitution: Press et al., Numerical Recipes, 6.2.2.
_ERFC_SINGLE = (
    -0.6717940852, 0.6726431548, 0.04734341752, -0.04689364056,
    -0.009874534918, 0.008808825369, 0.001770666119, -0.002288765239,
    -0.0001827821432, 0.0005737663721, -3.211377099e-05, -8.728381025e-05,
    1.337150305e-05,
)  # fmt: skip
_ERFC_DOUBLE = (
    -0.67179408405669183, 0.67264322397766474, 0.047343306841803476, -0.046895610231735468,
    -0.0098726893611732671, 0.008824938569622005, 0.0017589334558805001, -0.0023458126372659636,
    -0.0001462458199774118, 0.00067367963279375939, -9.3741494970492188e-05, -0.00017430597059149688,
    7.1427059284570721e-05, 3.1751365024371774e-05, -3.0258828119264427e-05, 1.3286174712130991e-07,
    8.6956185434865233e-06, -2.9561814427096628e-06, -1.4440626026662174e-06, 1.2786232358137509e-06,
    -1.8432870687047331e-08, -2.8778292431234432e-07, 6.8636377234621216e-08, 2.9516196203240157e-08,
    -1.1297805683448954e-08,
)  # fmt: skip

# For single precision erf(x)/x as a polynomial in x*x for 0..1, with a relative error of 1e-9, and
# log(exp(z*z) * erfc(z)) in (z-2.5)/1.5 for 1..4, with an error of 1e-8: fitted for the least greatest error.
_ERF_NEAR = (
    1.128379166, -0.3761262582, 0.1128358515, -0.02685381194,
    0.005188327692, -0.0008010193674, 7.853861493e-05,
)  # fmt: skip
_ERFC_FROM_ONE = (
    -1.556815279, -0.5290210328, 0.1262393812, -0.03664739477,
    0.0109607251, -0.003190689724, 0.0008822601234, -0.0002272721346,
    4.100152306e-05,
)  # fmt: skip

# the numerator and the denominator of a cut continued fraction, by powers of the square
_TANH_ABOVE_SINGLE, _TANH_BELOW_SINGLE = (135135.0, 17325.0, 378.0, 1.0), (135135.0, 62370.0, 3150.0, 28.0)
_TANH_ABOVE_DOUBLE = (34459425.0, 4729725.0, 135135.0, 990.0, 1.0)
_TANH_BELOW_DOUBLE = (34459425.0, 16216200.0, 945945.0, 13860.0, 45.0)


def undefined(where: UOp, *operands: UOp) -> UOp:
    """Return NaN with NaN derivatives where a condition holds, a number elsewhere."""
    # a constant would have the derivative 0 there
    roots = [where.where(-size_of(x) - 1.0, x.const_like(1.0)).sqrt() for x in operands]
    return sum(roots[1:], start=roots[0])


def polynomial(x: UOp, coefficients: Sequence[float]) -> UOp:
    """Return `c[0] + c[1]*x + ...` by Horner's rule, with fused steps where possible."""
    out = x.const_like(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = out.mulacc(x, x.const_like(c))
    return out


def terms(x: UOp, single: int, double: int) -> int:
    """Return the number of series terms for the dtype of `x`, of two given numbers."""
    return double if x.dtype is dtypes.float64 else single


def size_of(x: UOp) -> UOp:
    """Return the absolute value, with gradient 1 at 0."""
    return (x < 0.0).where(-x, x)


def without_sign(x: UOp) -> UOp:
    """Return the absolute value, without the sign of -0.0 either."""
    return is_negative(x).where(-x, x)


def signed_like(x: UOp, sign: UOp) -> UOp:
    """Return `x` with its sign changed where `sign` is negative."""
    return (sign < 0.0).where(-x, x)


def log(x: UOp) -> UOp:
    """Return the natural logarithm."""
    return x.log2() * math.log(2)


def log1p(x: UOp) -> UOp:
    """Return log(1 + x): near 0 by the series of 2*atanh(x / (2 + x))."""
    is_near = (x > -0.4) & (x < 0.6)
    near = is_near.where(x, x.const_like(0.0))
    s = near / (near + 2.0)
    series = s * polynomial(s * s, [2 / (2 * n + 1) for n in range(terms(x, 9, 19))])
    return is_near.where(series, log(x + 1.0))


def expm1(x: UOp) -> UOp:
    """Return exp(x) - 1."""
    is_near = size_of(x) < 0.5
    near = is_near.where(x, x.const_like(0.0))
    count = terms(x, 9, 16)
    series = near * polynomial(near, [1 / math.factorial(n + 1) for n in range(count)])
    return is_near.where(series, x.exp() - 1.0)


def sinh(x: UOp) -> UOp:
    """Return (e**x - e**-x) / 2."""
    size = size_of(x)
    is_near = size < 1.0
    near = is_near.where(x, x.const_like(0.0))
    series = near * polynomial(near * near, [1 / math.factorial(2 * n + 1) for n in range(terms(x, 6, 10))])
    # halves of the exponent: e**x overflows before the result does
    e = (is_near.where(x.const_like(1.0), size) * 0.5).exp()
    return is_near.where(series, signed_like((e * 0.5) * e - (0.5 / e) / e, x))


def cosh(x: UOp) -> UOp:
    """Return (e**x + e**-x) / 2."""
    size = size_of(x)
    is_near = size < 1.0
    near = is_near.where(x, x.const_like(0.0))
    # only for the derivative's sake, in which the exponentials cancel
    series = polynomial(near * near, [1 / math.factorial(2 * n) for n in range(terms(x, 7, 11))])
    e = (is_near.where(x.const_like(1.0), size) * 0.5).exp()
    return is_near.where(series, (e * 0.5) * e + (0.5 / e) / e)


def tanh(x: UOp) -> UOp:
    """Return tanh: by a rational function near 0, where (1-e)/(1+e) would cancel.

    Source: Lambert's continued fraction of tanh, cut after its seventh term, in double precision its ninth.
    """
    size = (x < 0.0).where(-x, x)
    near = size < 0.625
    small = near.where(x, x.const_like(0.0))
    is_double = x.dtype is dtypes.float64
    above = polynomial(small * small, _TANH_ABOVE_DOUBLE if is_double else _TANH_ABOVE_SINGLE)
    below = polynomial(small * small, _TANH_BELOW_DOUBLE if is_double else _TANH_BELOW_SINGLE)
    large = near.where(x.const_like(1.0), size)
    e = (large * -2.0).exp()
    far = (e.const_like(1.0) - e) / (e + 1.0)
    return near.where(small * above / below, (x < 0.0).where(-far, far))


def asinh(x: UOp) -> UOp:
    """Return log(x + sqrt(x*x + 1))."""
    size = without_sign(x)
    is_large = size > 1e9
    a = is_large.where(size.const_like(1.0), size)
    square = a * a
    small = log1p(a + square / ((square + 1.0).sqrt() + 1.0))
    large = log(is_large.where(size, size.const_like(1.0))) + math.log(2)
    # the chosen value is NaN for NaN: it is not large
    value = is_large.where(large, small)
    return is_negative(x).where(-value, value)


def acosh(x: UOp) -> UOp:
    """Return log(x + sqrt(x*x - 1)); NaN below 1."""
    is_large = x > 1e9
    t = is_large.where(x.const_like(1.0), x - 1.0)
    # two roots, here and below: the derivative of one of a product would be inf * 0 at the end
    small = log1p(t + t.sqrt() * (t + 2.0).sqrt())
    large = log(is_large.where(x, x.const_like(1.0))) + math.log(2)
    return (x < 1.0).where(x.const_like(math.nan), is_large.where(large, small))


def atanh(x: UOp) -> UOp:
    """Return log((1 + x) / (1 - x)) / 2."""
    return (log1p(x) - log1p(-x)) * 0.5


def _atan_of_unit(x: UOp) -> UOp:
    """Return atan(x) for 0 <= x <= 1: a series, turned by pi/4 above tan(pi/8)."""
    is_upper = x > math.tan(math.pi / 8)
    z = is_upper.where((x - 1.0) / (x + 1.0), x)
    series = [(-1) ** n / (2 * n + 1) for n in range(terms(x, 10, 21))]
    turned = z * polynomial(z * z, series)
    return is_upper.where(turned + math.pi / 4, turned)


def atan(x: UOp) -> UOp:
    """Return the angle whose tangent is `x`, in [-pi/2, pi/2]."""
    size = size_of(x)
    is_steep = size > 1.0
    z = is_steep.where(1.0 / is_steep.where(size, size.const_like(1.0)), size)
    angle = _atan_of_unit(z)
    return signed_like(is_steep.where(math.pi / 2 - angle, angle), x)


def atan2(y: UOp, x: UOp) -> UOp:
    """Return the angle of a point in [-pi, pi], with C's special cases."""
    width, height = without_sign(x), without_sign(y)
    is_steep = height > width
    less, more = is_steep.where(width, height), is_steep.where(height, width)
    is_zero, is_corner = more.eq(0.0), less.eq(math.inf)
    ratio = is_zero.where(less.const_like(0.0), less / is_zero.where(more.const_like(1.0), more))
    ratio = is_corner.where(ratio.const_like(1.0), ratio)
    angle = _atan_of_unit(ratio)
    angle = is_steep.where(math.pi / 2 - angle, angle)
    angle = is_negative(x).where(math.pi - angle, angle)
    angle = is_negative(y).where(-angle, angle)
    is_nan = x.ne(x) | y.ne(y)
    return is_nan.where(undefined(is_nan, x, y), angle)


def is_negative(x: UOp) -> UOp:
    """Say where the sign bit is set: also for -0.0."""
    bits = x.detach().bitcast(dtypes.int64 if x.dtype.itemsize == 8 else dtypes.int32)
    return bits < 0


def asin(x: UOp) -> UOp:
    """Return the angle whose sine is `x`; NaN outside of -1..1."""
    return atan(x / ((1.0 - x).sqrt() * (x + 1.0).sqrt() + 1.0)) * 2.0


def acos(x: UOp) -> UOp:
    """Return the angle whose cosine is `x`; NaN outside of -1..1."""
    return atan2((1.0 - x).sqrt(), (x + 1.0).sqrt()) * 2.0


def erfc(x: UOp) -> UOp:
    """Return 1 - erf(x), precise where that is near 0."""
    far = _erfc_positive(size_of(x))
    far = (x < 0.0).where(2.0 - far, far)
    is_near = size_of(x) < 0.5
    return is_near.where(1.0 - _erf_series(is_near.where(x, x.const_like(0.0))), far)


def erf(x: UOp) -> UOp:
    """Return the error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    z, is_double = size_of(x), x.dtype is dtypes.float64
    is_near = z < 1.0
    near = is_near.where(x, x.const_like(0.0))
    inside = _erf_series(near) if is_double else near * polynomial(near * near, _ERF_NEAR)
    rest = _erfc_positive(z) if is_double else _erfc_from_one(z)
    return is_near.where(inside, signed_like(1.0 - rest, x))


def _erfc_from_one(z: UOp) -> UOp:
    """Return 1 - erf(z) for z of at least 1.

    Its digits are enough for erf in single precision.
    """
    z = (z > 40.0).where(z.const_like(40.0), z)
    # from 4 on the result is less than a digit of 1, and its logarithm nearly that of exp(-z*z)
    near = (z < 4.0).where(z, z.const_like(4.0))
    return (polynomial((near - 2.5) * (2 / 3), _ERFC_FROM_ONE) - z * z).exp()


def _erf_series(x: UOp) -> UOp:
    series = [(-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(terms(x, 11, 20))]
    return x * polynomial(x * x, [c * 2 / math.sqrt(math.pi) for c in series])


def _erfc_positive(z: UOp) -> UOp:
    # from here on the result is 0, and the square of infinity would meet 0
    z = (z > 40.0).where(z.const_like(40.0), z)
    t = 2.0 / (z + 2.0)
    fitted = polynomial(t * 2.0 - 1.0, _ERFC_DOUBLE if z.dtype is dtypes.float64 else _ERFC_SINGLE)
    # z*z as an exact square and a rest: what rounding takes from a large exponent, the result would lack
    top = _upper_half(z)
    square, small = top * top, fitted - (z - top) * (z + top)
    exponent = small - square
    lost = (small - (exponent + square)).detach()
    return t * (exponent.exp() * (lost + 1.0))


def _upper_half(x: UOp) -> UOp:
    """Return `x` without the lower half of its digits, so that its square is exact."""
    bits, low = (dtypes.int64, 27) if x.dtype is dtypes.float64 else (dtypes.int32, 12)
    return (x.detach().bitcast(bits) & (-1 << low)).bitcast(x.dtype)


def log_sum_exp(x: UOp, y: UOp) -> UOp:
    """Return log(exp(x) + exp(y)) without overflow."""
    highest = x.maximum(y)
    # inf - inf is NaN
    is_infinite = highest.eq(math.inf) | highest.eq(-math.inf)
    x, y = (is_infinite.where(u.const_like(0.0), u) for u in (x, y))
    more, less = (x < y).where(y, x), (x < y).where(x, y)
    top = more.detach()
    # the exponential of 0 less 1 is nothing, but for the derivatives: also those of equal operands
    rest = (less - top).exp() + ((more - top).exp() - 1.0)
    return is_infinite.where(highest, (x.ne(x) | y.ne(y)).where(x + y, top + log1p(rest)))
