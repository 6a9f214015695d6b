"""Choose the graph of each DISPATCH: one for devices with loops, another for a grid.

Runs first: no other pass meets a DISPATCH, and nobody who builds a graph needs to know its device.
"""

from collections.abc import Mapping

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel
from plugrad.schedule.scatter import is_updated
from plugrad.uop import Ops, UOp


def dispatch(sink: UOp, cost: Mapping[str, CostModel], default_device: str) -> dict[UOp, UOp]:
    """Return replacements for the nodes below `sink` that have a choice.

    before: DISPATCH(x, *inputs)
    after:  x, or what the rule makes of the inputs
    """
    if not any(u.op is Ops.DISPATCH for u in sink.toposort()):
        return {}
    done: dict[UOp, UOp] = {}
    chosen: dict[UOp, UOp] = {}
    stack = [sink]
    while stack:
        u = stack[-1]
        if u.op is Ops.DISPATCH and u not in chosen:
            chosen[u] = _chosen(u, cost, default_device)
        # what is not chosen is not visited
        sources = (chosen[u],) if u.op is Ops.DISPATCH else u.src
        if missing := [s for s in sources if s not in done]:
            stack.extend(missing)
            continue
        stack.pop()
        new = tuple([done[s] for s in sources])
        if u.op is Ops.DISPATCH:
            done[u] = new[0]
        else:
            done[u] = u if new == u.src else UOp(u.op, u.dtype, new, u.arg, u.tag)
    return done


def _chosen(u: UOp, cost: Mapping[str, CostModel], default_device: str) -> UOp:
    device = u.device or default_device
    model = cost.get(device)
    if model is None or is_updated(u.src[0], u.src[1:], model):
        return u.src[0]
    other = u.arg.rule(device, model.runs_loops, u.src[1:])
    if other is None or (not model.has_doubles and any(n.dtype is dtypes.float64 for n in other.toposort())):
        return u.src[0]
    is_same = other.dtype is u.dtype and other.shape == u.shape
    assert is_same, f"a rule made {other.dtype.name} {other.shape} of {u.dtype.name} {u.shape}"
    return other
