"""Activations that have nothing to set."""

from plugrad.nn.activations.in_place import InPlace
from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor


class ReLU(InPlace):
    """The larger one of 0 and the element: `Tensor.relu`.

    Example:
        >>> ReLU()(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.relu()


class ReLU6(InPlace):
    """Elements limited to 0 to 6: `Tensor.relu6`.

    Example:
        >>> ReLU6()(Tensor([-1.0, 7.0])).tolist()
        [0.0, 6.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.relu6()


class SiLU(InPlace):
    """Elements times their sigmoid: `Tensor.silu`.

    Example:
        >>> SiLU()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.silu()


class Mish(InPlace):
    """Elements times the tanh of their softplus: `Tensor.mish`.

    Example:
        >>> Mish()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.mish()


class SELU(InPlace):
    """The exponential linear unit that keeps mean 0 and variance 1: `Tensor.selu`.

    Example:
        >>> SELU()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.selu()


class Hardswish(InPlace):
    """SiLU with straight lines: `Tensor.hardswish`.

    Example:
        >>> Hardswish()(Tensor([-4.0, 4.0])).tolist()
        [-0.0, 4.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.hardswish()


class Hardsigmoid(InPlace):
    """The sigmoid with straight lines: `Tensor.hardsigmoid`.

    Example:
        >>> Hardsigmoid()(Tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.hardsigmoid()


class Sigmoid:
    """1 / (1 + exp(-x)): `Tensor.sigmoid`.

    Example:
        >>> Sigmoid()(Tensor([0.0])).tolist()
        [0.5]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.sigmoid()


class Tanh:
    """The hyperbolic tangent: `Tensor.tanh`.

    Example:
        >>> Tanh()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.tanh()


class LogSigmoid:
    """The logarithm of the sigmoid: `Tensor.logsigmoid`.

    Example:
        >>> round(LogSigmoid()(Tensor(0.0)).item(), 3)
        -0.693
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.logsigmoid()


class Softsign:
    """x / (1 + abs(x)): `Tensor.softsign`.

    Example:
        >>> Softsign()(Tensor([1.0])).tolist()
        [0.5]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.softsign()


class Tanhshrink:
    """x - tanh(x): `Tensor.tanhshrink`.

    Example:
        >>> Tanhshrink()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.tanhshrink()
