"""Rules of DISPATCH nodes, for devices that run loops or for grids.

They are values, equal where their functions and settings are: equal graphs stay one node.
"""

from collections.abc import Callable
from typing import Any

from plugrad._frozen import frozen
from plugrad.uop import UOp


@frozen
class OnGrids:
    """Take `function(device, *inputs, *settings)` where kernels run no loops in order."""

    function: Callable[..., UOp | None]
    settings: tuple[Any, ...] = ()

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
        """Return the other graph, or None where there is none for this device."""
        return None if runs_loops else self.function(device, *inputs, *self.settings)


@frozen
class InLoops:
    """Take `function(device, *inputs, *settings)` where kernels run loops in order."""

    function: Callable[..., UOp | None]
    settings: tuple[Any, ...] = ()

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
        """Return the other graph, or None where there is none for this device."""
        return self.function(device, *inputs, *self.settings) if runs_loops else None
