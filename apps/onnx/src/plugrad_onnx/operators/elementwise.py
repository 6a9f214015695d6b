"""Compute each element from elements at the same place: arithmetic and functions of one number."""

import functools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from plugrad import Tensor
from plugrad.dtype import is_float, is_int
from plugrad_onnx.registry import operator
from plugrad_onnx.values import Array, sizes_of

_SAME_IN_TENSORS: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": Tensor.abs,
    "Acos": Tensor.acos,
    "Acosh": Tensor.acosh,
    "Asin": Tensor.asin,
    "Asinh": Tensor.asinh,
    "Atan": Tensor.atan,
    "Atanh": Tensor.atanh,
    "BitwiseNot": Tensor.bitwise_not,
    "Ceil": Tensor.ceil,
    "Cos": Tensor.cos,
    "Cosh": Tensor.cosh,
    "Erf": Tensor.erf,
    "Exp": Tensor.exp,
    "Floor": Tensor.floor,
    "HardSwish": Tensor.hardswish,
    "IsNaN": Tensor.isnan,
    "Log": Tensor.log,
    "Mish": Tensor.mish,
    "Neg": Tensor.neg,
    "Not": Tensor.logical_not,
    "Reciprocal": Tensor.reciprocal,
    "Relu": Tensor.relu,
    "Round": Tensor.round,
    "Sigmoid": Tensor.sigmoid,
    "Sign": Tensor.sign,
    "Sin": Tensor.sin,
    "Sinh": Tensor.sinh,
    "Softplus": Tensor.softplus,
    "Softsign": Tensor.softsign,
    "Sqrt": Tensor.sqrt,
    "Tan": Tensor.tan,
    "Tanh": Tensor.tanh,
}


def _enter(name: str, method: Callable[[Tensor], Tensor]) -> None:
    @operator(name)
    def apply(x: Tensor) -> Tensor:
        return method(x)


for _name, _method in _SAME_IN_TENSORS.items():
    _enter(_name, _method)


def aligned(a: Tensor, b: Tensor, axis: int | None) -> Tensor:
    """Return `b` with axes added behind, so that it begins at axis `axis` of `a`.

    Before opset 7 the second operand of arithmetic said in an attribute where it stands.
    """
    if axis is None or b.ndim == 0:
        return b
    behind = a.ndim - axis % max(a.ndim, 1) - b.ndim
    return b.reshape(*sizes_of(b), *(1,) * behind)


@operator("Add")
def add(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return a + b."""
    return a + aligned(a, b, axis)


@operator("Sub")
def sub(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return a - b."""
    return a - aligned(a, b, axis)


@operator("Mul")
def mul(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return a * b."""
    return a * aligned(a, b, axis)


@operator("Div")
def div(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return a / b; of integers the quotient towards zero."""
    b = aligned(a, b, axis)
    return a.div(b, rounding_mode="trunc").cast(a.dtype) if is_int(a.dtype) else a / b


@operator("Mod")
def mod(a: Tensor, b: Tensor, *, fmod: Literal[0, 1] = 0) -> Tensor:
    """Return the remainder with the sign of the divisor, with `fmod` of the dividend."""
    return (a.fmod(b) if fmod else a.mod(b)).cast(a.dtype)


@operator("Pow")
def power(x: Tensor, y: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Return x to the power y, in the type of x."""
    y = aligned(x, y, axis)
    if is_float(y.dtype) and not is_float(x.dtype):
        return x.cast(y.dtype).pow(y).cast(x.dtype)
    return x.pow(y if is_int(y.dtype) and is_int(x.dtype) else y.cast(x.dtype)).cast(x.dtype)


@operator("Sum")
def sum_of(*inputs: Tensor) -> Tensor:
    """Return the sum of all inputs."""
    return functools.reduce(lambda a, b: a + b, inputs)


@operator("Mean")
def mean_of(*inputs: Tensor) -> Tensor:
    """Return the mean of all inputs."""
    return sum_of(*inputs) / len(inputs)


@operator("Max")
def max_of(*inputs: Tensor) -> Tensor:
    """Return the largest of all inputs."""
    return functools.reduce(Tensor.maximum, inputs)


@operator("Min")
def min_of(*inputs: Tensor) -> Tensor:
    """Return the smallest of all inputs."""
    return functools.reduce(Tensor.minimum, inputs)


@operator("Clip")
def clip(
    x: Tensor, min: Tensor | Array | float | None = None, max: Tensor | Array | float | None = None
) -> Tensor:
    """Return x between two limits; the upper one holds where they cross."""
    out = x
    if min is not None:
        out = out.maximum(_limit(min, x))
    return out if max is None else out.minimum(_limit(max, x))


def _limit(limit: Tensor | Array | float, x: Tensor) -> Tensor:
    if isinstance(limit, Tensor):
        return limit.cast(x.dtype)
    return Tensor.full((), np.asarray(limit).item(), dtype=x.dtype)


@operator("IsInf")
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    """Return where x is infinite."""
    return x.isinf(bool(detect_positive), bool(detect_negative))


@operator("Where")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return x where the condition holds, else y."""
    return condition.where(x, y)


@operator("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x, and below zero alpha * (exp(x) - 1)."""
    return (x < 0).where(alpha * x.minimum(0).expm1(), x)


@operator("Celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x, and below zero alpha * (exp(x / alpha) - 1)."""
    return x.maximum(0) + (alpha * (x / alpha).expm1()).minimum(0)


@operator("Selu")
def selu(x: Tensor, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323) -> Tensor:
    """Return the scaled exponential linear unit of x."""
    return gamma * (x <= 0).where(alpha * x.minimum(0).expm1(), x)


@operator("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """Return x, and alpha * x below zero."""
    return (x < 0).where(alpha * x, x)


@operator("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """Return x, and slope * x below zero.

    Before opset 7, slopes stand for the channels, which are axis 1.
    """
    if slope.ndim == 1 and x.ndim > 2 and sizes_of(slope)[0] == sizes_of(x)[1] != sizes_of(x)[-1]:
        slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
    return (x < 0).where(slope * x, x)


@operator("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x where it is above alpha, else 0."""
    return (x > alpha).where(x, 0).cast(x.dtype)


@operator("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """Return alpha * x + beta between 0 and 1."""
    return (alpha * x + beta).clip(0, 1)


@operator("Shrink")
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    """Return x nearer to zero by the bias, and 0 where it is within lambd."""
    wide = x if is_float(x.dtype) else x.cast("float32")
    return (wide < -lambd).where(wide + bias, (wide > lambd).where(wide - bias, 0)).cast(x.dtype)


@operator("Gelu")
def gelu(x: Tensor, *, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """Return x times the normal distribution's probability of less than x."""
    if approximate == "tanh":
        return 0.5 * x * (1 + (math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)).tanh())
    return 0.5 * x * (1 + (x / math.sqrt(2)).erf())


@operator("Swish")
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x * sigmoid(alpha * x)."""
    return x * (alpha * x).sigmoid()


@operator("SwiGLU")
def swiglu(a: Tensor, b: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return swish(a) * b."""
    return swish(a, alpha=alpha) * b
