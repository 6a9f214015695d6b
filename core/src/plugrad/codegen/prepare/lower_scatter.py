"""Turn sums by position into stores that add where they belong.

`out[i] = sum over j of (x[j] if position[j] == i else 0)` asks each element about each position. Where a loop
runs in order, one pass over the positions does the same: after all elements have been set to 0, step `j` adds
`x[j]` to the element that `position[j]` names. Work-items of a grid have no order: there it stays a
sum, unless the scheduler has filled the memory and asks for an update of it: then step `j` is an atomic one.
"""

from plugrad.codegen.rebuild import at, ranges_of_reduce
from plugrad.target import Capabilities
from plugrad.uop import Axis, AxisType, Ops, UOp, simplify
from plugrad.uop.range_elimination import Scatter, scatter_of
from plugrad.uop.strides import coefficient, shifted

# Elements that share a line of the cache at most.
_LINE = 64


def scatter(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a scattered sum by a fill and an ordered store, or by updates.

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i)
    after:  STORE(INDEX(p, i), 0, i) and, after that, with all of it gated by `position(j)` being inside,
            STORE(INDEX(p, position(j)), LOAD(INDEX(p, position(j))) + x(j), j), j an axis in order;
            of a maximum whose x(j) rises with j, the store alone

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i) with arg ADD
    after:  STORE(INDEX(p, position(j)), x(j), j) with arg ADD, gated in the same way
    """
    if len(sink.src) != 1:
        return sink
    (store,) = sink.src
    total = store.src[1]
    if total.op is not Ops.REDUCE or len(store.src[0].src) != 2:
        return sink
    if capabilities.grid_dims and store.arg is not total.arg[0]:
        return sink
    if any(u.op is Ops.REDUCE for u in total.src[0].toposort()):
        return sink
    found = scatter_of(total, store.src[2:])
    if found is None:
        return sink
    step = _step(store, total, found)
    if store.arg is not None:
        return sink.replace(src=(step,))
    filled = store.replace(src=(store.src[0], found.neutral, *store.src[2:]))
    return sink.replace(src=(filled, step))


def _step(store: UOp, total: UOp, found: Scatter) -> UOp:
    """Return the store that adds each step into its element, ordered or by updates."""
    ended = ranges_of_reduce(total)
    kind = AxisType.ORDERED if store.arg is None else AxisType.LOOP
    stored = {q: q.replace(arg=Axis(q.arg.ident, kind)) for q in ended}
    gate = at(found.inside, found.counter, found.position)
    buffer, idx = store.src[0].src
    place = buffer.index(at(idx, found.counter, found.position), gate)
    overwrites = store.arg is not None or _is_greatest_yet(total.arg[0], found, ended)
    taken = found.value if overwrites else place.load().alu(total.arg[0], found.value)
    loops = [q for r in store.src[2:] for q in (ended if r is found.counter else (r,))]
    ranks = {q: _rank(q, found.position, q in ended) for q in loops}
    if store.arg is None:
        around = min(ranks[q] for q in ended) - 0.5
        ranks.update((q, around) for q in loops if _is_apart(q, found.position, idx) and q not in ended)
    loops.sort(key=ranks.__getitem__)
    return simplify(place.store(taken, *loops, op=store.arg).substitute(stored))


def _is_greatest_yet(op: Ops, found: Scatter, ended: tuple[UOp, ...]) -> bool:
    """Say whether a maximum is its last step's value, because values rise."""
    rises = op is Ops.MAX and len(ended) == 1 and shifted(found.value)[0] is ended[0]
    return rises and found.neutral.arg <= found.value.vmin


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
