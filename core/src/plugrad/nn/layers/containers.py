"""Modules that hold others: `Sequential`, `ModuleList` and `ModuleDict`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, SupportsIndex, overload

from plugrad.errors import ArgumentError
from plugrad.nn.module import Module, UnaryModule
from plugrad.tensor import Tensor

__all__ = ["ModuleDict", "ModuleList", "Sequential"]

Layer = Callable[[Tensor], Tensor]


class Sequential(UnaryModule, list[Layer]):
    """A list of layers or functions, each applied to the output of the one before.

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
        >>> model
        Sequential(
          (0): Linear(in_features=3, out_features=4)  # 16 parameters
          (1): relu
          (2): Linear(in_features=4, out_features=2)  # 10 parameters
        )  # 26 parameters
    """

    def __init__(self, *layers: Layer) -> None:
        super().__init__(_checked(layers))

    def forward(self, x: Tensor) -> Tensor:
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

    def _parts(self) -> Iterator[tuple[str, object]]:
        return ((str(number), layer) for number, layer in enumerate(self))


class ModuleList(Module, list[Any]):
    """A list of layers with the methods of `Module`.

    An ordinary list as an attribute is found as well.

    Example:
        >>> layers = ModuleList(Linear(3, 3) for _ in range(2))
        >>> layers.append(Linear(3, 1))
        >>> len(layers), [name for name, _ in layers.named_parameters()][:2]
        (3, ['0.weight', '0.bias'])
    """

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        super().__init__(modules)


class ModuleDict(Module, dict[str, Any]):
    """A dict of layers with the methods of `Module`.

    An ordinary dict as an attribute is found as well.

    Example:
        >>> layers = ModuleDict({"left": Linear(3, 1), "right": Linear(3, 1)})
        >>> layers["left"](Tensor.ones(3)).shape, list(layers.state_dict())[0]
        ((1,), 'left.weight')
    """

    def __init__(self, modules: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(modules)


def _checked(layers: Iterable[Layer]) -> Iterable[Layer]:
    for number, layer in enumerate(layers):
        if not callable(layer):
            raise ArgumentError(
                f"Sequential: layer {number} is {layer!r:.100}, which is no layer. Pass them one by one, not "
                "in a list or a dict: Sequential(*layers)."
            )
        yield layer
