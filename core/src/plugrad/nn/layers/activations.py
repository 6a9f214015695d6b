"""Activations as layers, for lists of layers that are written with PyTorch's names.

Only `PReLU` holds a parameter, the others hold settings: `Tensor.relu` in such a list does what `ReLU()`
does.
"""

from typing import Literal

from plugrad.nn.init import parameter
from plugrad.nn.module import UnaryFunction, UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _InPlace(UnaryFunction):
    """Takes `inplace`, which changes nothing."""

    inplace: bool = False


class ReLU(_InPlace, function=Tensor.relu):
    """The larger one of 0 and the element: `Tensor.relu`.

    Example:
        >>> ReLU()(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """


class ReLU6(_InPlace, function=Tensor.relu6):
    """Elements limited to 0 to 6: `Tensor.relu6`.

    Example:
        >>> ReLU6()(Tensor([-1.0, 7.0])).tolist()
        [0.0, 6.0]
    """


class SiLU(_InPlace, function=Tensor.silu):
    """Elements times their sigmoid: `Tensor.silu`.

    Example:
        >>> SiLU()(Tensor([0.0])).tolist()
        [0.0]
    """


class Mish(_InPlace, function=Tensor.mish):
    """Elements times the tanh of their softplus: `Tensor.mish`.

    Example:
        >>> Mish()(Tensor([0.0])).tolist()
        [0.0]
    """


class SELU(_InPlace, function=Tensor.selu):
    """The exponential linear unit that keeps mean 0 and variance 1: `Tensor.selu`.

    Example:
        >>> SELU()(Tensor([0.0])).tolist()
        [0.0]
    """


class Hardswish(_InPlace, function=Tensor.hardswish):
    """SiLU with straight lines: `Tensor.hardswish`.

    Example:
        >>> Hardswish()(Tensor([-4.0, 4.0])).tolist()
        [-0.0, 4.0]
    """


class Hardsigmoid(_InPlace, function=Tensor.hardsigmoid):
    """The sigmoid with straight lines: `Tensor.hardsigmoid`.

    Example:
        >>> Hardsigmoid()(Tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """


class Sigmoid(UnaryFunction, function=Tensor.sigmoid):
    """1 / (1 + exp(-x)): `Tensor.sigmoid`.

    Example:
        >>> Sigmoid()(Tensor([0.0])).tolist()
        [0.5]
    """


class Tanh(UnaryFunction, function=Tensor.tanh):
    """The hyperbolic tangent: `Tensor.tanh`.

    Example:
        >>> Tanh()(Tensor([0.0])).tolist()
        [0.0]
    """


class LogSigmoid(UnaryFunction, function=Tensor.logsigmoid):
    """The logarithm of the sigmoid: `Tensor.logsigmoid`.

    Example:
        >>> round(LogSigmoid()(Tensor(0.0)).item(), 3)
        -0.693
    """


class Softsign(UnaryFunction, function=Tensor.softsign):
    """x / (1 + abs(x)): `Tensor.softsign`.

    Example:
        >>> Softsign()(Tensor([1.0])).tolist()
        [0.5]
    """


class Tanhshrink(UnaryFunction, function=Tensor.tanhshrink):
    """x - tanh(x): `Tensor.tanhshrink`.

    Example:
        >>> Tanhshrink()(Tensor([0.0])).tolist()
        [0.0]
    """


class LeakyReLU(UnaryFunction, function=Tensor.leaky_relu):
    """Elements, the negative ones times a slope: `Tensor.leaky_relu`.

    Example:
        >>> LeakyReLU(0.5)(Tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    negative_slope: float = 0.01
    inplace: bool = False


class ELU(UnaryFunction, function=Tensor.elu):
    """Elements, of the negative ones an exponential: `Tensor.elu`.

    Example:
        >>> ELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    alpha: float = 1.0
    inplace: bool = False


class CELU(ELU, function=Tensor.celu):
    """Elements, of the negative ones an exponential: `Tensor.celu`.

    Example:
        >>> CELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """


class GELU(UnaryFunction, function=Tensor.gelu):
    """Elements times how likely a normal number is below them: `Tensor.gelu`, exact unless asked.

    Example:
        >>> GELU()(Tensor([0.0])).tolist()
        [0.0]
    """

    approximate: Literal["none", "tanh"] = "none"


class Softplus(UnaryFunction):
    """A smooth ReLU, `log(1+exp(beta*x))/beta`, linear above `threshold`: `Tensor.softplus`.

    Example:
        >>> round(Softplus()(Tensor(0.0)).item(), 3)
        0.693
    """

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.beta > self.threshold).where(x, x.softplus(self.beta))


class Hardtanh(UnaryFunction, function=Tensor.hardtanh):
    """Elements limited to `min_val` to `max_val`: `Tensor.hardtanh`.

    Example:
        >>> Hardtanh()(Tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class Threshold(UnaryFunction, function=Tensor.threshold):
    """Elements above `threshold`, and `value` in place of the others: `Tensor.threshold`.

    Example:
        >>> Threshold(1.0, 9.0)(Tensor([1.0, 2.0])).tolist()
        [9.0, 2.0]
    """

    threshold: float
    value: float
    inplace: bool = False


class Hardshrink(UnaryFunction, function=Tensor.hardshrink):
    """Elements, 0 in place of those within `lambd` of it: `Tensor.hardshrink`.

    Example:
        >>> Hardshrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 2.0]
    """

    lambd: float = 0.5


class Softshrink(Hardshrink, function=Tensor.softshrink):
    """Elements moved towards 0 by `lambd`: `Tensor.softshrink`.

    Example:
        >>> Softshrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 1.5]
    """


class GLU(UnaryFunction, function=Tensor.glu):
    """The first half along an axis times the sigmoid of the other: `Tensor.glu`.

    Example:
        >>> GLU()(Tensor([2.0, 0.0])).tolist()
        [1.0]
    """

    dim: int = -1


class Softmax(UnaryFunction, function=Tensor.softmax):
    """Numbers that add up to 1 along an axis: `Tensor.softmax`.

    Example:
        >>> Softmax(0)(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    dim: int


class Softmin(Softmax, function=Tensor.softmin):
    """`Softmax` of the negative elements: `Tensor.softmin`.

    Example:
        >>> Softmin(0)(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """


class LogSoftmax(Softmax, function=Tensor.log_softmax):
    """The logarithm of `Softmax`: `Tensor.log_softmax`.

    Example:
        >>> LogSoftmax(0)(Tensor([3.0])).tolist()
        [0.0]
    """


class PReLU(UnaryModule):
    """Elements, the negative ones times a learnt slope: `Tensor.prelu`.

    Args:
        num_parameters: one slope for all, or one for each channel (axis 1).
        init: the first value of the slope.
        device: where it lives; `Device.DEFAULT` if left out.
        dtype: its dtype; the default float if left out.

    Source: He et al. 2015.

    Example:
        >>> PReLU()(Tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.weight = parameter(Tensor.ones(num_parameters, device=device, dtype=dtype) * init)

    def forward(self, x: Tensor) -> Tensor:
        return x.prelu(self.weight)
