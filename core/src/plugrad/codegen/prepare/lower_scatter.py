"""Turn sums by position into stores that add where they belong.

`out[i] = sum over j of (x[j] if position[j] == i else 0)` asks each element about each position. Where a loop
runs in order, one pass over the positions does the same: after all elements have been set to 0, step `j` adds
`x[j]` to the element that `position[j]` names. Work-items of a grid have no order: there it stays a
sum, unless the scheduler has filled the memory and asks for an update of it: then step `j` is an atomic one.
"""

from plugrad.codegen.rebuild import at, ranges_of_reduce
from plugrad.target import Capabilities
from plugrad.uop import Axis, AxisType, Ops, UOp, simplify
from plugrad.uop.range_elimination import Scatter, overwriting, scatter_of
from plugrad.uop.strides import coefficient

# Elements that share a line of the cache at most.
_LINE = 64


def scatter(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a scattered sum by a fill and an ordered store, or by updates.

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i)
    after:  STORE(INDEX(p, i), 0, i) and, after that, with all of it gated by `position(j)` being inside,
            STORE(INDEX(p, position(j)), LOAD(INDEX(p, position(j))) + x(j), j), j an axis in order;
            of a maximum whose x(j) rises with j, the store alone, of whatever is computed from it;
            of a sum that is added to y(i), the fill stores y(i)

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i) with arg ADD
    after:  STORE(INDEX(p, position(j)), x(j), j) with arg ADD, gated in the same way
    """
    if len(sink.src) != 1:
        return sink
    (store,) = sink.src
    place, value, *loops = store.src
    sums = [u for u in value.toposort() if u.op is Ops.REDUCE]
    if len(sums) != 1 or len(place.src) != 2:
        return sink
    (total,) = sums
    if capabilities.grid_dims and (store.arg is not total.arg[0] or total is not value):
        return sink
    if total is not value and place.src[0] in value.toposort():
        # what the fill or a step writes, a later step would read
        return sink
    found = scatter_of(total, loops)
    taken = None if found is None else overwriting(value, total, found)
    if found is None or taken is None:
        return sink
    step = _step(store, total, found, taken)
    if store.arg is not None:
        return sink.replace(src=(step,))
    filled = store.replace(src=(place, simplify(value.substitute({total: found.neutral})), *loops))
    return sink.replace(src=(filled, step))


def _step(store: UOp, total: UOp, found: Scatter, taken: UOp) -> UOp:
    """Return the store that adds each step into its element, ordered or by updates."""
    ended = ranges_of_reduce(total)
    kind = AxisType.ORDERED if store.arg is None else AxisType.LOOP
    stored = {q: q.replace(arg=Axis(q.arg.ident, kind)) for q in ended}
    gate = at(found.inside, found.counter, found.position)
    buffer, idx = store.src[0].src
    place = buffer.index(at(idx, found.counter, found.position), gate)
    if store.arg is None and not found.overwrites:
        taken = place.load().alu(total.arg[0], taken)
    taken = at(taken, found.counter, found.position)
    loops = [q for r in store.src[2:] for q in (ended if r is found.counter else (r,))]
    ranks = {q: _rank(q, found.position, q in ended) for q in loops}
    if store.arg is None:
        around = min(ranks[q] for q in ended) - 0.5
        ranks.update((q, around) for q in loops if _is_apart(q, found.position, idx) and q not in ended)
    loops.sort(key=ranks.__getitem__)
    return simplify(place.store(taken, *loops, op=store.arg).substitute(stored))


def _is_apart(r: UOp, position: UOp, idx: UOp) -> bool:
    """Say whether the steps of a loop share positions, in lines of their own.

    Side by side, steps that are a power of two apart would crowd the same few sets of the cache.
    """
    return r not in position.ranges and abs(coefficient(idx, r) or 0) >= _LINE


def _rank(r: UOp, position: UOp, is_ended: bool) -> float:
    """Return the sort key of a loop. Positions are read in the order of memory.

    An element is read in the innermost loop that its position moves along, and must be read in each step.
    """
    if is_ended and r not in position.ranges:
        return -1 << 63
    steps = (coefficient(u.src[1], r) for u in position.toposort() if u.op is Ops.INDEX)
    return -max((abs(step or 0) for step in steps), default=0)
