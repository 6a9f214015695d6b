"""Special functions: inverse trigonometric, hyperbolic and error functions, precise near 0.

Errors stay within a few units in the last place of the dtype.

Integers become the default float.
"""

from __future__ import annotations

import math

from plugrad.dtype import FLOAT8, Number, dtypes, has_infinity, is_float, is_unsigned
from plugrad.errors import DtypeError
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.complex_formulas import exponentials, inverses
from plugrad.tensor.elementwise import gamma_graphs
from plugrad.tensor.elementwise import special_graphs as graphs
from plugrad.tensor.elementwise.arithmetic import number_dtype
from plugrad.tensor.elementwise.operands import as_operand, binary, composed, float_pair, operand_nodes
from plugrad.tensor.shapes import as_number
from plugrad.uop import Ops, UOp


def expm1(self: Tensor) -> Tensor:
    """Return `exp(self) - 1`, precise near 0.

    Example:
        >>> Tensor([1e-8]).expm1().item() == Tensor([1e-8]).item()
        True
    """
    return composed(self, graphs.expm1, exponentials.expm1)


def log1p(self: Tensor) -> Tensor:
    """Return `log(1 + self)`, precise near 0.

    Example:
        >>> Tensor([1e-8]).log1p().item() == Tensor([1e-8]).item()
        True
    """
    return composed(self, graphs.log1p, exponentials.log1p)


def sinh(self: Tensor) -> Tensor:
    """Return the hyperbolic sine.

    Example:
        >>> Tensor([0.0]).sinh().tolist()
        [0.0]
    """
    return composed(self, graphs.sinh, exponentials.sinh)


def cosh(self: Tensor) -> Tensor:
    """Return the hyperbolic cosine.

    Example:
        >>> Tensor([0.0]).cosh().tolist()
        [1.0]
    """
    return composed(self, graphs.cosh, exponentials.cosh)


def asinh(self: Tensor) -> Tensor:
    """Return the inverse of `sinh`.

    Example:
        >>> Tensor([0.0]).asinh().tolist()
        [0.0]
    """
    return composed(self, graphs.asinh, inverses.asinh)


def acosh(self: Tensor) -> Tensor:
    """Return the inverse of `cosh`; NaN below 1.

    Example:
        >>> Tensor([1.0]).acosh().tolist()
        [0.0]
    """
    return composed(self, graphs.acosh, inverses.acosh)


def atanh(self: Tensor) -> Tensor:
    """Return the inverse of `tanh`; infinite at -1 and 1, NaN outside.

    Example:
        >>> Tensor([0.0]).atanh().tolist()
        [0.0]
    """
    return composed(self, graphs.atanh, inverses.atanh)


