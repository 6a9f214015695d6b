"""Prepare several launches as one, which a single call runs again and again."""

from typing import Any, Protocol

from plugrad._frozen import frozen
from plugrad.runtime.runner import Runner


@frozen
class GraphLaunch:
    """One launch of a graph, with the arguments of a `Runner` at the first run."""

    runner: Runner
    handles: tuple[Any, ...]
    values: tuple[int, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]


class Graph(Protocol):
    """Launches of one device in their order, prepared once.

    One thread at a time changes or runs a graph.

    What a run changed stays for the next one.
    """

    def set_handle(self, launch: int, slot: int, handle: Any) -> None:
        """Use another block in one slot of launch number `launch`."""
        ...

    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Use other variable values and launch sizes for launch number `launch`."""
        ...

    def __call__(self, wait: bool = False) -> float | None:
        """Launch all.

        Returns:
            The seconds they took on the device where `wait` asked for them, else None.
        """
        ...
