"""Give sums by position kernels of their own, where a loop can go through the positions in order.

`sum over j of (x[j] if position[j] == i else 0)` for all `i` is one pass over the positions that writes where
each of them says, if nothing else is in its kernel. Inside of another one it would compare each with each.
"""

from plugrad.schedule.rangeify import Rangeify
from plugrad.target import LEAST_SCATTERED
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad.uop.validity import conjuncts


def scattered(walk: Rangeify) -> set[UOp]:
    """Return the sums by position that are computed inside of kernels, though loops could scatter them."""
    found: set[UOp] = set()
    for (u, access), expr in walk.exprs.items():
        if u.op is not Ops.REDUCE_AXIS or u in walk.kernels or expr.op is not Ops.REDUCE:
            continue
        kernel = walk.uses[u][access].kernel
        counters = _counters(expr) if walk.cost[kernel.device].runs_loops else []
        is_alone = kernel.ast is not None and kernel.ast.src[1] is expr
        if counters and not (is_alone and any(map(_is_range, counters))):
            found.add(u)
    return found


def _counters(total: UOp) -> list[UOp]:
    """Return what a REDUCE compares computed positions with, to take a value where they meet."""
    choice, *ended = total.src
    if choice.op is not Ops.WHERE or choice.src[2].op is not Ops.CONST:
        return []
    return [
        counter
        for equal in conjuncts(choice.src[0])
        if equal.op is Ops.CMPEQ
        for counter, position in (equal.src, equal.src[::-1])
        if _counts(counter)
        and not _moves_along(counter, ended)
        and _moves_along(position, ended)
        and _is_read(position)
    ]


def _is_range(counter: UOp) -> bool:
    return (counter.src[0] if counter.op is Ops.CAST else counter).op is Ops.RANGE


def _counts(u: UOp) -> bool:
    """Say whether `u` is computed from where an element stands, and takes many values."""
    if _is_read(u) or not any(r.arg.kind is AxisType.LOOP for r in u.ranges):
        return False
    lowest, highest = u.bounds
    return highest - lowest >= LEAST_SCATTERED - 1


def _moves_along(u: UOp, ended: list[UOp]) -> bool:
    return not u.ranges.isdisjoint(ended)


def _is_read(u: UOp) -> bool:
    return any(n.op is Ops.LOAD for n in u.toposort())
