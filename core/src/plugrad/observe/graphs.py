"""The graph that a pass works on, as one node."""

from typing import cast

from plugrad.uop import UOp
from plugrad.uop.passes import GraphBundle


def graph_of(state: object) -> UOp:
    """Return the root of a graph; the graphs of a draft under one SINK."""
    return state if isinstance(state, UOp) else UOp.sink(*cast(GraphBundle, state).graphs)
