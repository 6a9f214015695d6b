"""Turn sums by position into stores that add where they belong.

`out[i] = sum over j of (x[j] if position[j] == i else 0)` asks each element about each position. Where a loop
runs in order, one pass over the positions does the same: after all elements have been set to 0, step `j` adds
`x[j]` to the element that `position[j]` names. Work-items of a grid have no order, so there it stays a sum.
"""

from plugrad.codegen.rebuild import at, ranges_of_reduce
from plugrad.codegen.strides import coefficient
from plugrad.target import Capabilities
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.range_elimination import Scatter, scatter_of
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp


def scatter(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a kernel that sums by position by a fill and an ordered store.

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i)
    after:  STORE(INDEX(p, i), 0, i) and, after that, with all of it gated by `position(j)` being inside,
            STORE(INDEX(p, position(j)), LOAD(INDEX(p, position(j))) + x(j), j), j an axis in order
    """
    if capabilities.grid_dims or len(sink.src) != 1:
        return sink
    (store,) = sink.src
    total = store.src[1]
    if total.op is not Ops.REDUCE or len(store.src[0].src) != 2:
        return sink
    if any(u.op is Ops.REDUCE for u in total.src[0].toposort()):
        return sink
    found = scatter_of(total, store.src[2:])
    if found is None:
        return sink
    filled = store.replace(src=(store.src[0], found.neutral, *store.src[2:]))
    return sink.replace(src=(filled, _in_order(store, total, found)))


def _in_order(store: UOp, total: UOp, found: Scatter) -> UOp:
    """Return the store that adds each step into its element, in order."""
    ended = ranges_of_reduce(total)
    ordered = {q: q.replace(arg=Axis(q.arg.ident, AxisType.ORDERED)) for q in ended}
    gate = at(found.inside, found.counter, found.position)
    buffer, idx = store.src[0].src
    place = buffer.index(at(idx, found.counter, found.position), gate)
    taken = place.load().alu(total.arg[0], found.value)
    loops = [q for r in store.src[2:] for q in (ended if r is found.counter else (r,))]
    loops.sort(key=lambda q: _rank(q, found.position, q in ended))
    return simplify(place.store(taken, *loops).substitute(ordered))


def _rank(r: UOp, position: UOp, is_ended: bool) -> int:
    """Return the sort key of a loop. Positions are read in the order of memory.

    An element is read in the innermost loop that its position moves along, and must be read in each step.
    """
    if is_ended and r not in position.ranges:
        return -1 << 63
    steps = (coefficient(u.src[1], r) for u in position.toposort() if u.op is Ops.INDEX)
    return -max((abs(step or 0) for step in steps), default=0)
