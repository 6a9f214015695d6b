"""Elementwise formulas that remain accurate where the short form does not.

Where they need floats, integers become the default float.
"""

from __future__ import annotations

import math

from plugrad.dtype import ConstType, Number, dtypes, is_bool, is_float, is_int, is_unsigned
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.elementwise import special_graphs as graphs
from plugrad.tensor.elementwise.operands import (
    all_false,
    as_operand,
    as_tensor_operand,
    composed,
    float_pair,
    operand_nodes,
)
from plugrad.tensor.shapes import as_number
from plugrad.uop import UOp

_SIGNED = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def frac(self: Tensor) -> Tensor:
    """Return `self - self.trunc()`, with the sign of this; 0 for integers.

    Example:
        >>> Tensor([1.5, -1.25]).frac().tolist()
        [0.5, -0.25]
    """
    return self._like(self._graph * 0) if is_int(self.dtype) or is_bool(self.dtype) else self - self.trunc()


def signbit(self: Tensor) -> Tensor:
    """Return where the sign is minus: also that of -0.0 and of NaN.

    Example:
        >>> Tensor([-0.0, 0.0, -2.0]).signbit().tolist()
        [True, False, True]
    """
    if is_unsigned(self.dtype) or is_bool(self.dtype):
        return self._like(all_false(self))
    x = self._graph.detach()
    return self._like((x.bitcast(_SIGNED[x.dtype.itemsize]) if is_float(x.dtype) else x) < 0)


def isposinf(self: Tensor) -> Tensor:
    """Return where elements are infinite and above 0.

    Example:
        >>> Tensor([float("inf"), float("-inf")]).isposinf().tolist()
        [True, False]
    """
    return self.isinf(detect_negative=False)


def isneginf(self: Tensor) -> Tensor:
    """Return where elements are infinite and below 0.

    Example:
        >>> Tensor([float("inf"), float("-inf")]).isneginf().tolist()
        [False, True]
    """
    return self.isinf(detect_positive=False)


def heaviside(self: Tensor, values: Tensor | Number) -> Tensor:
    """Return 0 below 0, 1 above and `values` at 0; NaN gives 0.

    Example:
        >>> Tensor([-2.0, 0.0, 3.0]).heaviside(0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    x, y = operand_nodes(self, values)
    above = x if is_bool(x.dtype) else (x > 0).cast(x.dtype)
    return self._like(x.eq(x.const_like(0)).where(y, above), values)


def fmax(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the greater of both, ignoring NaN where the other is a number.

    Where both are equal, all of the gradient is this tensor's, as in PyTorch.

    Example:
        >>> Tensor([1.0, float("nan")]).fmax(2.0).tolist()
        [2.0, 2.0]
    """
    x, y = operand_nodes(self, other)
    if not is_float(x.dtype):
        return self.maximum(other)
    return self._like(((x >= y) | y.ne(y)).where(x, y), other)


