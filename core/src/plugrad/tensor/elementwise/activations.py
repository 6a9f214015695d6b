"""The nonlinear functions of neural networks.

Choices are written so that no branch that is not taken overflows: a gradient through it would be NaN.

Gradients at kinks are those of PyTorch.
"""

from __future__ import annotations

import math
from typing import Literal, Unpack

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.complex_formulas import exponentials
from plugrad.tensor.elementwise import special_graphs as graphs
from plugrad.tensor.elementwise.operands import as_tensor_operand, composed, float_graph
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.shape.joins import equal_parts
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_number, check_choice, one_axis, show, size_today
from plugrad.uop import UOp


def relu(self: Tensor) -> Tensor:
    """Return values below 0 as 0.

    Example:
        >>> Tensor([-1.0, 2.0]).relu().tolist()
        [0.0, 2.0]
    """
    x = self._graph
    # not MAX: at 0 the gradient is 0, and NaN stays NaN
    return self._like((x <= 0).where(x.const_like(0), x))


def relu6(self: Tensor) -> Tensor:
    """Return values limited to 0..6.

    Example:
        >>> Tensor([-1.0, 3.0, 9.0]).relu6().tolist()
        [0.0, 3.0, 6.0]
    """
    return self._like(_relu6(self._graph))


def leaky_relu(self: Tensor, negative_slope: float = 0.01, **names: float) -> Tensor:
    """Return values below 0 times `negative_slope`.

    Raises:
        DtypeError: `negative_slope` is no number.

    Example:
        >>> Tensor([-4.0, 2.0]).leaky_relu(0.5).tolist()
        [-2.0, 2.0]
    """
    if names:
        (negative_slope,) = renamed(self.leaky_relu, names, negative_slope=negative_slope)
    x, slope = float_graph(self), as_number(negative_slope)
    return self._like((x > 0.0).where(x, x * slope))


