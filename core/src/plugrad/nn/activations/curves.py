"""Activations whose curve has constants."""

from typing import Literal

from plugrad.nn.activations.in_place import InPlace
from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor


class LeakyReLU(InPlace):
    """Elements, the negative ones times a slope: `Tensor.leaky_relu`.

    Example:
        >>> LeakyReLU(0.5)(Tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.leaky_relu(self.negative_slope)


class ELU(InPlace):
    """Elements, of the negative ones an exponential: `Tensor.elu`.

    Example:
        >>> ELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.elu(self.alpha)


class CELU(InPlace):
    """Elements, of the negative ones an exponential: `Tensor.celu`.

    Example:
        >>> CELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.celu(self.alpha)


class GELU:
    """Elements times how likely a normal number is below them: `Tensor.gelu`, exact unless asked.

    Example:
        >>> GELU()(Tensor([0.0])).tolist()
        [0.0]
    """

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        self.approximate: Literal["none", "tanh"] = approximate

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.gelu(self.approximate)


class Softplus:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above `threshold`: `Tensor.softplus`.

    Example:
        >>> round(Softplus()(Tensor(0.0)).item(), 3)
        0.693
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = threshold

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return (x * self.beta > self.threshold).where(x, x.softplus(self.beta))
