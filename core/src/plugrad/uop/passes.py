"""Pipelines: the one place where the order of passes is decided, checked and observed.

What a pipeline works on is a graph, or a draft that holds graphs.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar, cast

from plugrad import events
from plugrad._frozen import frozen
from plugrad.errors import VerifyError
from plugrad.settings import settings
from plugrad.uop.spec import Spec, verify
from plugrad.uop.uop import UOp


class GraphBundle(Protocol):
    """More than one graph on its way through a pipeline."""

    @property
    def graphs(self) -> Iterable[UOp]:
        """The graphs that the spec of a stage speaks of."""
        ...


def graph_of(state: object) -> UOp:
    """Return the graph of a pass as one node; several graphs under one SINK."""
    return state if isinstance(state, UOp) else UOp.sink(*cast(GraphBundle, state).graphs)


State = TypeVar("State", UOp, Any)


@frozen
class Stage(Generic[State]):
    """One pass: its function, its result's spec, and the reason for its place."""

    run: Callable[[State, Any], State]
    spec: Spec
    why: str

    @property
    def name(self) -> str:
        """The pass's name: that of its function."""
        return self.run.__name__

    @property
    def summary(self) -> str:
        """The first line of the pass's docstring."""
        return (self.run.__doc__ or "").strip().partition("\n")[0]


@frozen
class Pipeline(Generic[State]):
    """A tuple of passes, run in order."""

    name: str
    stages: tuple[Stage[State], ...]

    def run(self, graph: State, ctx: Any = None) -> State:
        """Apply the passes to `graph`; each gets `ctx`, frozen data about the target.

        Raises:
            VerifyError: with SPEC=1, a pass left a graph that its stage's spec forbids.
        """
        checking, watched = bool(settings.SPEC), events.listening(events.PassEvent)
        spec, passed = None, set[UOp]()
        for stage in self.stages:
            started = time.perf_counter()
            after = stage.run(graph, ctx)
            if watched:
                seconds = time.perf_counter() - started
                events.emit(events.PassEvent(self.name, stage.name, graph, after, seconds))
            if checking:
                if stage.spec is not spec:
                    spec, passed = stage.spec, set[UOp]()
                _check(self.name, stage, after, passed)
            graph = after
        return graph


def _check(pipeline: str, stage: Stage[Any], state: UOp | GraphBundle, passed: set[UOp]) -> None:
    """Verify the result of a pass, except nodes in `passed` that met this spec."""
    try:
        for graph in (state,) if isinstance(state, UOp) else state.graphs:
            verify(graph, stage.spec, passed)
    except VerifyError as error:
        raise VerifyError(f"after pass {stage.name} of {pipeline}: {error}") from error