def fmin(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the lesser of both, ignoring NaN where the other is a number.

    Where both are equal, all of the gradient is this tensor's, as in PyTorch.

    Example:
        >>> Tensor([1.0, float("nan")]).fmin(2.0).tolist()
        [1.0, 2.0]
    """
    x, y = operand_nodes(self, other)
    if not is_float(x.dtype):
        return self.minimum(other)
    return self._like(((x <= y) | y.ne(y)).where(x, y), other)


def deg2rad(self: Tensor) -> Tensor:
    """Return degrees as radians.

    Example:
        >>> round(Tensor([180.0]).deg2rad().item(), 5)
        3.14159
    """
    return composed(self, lambda x: x * (math.pi / 180))


def rad2deg(self: Tensor) -> Tensor:
    """Return radians as degrees.

    Example:
        >>> Tensor([0.0]).rad2deg().tolist()
        [0.0]
    """
    return composed(self, lambda x: x * (180 / math.pi))


def sinc(self: Tensor) -> Tensor:
    """Return `sin(pi * self) / (pi * self)`, and 1 at 0.

    Example:
        >>> Tensor([0.0]).sinc().tolist()
        [1.0]
    """
    return composed(self, _sinc)


def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """Return `log(self / (1 - self))`, the inverse of `sigmoid`; NaN outside of 0..1.

    Args:
        eps: limit this to `eps` .. `1 - eps` first; beyond, the gradient is 0.

    Raises:
        DtypeError: `eps` is no number.

    Example:
        >>> Tensor([0.5, 1.0]).logit().tolist()
        [0.0, inf]
    """
    if eps is None:
        return composed(self, _logit)
    low = as_number(eps)
    return composed(self, lambda x: _logit(_limited(x, low, 1 - low)))


def xlogy(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self * log(other)`, and 0 where this is 0 unless `other` is NaN.

    Example:
        >>> Tensor([0.0, 2.0]).xlogy(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.0]
    """
    return float_pair(self, other, _xlogy)


def ldexp(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self * 2 ** other`, where that power itself may overflow.

    An infinite `other` is as good as a large one: zeros stay zeros and infinities infinite.

    Example:
        >>> Tensor([0.75]).ldexp(2).tolist()
        [3.0]
    """
    return float_pair(self, other, _ldexp)


def logaddexp2(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `log2(2 ** self + 2 ** other)` without overflow.

    Example:
        >>> Tensor([1000.0]).logaddexp2(1000.0).tolist()
        [1001.0]
    """
    return float_pair(self, other, _logaddexp2)


def float_power(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """Return `self ** exponent`, computed and returned in float64.

    Example:
        >>> Tensor([2, 4]).float_power(-1).tolist()
        [0.5, 0.25]
    """
    given = as_operand(self, exponent)
    power = given.cast(dtypes.float64) if isinstance(given, TensorBase) else given
    return self.cast(dtypes.float64).pow(power)


def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor | Number, *, value: ConstType = 1) -> Tensor:
    """Return `self + value * tensor1 * tensor2`.

    Raises:
        DtypeError: `value` is no number.

    Example:
        >>> Tensor([1.0]).addcmul(Tensor([2.0]), Tensor([3.0]), value=0.5).tolist()
        [4.0]
    """
    factor = as_tensor_operand(self, tensor1)
    if isinstance(as_number(value), float) and not is_float(factor.dtype):
        # products of integers may wrap, those of floats do not
        factor = factor.cast(dtypes.default_float)
    return self.add(factor * tensor2, alpha=value)


def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor | Number, *, value: ConstType = 1) -> Tensor:
    """Return `self + value * tensor1 / tensor2`; the quotient of integers is a float.

    Raises:
        DtypeError: `value` is no number.

    Example:
        >>> Tensor([1.0]).addcdiv(Tensor([2.0]), Tensor([4.0]), value=2).tolist()
        [2.0]
    """
    return self.add(as_tensor_operand(self, tensor1) / tensor2, alpha=value)


def _limited(x: UOp, low: float, high: float) -> UOp:
    x = (x < low).where(x.const_like(low), x)
    return (x > high).where(x.const_like(high), x)


def _logit(x: UOp) -> UOp:
    """Return the logit: near 1/2 as 2*atanh(2x - 1), where the logarithms would cancel."""
    is_middle = (x > 0.3) & (x < 0.7)
    near = is_middle.where(x, x.const_like(0.5)) * 2.0 - 1.0
    found = is_middle.where(graphs.atanh(near) * 2.0, graphs.log(x) - graphs.log(1.0 - x))
    is_outside = (x < 0.0) | (x > 1.0)
    return is_outside.where(graphs.undefined(is_outside, x), found)


def _xlogy(x: UOp, y: UOp) -> UOp:
    # also what is infinite there
    is_nothing = x.eq(0.0) & ((y <= 0.0) | y.eq(math.inf))
    return is_nothing.where(x.const_like(0.0), x * graphs.log(is_nothing.where(y.const_like(1.0), y)))


def _logaddexp2(x: UOp, y: UOp) -> UOp:
    ends = x.maximum(y)
    highest = ends.detach()
    is_plain = (highest < math.inf) & (highest > -math.inf)
    top, a, b = (is_plain.where(u, u.const_like(0.0)) for u in (highest, x, y))
    rest = graphs.log_sum_exp((a - top) * math.log(2), (b - top) * math.log(2))
    found = is_plain.where(top + rest * (1 / math.log(2)), ends)
    return graphs.spread_nans(found, x, y)


def _sinc(x: UOp) -> UOp:
    """Return sin(z) / z of z = pi*x, by a differentiable series near 0."""
    z = x * math.pi
    is_near = graphs.size_of(z) < 1.0
    near, far = is_near.where(z, z.const_like(0.0)), is_near.where(z.const_like(1.0), z)
    series = [(-1) ** n / math.factorial(2 * n + 1) for n in range(graphs.terms(x, 6, 10))]
    return is_near.where(graphs.polynomial(near * near, series), far.sin() / far)


def _ldexp(x: UOp, n: UOp) -> UOp:
    """Return x * 2**n by three factors, each within the range of the dtype."""
    most = 2200.0 if x.dtype is dtypes.float64 else 300.0
    n = _limited(n, -most, most)
    third = (n * (1 / 3)).trunc()
    part = third.exp2()
    return x * part * part * (n - third * 2.0).exp2()