def sigmoid(self: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-self))`.

    Example:
        >>> Tensor([0.0, 1000.0]).sigmoid().tolist()
        [0.5, 1.0]
    """
    return composed(self, _sigmoid)


def logsigmoid(self: Tensor) -> Tensor:
    """Return the logarithm of the sigmoid.

    Example:
        >>> Tensor([-1000.0]).logsigmoid().tolist()
        [-1000.0]
    """
    return composed(self, lambda x: -_softplus(-x))


def tanh(self: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Example:
        >>> Tensor([0.0, 100.0]).tanh().tolist()
        [0.0, 1.0]
    """
    return composed(self, graphs.tanh, exponentials.tanh)


def silu(self: Tensor) -> Tensor:
    """Return `self * sigmoid(self)`.

    Example:
        >>> Tensor([0.0, 100.0]).silu().tolist()
        [0.0, 100.0]
    """
    return composed(self, lambda x: x * _sigmoid(x))


def gelu(self: Tensor, approximate: Literal["tanh", "none"] = "tanh") -> Tensor:
    """Return the Gaussian error linear unit: in its tanh form, or exactly with `approximate="none"`.

    PyTorch's default is the exact one; the tanh form is within 5e-4 of it.

    Source: Hendrycks and Gimpel 2016, section 2.

    Raises:
        ArgumentError: `approximate` is neither.

    Example:
        >>> round(Tensor([1.0]).gelu("none").item(), 4)
        0.8413
    """
    check_choice(approximate, ("tanh", "none"), "approximate")
    return composed(self, _gelu if approximate == "tanh" else _exact_gelu)


def quick_gelu(self: Tensor) -> Tensor:
    """Return `self * sigmoid(1.702 * self)`.

    Example:
        >>> Tensor([0.0, 100.0]).quick_gelu().tolist()
        [0.0, 100.0]
    """
    return composed(self, lambda x: x * _sigmoid(x * 1.702))


def elu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `alpha * (exp(self) - 1)` below 0, this above.

    Raises:
        DtypeError: `alpha` is no number.

    Example:
        >>> Tensor([-1000.0, 2.0]).elu().tolist()
        [-1.0, 2.0]
    """
    scale = as_number(alpha)
    return composed(self, lambda x: _elu(x, scale))


def selu(self: Tensor, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Tensor:
    """Return the self-normalizing scaled ELU: `gamma * elu(self, alpha)`.

    Source: Klambauer et al. 2017, equation 2 with the constants of section 2.

    Raises:
        DtypeError: `alpha` or `gamma` is no number.

    Example:
        >>> Tensor([0.0]).selu().tolist()
        [0.0]
    """
    inner, outer = as_number(alpha), as_number(gamma)
    return composed(self, lambda x: _elu(x, inner) * outer)


def celu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `alpha * (exp(self / alpha) - 1)` below 0, this above.

    Raises:
        DtypeError: `alpha` is no number.
        ArgumentError: `alpha` is 0.

    Example:
        >>> Tensor([-1000.0, 2.0]).celu(0.5).tolist()
        [-0.5, 2.0]
    """
    scale = as_number(alpha)
    if scale == 0:
        raise ArgumentError("alpha=0 divides by zero. Give another number, or use relu.")
    return composed(self, lambda x: (x > 0.0).where(x, _elu(x / scale, scale)))


def softplus(self: Tensor, beta: float = 1.0) -> Tensor:
    """Return `log(1 + exp(beta * self)) / beta`.

    Raises:
        DtypeError: `beta` is no number.

    Example:
        >>> Tensor([1000.0]).softplus().tolist()
        [1000.0]
    """
    scale = as_number(beta)
    return composed(self, lambda x: _softplus(x * scale) / scale)


def mish(self: Tensor) -> Tensor:
    """Return `self * tanh(softplus(self))`.

    Example:
        >>> Tensor([0.0, 1000.0]).mish().tolist()
        [0.0, 1000.0]
    """
    return composed(self, lambda x: x * graphs.tanh(_softplus(x)))


def softsign(self: Tensor) -> Tensor:
    """Return `self / (1 + |self|)`.

    Example:
        >>> Tensor([-1.0, 3.0]).softsign().tolist()
        [-0.5, 0.75]
    """
    return composed(self, lambda x: x / ((x < 0.0).where(-x, x) + 1.0))


def hardtanh(self: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return values limited to `min_val..max_val`; no gradient passes at the limits.

    Raises:
        DtypeError: a limit is no number.

    Example:
        >>> Tensor([-5.0, 0.5, 5.0]).hardtanh().tolist()
        [-1.0, 0.5, 1.0]
    """
    x, low, high = float_graph(self), as_number(min_val), as_number(max_val)
    inside = (x >= high).where(x.const_like(high), x)
    return self._like((x <= low).where(x.const_like(low), inside))


def hardsigmoid(self: Tensor, alpha: float = 1 / 6, beta: float = 0.5) -> Tensor:
    """Return `alpha * self + beta` limited to 0..1.

    Example:
        >>> Tensor([-9.0, 0.0, 9.0]).hardsigmoid().tolist()
        [0.0, 0.5, 1.0]
    """
    slope, middle = as_number(alpha), as_number(beta)
    if slope == 1 / 6 and middle == 0.5:
        return composed(self, _hardsigmoid)  # one rounding less
    return (self * slope + middle).clamp(0, 1)


def hardswish(self: Tensor) -> Tensor:
    """Return `self * hardsigmoid(self)`.

    Example:
        >>> Tensor([-9.0, 0.0, 9.0]).hardswish().tolist()
        [-0.0, 0.0, 9.0]
    """
    return composed(self, lambda x: x * _hardsigmoid(x))


def _relu6(x: UOp) -> UOp:
    return (x <= 0).where(x.const_like(0), (x >= 6).where(x.const_like(6), x))


def _hardsigmoid(x: UOp) -> UOp:
    return _relu6(x + 3.0) / 6.0


def _elu(x: UOp, alpha: float) -> UOp:
    # above 0, the exponential would overflow
    return (x > 0.0).where(x, graphs.expm1((x > 0.0).where(x.const_like(0.0), x)) * alpha)


def _sigmoid(x: UOp) -> UOp:
    # with e = exp(-|x|) <= 1: 1/(1+e) above 0, e/(1+e) below
    e = (x < 0.0).where(x, -x).exp()
    return (x < 0.0).where(e, e.const_like(1.0)) / (e + 1.0)


def _softplus(x: UOp) -> UOp:
    # log(1 + e**x) = max(x, 0) + log(1 + e**-|x|)
    size = (x < 0.0).where(-x, x)
    positive = (x < 0.0).where(x.const_like(0.0), x)
    return positive + graphs.log1p((-size).exp())


def _exact_gelu(x: UOp) -> UOp:
    # erfc keeps the digits where 1 + erf would cancel; x itself is infinite at most where that is 0
    share = graphs.erfc(x * -math.sqrt(0.5)) * 0.5
    return share.eq(0.0).where(x.const_like(0.0), x * share)


def _gelu(x: UOp) -> UOp:
    # (1 + tanh(y)) / 2 is sigmoid(2*y), which does not cancel below 0; y has the factor sqrt(2/pi)
    return x * _sigmoid((x + x * x * x * 0.044715) * math.sqrt(8 / math.pi))


def glu(self: Tensor, axis: int = -1, **names: Unpack[AxisNames]) -> Tensor:
    """Return half of an axis times the sigmoid of the rest: (.., 2n, ..) -> (.., n, ..).

    Source: Dauphin et al. 2017, section 2.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis has an odd number of elements.

    Example:
        >>> Tensor([4.0, 0.0]).glu().tolist()
        [2.0]
    """
    if names:
        (axis,) = renamed(self.glu, names, axis=axis)
    at = one_axis(axis, self.ndim)
    size = self.shape[at]
    if size_today(size) % 2:
        raise ShapeError(f"axis {axis} of shape {show(self.shape)} has no two equal halves. Pad or cut it.")
    if not isinstance(size, int):
        first, second = equal_parts(self, at, 2)
        return first * second.sigmoid()
    return interval(self, at, 0, size // 2) * interval(self, at, size // 2, size).sigmoid()


def prelu(self: Tensor, weight: Tensor | float) -> Tensor:
    """Return values below 0 times `weight`, a number or one for each channel (axis 1).

    Source: He et al. 2015, section 2.1.

    Raises:
        ShapeError: `weight` has another number of elements than 1 and the channels.
        DtypeError: `weight` is neither a tensor nor a number.

    Example:
        >>> Tensor([[-2.0, 3.0]]).prelu(Tensor([0.5, 0.1])).tolist()
        [[-1.0, 3.0]]
    """
    weight = as_tensor_operand(self, weight)
    count = weight.numel()
    channels = self.shape[1] if self.ndim > 1 else 1
    if weight.ndim > 1 or (count != 1 and count is not channels and count != channels):
        raise ShapeError(
            f"prelu of shape {show(self.shape)}: weight has shape {show(weight.shape)}. Give one slope, "
            f"or {channels if isinstance(channels, int) else 'one'} for the channels on axis 1."
        )
    slopes = weight.reshape(()) if count == 1 else weight.reshape(-1, *(1,) * (self.ndim - 2))
    # one product, not a choice of two: a slope that is NaN has no part in what is above 0. True is 1 in
    # every dtype, also of bools, which an integer would make integers.
    return self * (self > 0).where(True, slopes)


def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
    """Return values up to `threshold` as `value`.

    Example:
        >>> Tensor([1.0, 2.0, 3.0]).threshold(2, -1).tolist()
        [-1.0, -1.0, 3.0]
    """
    # the comparison this way round keeps NaN
    return (self <= threshold).where(value, self)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return values of a magnitude up to `lambd` as 0.

    Raises:
        DtypeError: `lambd` is no number.
        ArgumentError: `lambd` is negative.

    Example:
        >>> Tensor([-2.0, 0.25]).hardshrink().tolist()
        [-2.0, 0.0]
    """
    width = _width(lambd)
    return ((self <= width) & (self >= -width)).where(0.0, self)


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return values nearer to 0 by `lambd`, those of a lesser magnitude as 0.

    Raises:
        DtypeError: `lambd` is no number.
        ArgumentError: `lambd` is negative.

    Example:
        >>> Tensor([-2.0, 0.25]).softshrink().tolist()
        [-1.5, 0.0]
    """
    width = _width(lambd)
    below = (self < -width).where(self + width, self * 0.0)
    return (self > width).where(self - width, below)


def tanhshrink(self: Tensor) -> Tensor:
    """Return `self - tanh(self)`.

    Example:
        >>> Tensor([0.0]).tanhshrink().tolist()
        [0.0]
    """
    return composed(self, lambda x: x - graphs.tanh(x))


def _width(lambd: float) -> float:
    width = as_number(lambd)
    if width < 0:
        raise ArgumentError(f"lambd={lambd} is negative. Give the width of the part that becomes 0.")
    return width
