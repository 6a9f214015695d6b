"""Apply functions one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plugrad.errors import ArgumentError
from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import REQUIRED, renamed


def sequential(self: Tensor, layers: Iterable[Callable[[Tensor], Tensor]] = REQUIRED, **names: Any) -> Tensor:
    """Apply `layers` one after the other.

    Raises:
        ArgumentError: these are no functions of tensors.

    Example:
        >>> Tensor([1.0, -4.0]).sequential([Tensor.abs, Tensor.sqrt]).tolist()
        [1.0, 2.0]
    """
    if names or layers is REQUIRED:
        (layers,) = renamed(self.sequential, names, layers=layers)
    given: Any = layers
    if not hasattr(given, "__iter__"):
        raise ArgumentError(f"{given!r:.60} ({type(given).__name__}) are no layers. Pass a list.")
    out = self
    for layer in layers:
        if not callable(layer):
            raise ArgumentError(f"{layer!r:.60} ({type(layer).__name__}) is no layer: call it.")
        out = layer(out)
    return out
