"""Apply functions one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import REQUIRED, renamed


def sequential(self: Tensor, layers: Iterable[Callable[[Tensor], Tensor]] = REQUIRED, **names: Any) -> Tensor:
    """Apply `layers` one after the other.

    Example:
        >>> Tensor([1.0, -4.0]).sequential([Tensor.abs, Tensor.sqrt]).tolist()
        [1.0, 2.0]
    """
    if names or layers is REQUIRED:
        (layers,) = renamed(self.sequential, names, layers=layers)
    out = self
    for layer in layers:
        out = layer(out)
    return out