def asin(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose sine this is; NaN outside of -1..1.

    Example:
        >>> Tensor([0.0]).asin().tolist()
        [0.0]
    """
    return composed(self, graphs.asin, inverses.asin)


def acos(self: Tensor) -> Tensor:
    """Return the angle in [0, pi] whose cosine this is; NaN outside of -1..1.

    Example:
        >>> Tensor([1.0]).acos().tolist()
        [0.0]
    """
    return composed(self, graphs.acos, inverses.acos)


def atan(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose tangent this is.

    Example:
        >>> round(Tensor([1.0]).atan().item() * 4, 5)
        3.14159
    """
    return composed(self, graphs.atan, inverses.atan)


def atan2(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the angle in [-pi, pi] of the point (other, self); signs of zeros count.

    Its gradient at the point (0, 0) is 0.

    Example:
        >>> round(Tensor([0.0]).atan2(-1).item(), 5)
        3.14159
    """
    return float_pair(self, other, graphs.atan2)


def erf(self: Tensor) -> Tensor:
    """Return the error function.

    Example:
        >>> round(Tensor([0.5]).erf().item(), 5)
        0.5205
    """
    return composed(self, graphs.erf)


def erfc(self: Tensor) -> Tensor:
    """Return `1 - erf(self)`, precise where that is near 0.

    Example:
        >>> Tensor([0.0]).erfc().tolist()
        [1.0]
    """
    return composed(self, graphs.erfc)


def erfinv(self: Tensor) -> Tensor:
    """Return the inverse of `erf`: infinite at -1 and 1, NaN outside.

    Example:
        >>> round(Tensor([0.5]).erf().erfinv().item(), 5)
        0.5
    """
    return composed(self, gamma_graphs.erfinv)


def lgamma(self: Tensor) -> Tensor:
    """Return log(abs(gamma(x))); infinite at 0, -1, -2 and so on.

    Its gradient is `digamma`.

    Example:
        >>> round(Tensor([5.0]).lgamma().exp().item(), 3)
        24.0
    """
    return composed(self, gamma_graphs.lgamma)


def digamma(self: Tensor) -> Tensor:
    """Return the derivative of `lgamma`; infinite at 0, NaN at -1, -2 and so on.

    Example:
        >>> round(Tensor([1.0]).digamma().item(), 4)
        -0.5772
    """
    return composed(self, gamma_graphs.digamma)


def hypot(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `sqrt(self**2 + other**2)`, where the squares may overflow; infinite if either is.

    Its gradient at length 0 is 0.

    Example:
        >>> Tensor([3e30]).hypot(4e30).item() / 1e30 - 5 < 1e-5
        True
    """
    return float_pair(self, other, _hypot)


def logaddexp(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `log(exp(self) + exp(other))` without overflow.

    Example:
        >>> Tensor([1000.0]).logaddexp(1000.0).item() - 1000 < 0.7
        True
    """
    return float_pair(self, other, graphs.log_sum_exp)


def copysign(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the magnitude of this with the sign of `other`, zeros and NaNs included.

    Its gradient at 0 is 0.

    Example:
        >>> Tensor([1.0, -2.0]).copysign(-0.0).tolist()
        [-1.0, -2.0]
    """
    return float_pair(self, other, _copysign)


def fmod(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the remainder with the sign of this (as in C); `%` takes the divisor's.

    Exact for floats; NaN by zero.

    Example:
        >>> Tensor([-7, 7]).fmod(3).tolist()
        [-1, 1]
    """
    if is_float(number_dtype(self, "fmod", other)):
        return binary(self, Ops.FMOD, other)
    rest = self % other
    if is_unsigned(rest.dtype):
        return rest
    # not by magnitudes: the lowest integer has none
    return ((rest != 0) & ((rest < 0) != (self < 0))).where(rest - other, rest)


def lerp(self: Tensor, end: Tensor | Number, weight: Tensor | Number) -> Tensor:
    """Return `self + (end - self) * weight`, computed from the nearer end.

    A weight of 1 gives `end` itself.

    Example:
        >>> Tensor([0.0]).lerp(Tensor([10.0]), 0.25).item()
        2.5
    """
    weight = as_operand(self, weight)
    if isinstance(weight, TensorBase):
        is_near = weight.abs() < 0.5
        return is_near.where(self, end) + (end - self) * is_near.where(weight, weight - 1)
    return self + (end - self) * weight if abs(weight) < 0.5 else end + (end - self) * (weight - 1)


def nan_to_num(
    self: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN by `nan` and infinities by the greatest and least numbers.

    Raises:
        DtypeError: a replacement is no number, or a bool: NumPy's flag `copy` is not taken.

    Example:
        >>> Tensor([float("nan"), 1.0]).nan_to_num(5.0).tolist()
        [5.0, 1.0]
    """
    for value in (nan, posinf, neginf):
        if isinstance(value, bool):
            raise DtypeError(f"{value} is a flag, as NumPy's `copy`. Pass a number.")
    most = _LARGEST.get(self.dtype.name, 0.0)
    given = (nan, most if posinf is None else posinf, -most if neginf is None else neginf)
    middle, high, low = (as_number(value) for value in given)
    x = self._graph
    if not is_float(self.dtype):
        return self._like(x)
    if not has_infinity(self.dtype):
        return self._like(x.ne(x).where(x.const_like(middle), x))
    out = x.eq(math.inf).where(x.const_like(high), x.ne(x).where(x.const_like(middle), x))
    return self._like(x.eq(-math.inf).where(x.const_like(low), out))


def allclose(
    self: Tensor, other: Tensor | Number, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close (see `isclose`), computed at once.

    Raises:
        DtypeError: a tolerance is no number.

    Example:
        >>> Tensor([1.0, 2.0]).allclose(Tensor([1.0, 2.0000001]))
        True
    """
    far = ~self.isclose(other, rtol, atol, equal_nan)._graph
    found = far.reduce_axis(Ops.MAX, tuple(range(len(far.shape)))) if far.shape else far
    return not self._make(found.reshape(()), self._device)


def isclose(
    self: Tensor, other: Tensor | Number, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Return where `|self - other| <= atol + rtol * |other|`; infinities are close to themselves.

    Raises:
        DtypeError: a tolerance is no number.

    Example:
        >>> Tensor([1.0, 2.0]).isclose(Tensor([1.000001, 2.1])).tolist()
        [True, False]
    """
    dtype = promoted([self, as_operand(self, other)])
    wide = dtype if is_float(dtype) else dtypes.float64 if dtype.itemsize > 2 else dtypes.float32
    x, y = operand_nodes(self, other, dtype=wide)
    # an infinite tolerance holds for nothing but equal infinities
    bound = graphs.size_of(y) * as_number(rtol) + as_number(atol)
    close = (graphs.size_of(x - y) <= bound) & (bound < math.inf) & (graphs.size_of(x) < math.inf)
    close = close | x.eq(y)
    return self._like(close | (x.ne(x) & y.ne(y)) if equal_nan else close, other)


_LARGEST = {
    **{dtype.name: layout.largest for dtype, layout in FLOAT8.items()},
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def _copysign(x: UOp, y: UOp) -> UOp:
    zero = graphs.is_negative(y).where(x.const_like(-0.0), x.const_like(0.0))
    return x.eq(0.0).where(zero, graphs.is_negative(x).ne(graphs.is_negative(y)).where(-x, x))


def _hypot(x: UOp, y: UOp) -> UOp:
    a, b = graphs.without_sign(x), graphs.without_sign(y)
    more, less = (a < b).where(b, a), (a < b).where(a, b)
    is_plain = (more > 0.0) & (more < math.inf)
    scale = is_plain.where(more, more.const_like(1.0))
    ratio = is_plain.where(less / scale, more.const_like(0.0))
    out = more.eq(0.0).where(more.const_like(0.0), more * (ratio * ratio + 1.0).sqrt())
    is_infinite = a.eq(math.inf) | b.eq(math.inf)
    return is_infinite.where(x.const_like(math.inf), graphs.spread_nans(out, x, y))
