"""Special functions on graph nodes: series near 0, where formulas cancel, formulas elsewhere.

Each is written so that the branch that is not taken overflows nowhere: a gradient through it would be NaN.
All take and return floats of 32 or 64 bits.
"""

import math
from collections.abc import Sequence

from plugrad.autodiff import inputs_of, with_rule
from plugrad.dtype import dtypes
from plugrad.uop import UOp

# exp(z*z) * erfc(z) for z of 0 to 27 as the quotient of two polynomials, fitted for the least greatest error:
# 6e-9 in single precision (up to 10), 5e-17 in double.
_ERFC_ABOVE_SINGLE = (1.0, 1.2364624773, 0.72946068366, 0.22815470061, 0.032555327739)
_ERFC_BELOW_SINGLE = (1.0, 2.3648420357, 2.3978915139, 1.3213483984, 0.40442060915, 0.05770210129)
_ERFC_ABOVE_DOUBLE = (
    1.0, 2.19038759042024021, 2.37352341663153632, 1.63400065399176115,
    0.77985807395181863, 0.266499591213566331, 0.0651989553647534085, 0.0110492274814644643,
    0.00118591720411370561, 6.2309985375989956e-05,
)  # fmt: skip
_ERFC_BELOW_DOUBLE = (
    1.0, 3.31876675751574359, 5.11835068626193222, 4.84292695879703468,
    3.12271678894148457, 1.43899245656441741, 0.482095132316685845, 0.116613131138496071,
    0.0196394665891181425, 0.00210198351523618888, 0.000110441573529884895,
)  # fmt: skip

# For single precision log(1 - erf(x))/x + 1 as a polynomial for x of 0 to 3.95, from where on erf rounds
# to 1, and (exp(x) - 1 - x)/x**2 as one for up to half of log(2): errors of 4e-9 and 1.4e-8 of the result.
_ERF_END = 3.95
_LOG_ERFC = (
    -0.128379166, -0.636619568, -0.102776304, 0.0191478226, 0.00016950470,
    -0.00167567784, 0.000637365098, -0.000118862132, 9.38809717e-06,
)  # fmt: skip
_EXPM1 = (0.49999997, 0.166665465, 0.0416674353, 0.00836627744, 0.00138707319)
# log(2) as a float of few digits and a rest
_LOG2_HIGH, _LOG2_LOW = 0.693115234375, 3.1946184e-05
# Added to a float below 2**22, it leaves the nearest integer, with the bias of exponents, in the low bits.
_TO_EXPONENT = 1.5 * 2**23 + 127

# From here on exp(-z*z) is 0.
_LAST = 40.0

# the numerator and the denominator of a cut continued fraction, by powers of the square
_TANH_ABOVE_SINGLE, _TANH_BELOW_SINGLE = (135135.0, 17325.0, 378.0, 1.0), (135135.0, 62370.0, 3150.0, 28.0)
_TANH_ABOVE_DOUBLE = (34459425.0, 4729725.0, 135135.0, 990.0, 1.0)
_TANH_BELOW_DOUBLE = (34459425.0, 16216200.0, 945945.0, 13860.0, 45.0)


def undefined(where: UOp, *operands: UOp) -> UOp:
    """Return NaN with NaN derivatives where a condition holds, a number elsewhere."""
    # a constant would have the derivative 0 there
    roots = [where.where(-size_of(x) - 1.0, x.const_like(1.0)).sqrt() for x in operands]
    return sum(roots[1:], start=roots[0])


def spread_nans(out: UOp, x: UOp, y: UOp) -> UOp:
    """Return `out`, and NaN with NaN derivatives where either operand is NaN."""
    is_nan = x.ne(x) | y.ne(y)
    nan = is_nan.where(x + y, x.const_like(0.0))
    return is_nan.where(nan * nan, out)


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
    far = e.const_like(1.0) - e
    # one division for both: nothing else takes as long
    return near.where(small * above, (x < 0.0).where(-far, far)) / near.where(below, e + 1.0)


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
    return spread_nans(angle, x, y)


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
    z = _limited_size(x)
    rest = _gauss(z) * _scaled_erfc(z)
    return with_rule([(x < 0.0).where(2.0 - rest, rest)], [x], _erfc_gradient)[0]


def erf(x: UOp) -> UOp:
    """Return the error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    out = _erf_double(x) if x.dtype is dtypes.float64 else _erf_single(x)
    return with_rule([out], [x], _erf_gradient)[0]


def _erf_double(x: UOp) -> UOp:
    z = _limited_size(x)
    is_near = z < 1.0
    near = is_near.where(x, x.const_like(0.0))
    series = [(-1) ** n / (math.factorial(n) * (2 * n + 1)) * 2 / math.sqrt(math.pi) for n in range(20)]
    rest = _gauss(z) * _scaled_erfc(z)
    return is_near.where(near * polynomial(near * near, series), signed_like(1.0 - rest, x))


def _erf_single(x: UOp) -> UOp:
    """Return 1 - exp(log(1 - erf)), without the digits that cancel near 0."""
    sign = x.bitcast(dtypes.int32) & (-1 << 31)
    size = (x.bitcast(dtypes.int32) & ~(-1 << 31)).bitcast(x.dtype)
    z = (size > _ERF_END).where(size.const_like(_ERF_END), size)
    log = z.mulacc(polynomial(z, _LOG_ERFC), -z)
    counted = log.mulacc(log.const_like(1 / math.log(2)), log.const_like(_TO_EXPONENT))
    halvings = counted - _TO_EXPONENT
    for part in (_LOG2_HIGH, _LOG2_LOW):
        log = halvings.mulacc(log.const_like(-part), log)
    change = (log * log).mulacc(polynomial(log, _EXPM1), log)
    power = (counted.bitcast(dtypes.int32) << 23).bitcast(x.dtype)
    out = (-power).mulacc(change, 1.0 - power)
    return (out.bitcast(dtypes.int32) | sign).bitcast(x.dtype)


def _erf_gradient(gradients: tuple[UOp], function: UOp) -> list[UOp]:
    """Return the gradient of `erf`, which that of its polynomials would compute term by term."""
    (gradient,), (x,) = gradients, inputs_of(function)
    slope = _gauss(_limited_size(x)) * (2 / math.sqrt(math.pi))
    # an infinite gradient would meet 0
    return [(size_of(x) > _LAST).where(x.const_like(0.0), gradient * slope)]


def _erfc_gradient(gradients: tuple[UOp], function: UOp) -> list[UOp]:
    return [-g for g in _erf_gradient(gradients, function)]


def _limited_size(x: UOp) -> UOp:
    # the square of infinity would meet 0
    z = size_of(x)
    return (z > _LAST).where(z.const_like(_LAST), z)


def _gauss(z: UOp) -> UOp:
    # z*z as an exact square and a rest: what rounding takes from a large exponent, the result would lack
    top = _upper_half(z)
    square, small = top * top, (z - top) * (z + top)
    exponent = square + small
    lost = (small - (exponent - square)).detach()
    return (-exponent).exp() * (1.0 - lost)


def _scaled_erfc(z: UOp) -> UOp:
    is_double = z.dtype is dtypes.float64
    above = polynomial(z, _ERFC_ABOVE_DOUBLE if is_double else _ERFC_ABOVE_SINGLE)
    return above / polynomial(z, _ERFC_BELOW_DOUBLE if is_double else _ERFC_BELOW_SINGLE)


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
