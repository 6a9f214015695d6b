"""Write the operations that a target lacks with its native ones.

Every target has ADD, MUL, the comparisons, AND, OR, XOR, shifts, CDIV, WHERE, CAST and BITCAST. What else
is not in its `native_ops` is rewritten here, free of branches, for scalars and vectors alike.
"""

from functools import cache

from plugrad.codegen.decompositions import (
    arithmetic,
    byte_floats,
    integers,
    small_floats,
    threefry,
    transcendental,
)
from plugrad.target import Capabilities
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.uop import UOp

__all__ = ["decompose", "rules"]


@cache
def rules(capabilities: Capabilities) -> PatternMatcher:
    """Return the rules that a target with `capabilities` needs."""
    # small floats first: an op is widened before it is taken apart
    return (
        small_floats.rules(capabilities)
        + byte_floats.rules(capabilities)
        + transcendental.rules(capabilities)
        + threefry.rules(capabilities)
        + integers.rules(capabilities)
        + arithmetic.rules(capabilities)
    )


def decompose(sink: UOp, capabilities: Capabilities) -> UOp:
    """Rewrite operations that the target lacks.

    before: FLOORDIV(x, 8), x: int32
    after:  SHR(x, 3)
    """
    out = graph_rewrite(sink, rules(capabilities), name="decompose")
    return byte_floats.store_as_bytes(out, capabilities)
