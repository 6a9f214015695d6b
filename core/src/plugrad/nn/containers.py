"""Layers one after the other."""

from collections.abc import Callable

from plugrad.tensor import Tensor

__all__ = ["Sequential"]


class Sequential(list[Callable[[Tensor], Tensor]]):
    """A list of layers, or functions of a tensor, each of which takes what the one before it gives.

    Its state is named as PyTorch names it: "0.weight", "0.bias", "2.weight" and so on.

    Example:
        >>> model = Sequential(Linear(3, 4), Tensor.relu, Linear(4, 2))
        >>> model(Tensor.ones(5, 3)).shape
        (5, 2)
    """

    def __init__(self, *layers: Callable[[Tensor], Tensor]) -> None:
        super().__init__(layers)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the last layer's output for `x`."""
        return x.sequential(self)
