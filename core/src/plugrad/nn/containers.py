"""Layers one after the other."""

from collections.abc import Callable, Iterable
from typing import SupportsIndex, overload

from plugrad.errors import ArgumentError
from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor

__all__ = ["Sequential"]

Layer = Callable[[Tensor], Tensor]


class Sequential(list[Layer]):
    """A list of layers, or functions of a tensor, each of which takes what the one before it gives.

    Its state is named as PyTorch names it: "0.weight", "0.bias", "2.weight" and so on. A slice of it is
    another one.

    Raises:
        ArgumentError: something cannot be called.

    Example:
        >>> model = Sequential(Linear(3, 4), Tensor.relu, Linear(4, 2))
        >>> model(Tensor.ones(5, 3)).shape
        (5, 2)
        >>> model[:2](Tensor.ones(5, 3)).shape
        (5, 4)
    """

    def __init__(self, *layers: Layer) -> None:
        super().__init__(_checked(layers))

    def __call__(self, x: Tensor) -> Tensor:
        """Return the last layer's output for `x`."""
        check_tensors(self, x=x)
        return x.sequential(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Layer: ...

    @overload
    def __getitem__(self, index: slice) -> "Sequential": ...

    def __getitem__(self, index: SupportsIndex | slice) -> "Layer | Sequential":
        """Return a layer, or some of them in order."""
        if isinstance(index, slice):
            return Sequential(*super().__getitem__(index))
        return super().__getitem__(index)


def _checked(layers: Iterable[Layer]) -> Iterable[Layer]:
    for number, layer in enumerate(layers):
        if not callable(layer):
            raise ArgumentError(
                f"Sequential: layer {number} is {layer!r:.100}, which is no layer. Pass them one by one, not "
                "in a list or a dict: Sequential(*layers)."
            )
        yield layer
