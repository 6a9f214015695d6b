"""Graphs with a defect, of a backend that compiles."""

from collections.abc import Callable, Sequence
from typing import Any

from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad_conformance.mutants.mutant import Mutant

Prepare = Callable[[Sequence[GraphLaunch]], Any]
_GRAPHS = "core/graphs/"


class _Wrapped:
    """A graph that hands everything on; defects override a method."""

    def __init__(self, prepare: Prepare, launches: Sequence[GraphLaunch]) -> None:
        self.inner: Graph = prepare(launches)

    def set_handle(self, launch: int, slot: int, handle: Any) -> None:
        """Hand on."""
        self.inner.set_handle(launch, slot, handle)

    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Hand on."""
        self.inner.set_sizes(launch, values, global_size, local_size)

    def __call__(self, wait: bool = False) -> float | None:
        """Hand on."""
        return self.inner(wait)


class _FirstBlocks(_Wrapped):
    def set_handle(self, launch: int, slot: int, handle: Any) -> None:
        """Forget to exchange."""


class _FirstSizes(_Wrapped):
    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Forget to exchange."""


class _OneLaunchExchanged(_Wrapped):
    """Exchanges the blocks of the first launch only."""

    def set_handle(self, launch: int, slot: int, handle: Any) -> None:
        if launch == 0:
            self.inner.set_handle(launch, slot, handle)


class _RunsOnce(_Wrapped):
    is_done = False

    def __call__(self, wait: bool = False) -> float | None:
        if self.is_done:
            return 0.0 if wait else None
        self.is_done = True
        return self.inner(wait)


def _last_left_out(prepare: Prepare, launches: Sequence[GraphLaunch]) -> Any:
    """Prepare all but the last, for which the one before it runs again."""
    return prepare([*launches[:-1], launches[-2]])


MUTANTS = (
    Mutant(
        "graph-keeps-first-blocks",
        "a graph runs on the blocks that it was made with",
        (_GRAPHS + "replays-other-inputs", _GRAPHS + "replays-parts"),
        base="CPU",
        graph=_FirstBlocks,
    ),
    Mutant(
        "graph-keeps-first-sizes",
        "a graph runs with the variables that it was made with",
        (_GRAPHS + "replays-other-variables",),
        base="CPU",
        graph=_FirstSizes,
    ),
    Mutant(
        "graph-exchanges-one-launch",
        "a graph exchanges the blocks of its first launch only",
        (_GRAPHS + "replays-other-inputs",),
        base="CPU",
        graph=_OneLaunchExchanged,
    ),
    Mutant(
        "graph-runs-once",
        "a graph that ran before is not run again",
        (_GRAPHS + "replays-what-it-wrote",),
        base="CPU",
        graph=_RunsOnce,
    ),
    Mutant(
        "graph-leaves-out-the-last",
        "the last launch of a graph is the one before it",
        (_GRAPHS + "replays-other-inputs",),
        base="CPU",
        graph=_last_left_out,
    ),
)
