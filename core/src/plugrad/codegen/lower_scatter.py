"""Turn sums by position into stores that add where they belong.

`out[i] = sum over j of (x[j] if position[j] == i else 0)` asks each element about each position. Where a loop
runs in order, one pass over the positions does the same: after all elements have been set to 0, step `j` adds
`x[j]` to the element that `position[j]` names. Work-items of a grid have no order, so there it stays a sum.
"""

from plugrad._frozen import frozen
from plugrad.codegen.rebuild import at, ranges_of_reduce
from plugrad.codegen.strides import coefficient, constant_size
from plugrad.dtype import dtype_min, dtypes, is_int
from plugrad.target import LEAST_SCATTERED, Capabilities
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad.uop.validity import conjunction, conjuncts


@frozen
class _Match:
    """Where a sum takes a value for the element that stands at `counter`.

    Attributes:
        counter: the output axis that is compared with positions.
        position: the element that a step of the reduction belongs to.
        others: what else is asked of a step.
        value: what the step adds.
        neutral: what an element is that no step belongs to.
    """

    counter: UOp
    position: UOp
    others: tuple[UOp, ...]
    value: UOp
    neutral: UOp


def scatter(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a kernel that is one sum by position by two stores, the second in the order of its steps.

    before: STORE(INDEX(p, i), REDUCE(ADD, WHERE(position(j) == i, x(j), 0), j), i)
    after:  STORE(INDEX(p, i), 0, i) and, after that, with all of it gated by `position(j)` being inside,
            STORE(INDEX(p, position(j)), LOAD(INDEX(p, position(j))) + x(j), j), j an axis in order
    """
    if capabilities.grid_dims or len(sink.src) != 1:
        return sink
    (store,) = sink.src
    total = store.src[1]
    if total.op is not Ops.REDUCE or total.arg[1] != 1 or len(store.src[0].src) != 2:
        return sink
    found = _match(total, store)
    if found is None:
        return sink
    filled = store.replace(src=(store.src[0], found.neutral, *store.src[2:]))
    return sink.replace(src=(filled, _in_order(store, total, found)))


def _match(total: UOp, store: UOp) -> _Match | None:
    op = total.arg[0]
    choice = total.src[0]
    if choice.op is not Ops.WHERE or any(u.op is Ops.REDUCE for u in choice.toposort()):
        return None
    condition, value, neutral = choice.src
    if not _is_neutral(op, neutral, value, ranges_of_reduce(total)):
        return None
    asked = conjuncts(condition)
    for equal in asked:
        for counter, position in (equal.src, equal.src[::-1]) if equal.op is Ops.CMPEQ else ():
            r = counter.src[0] if counter.op is Ops.CAST else counter
            if r in store.src[2:] and _is_scattered(r, counter, position, value, total):
                return _Match(r, position, tuple(c for c in asked if c is not equal), value, neutral)
    return None


def _is_neutral(op: Ops, neutral: UOp, value: UOp, ended: tuple[UOp, ...]) -> bool:
    """Say whether taking `neutral` once, though all steps belong to an element, changes nothing."""
    if neutral.op is not Ops.CONST:
        return False
    if op is not Ops.MAX:
        return neutral.arg == (0 if op is Ops.ADD else 1)
    if any(r.src[0].vmin < 1 for r in ended):
        return False
    lowest = dtype_min(neutral.dtype)
    return neutral.arg == lowest or (is_int(value.dtype) and value.vmin >= neutral.arg)


def _is_scattered(r: UOp, counter: UOp, position: UOp, value: UOp, total: UOp) -> bool:
    size = constant_size(r)
    if size is None or size < LEAST_SCATTERED or r.arg.kind is not AxisType.LOOP:
        return False
    moves = any(q in position.ranges for q in ranges_of_reduce(total))
    exact = is_int(counter.dtype) and counter.bounds == r.bounds
    return moves and exact and r not in position.ranges and r not in value.ranges


def _in_order(store: UOp, total: UOp, found: _Match) -> UOp:
    """Return the store that takes one step after the other into the element it belongs to."""
    ended = ranges_of_reduce(total)
    ordered = {q: q.replace(arg=Axis(q.arg.ident, AxisType.ORDERED)) for q in ended}
    position = found.position.cast(dtypes.index)
    inside = ~(position < 0) & (position < found.counter.src[0])
    gate = conjunction((inside, *(at(c, found.counter, position) for c in found.others)))
    buffer, idx = store.src[0].src
    place = buffer.index(at(idx, found.counter, position), gate)
    taken = place.load().alu(total.arg[0], found.value)
    loops = [q for r in store.src[2:] for q in (ended if r is found.counter else (r,))]
    loops.sort(key=lambda q: _rank(q, found.position, q in ended))
    return simplify(place.store(taken, *loops).substitute(ordered))


def _rank(r: UOp, position: UOp, is_ended: bool) -> int:
    """Return the place of a loop: as positions stand in memory, so that they are read one after the other.

    An element is read in the innermost loop that its position moves along, and must be read in each step.
    """
    if is_ended and r not in position.ranges:
        return -1 << 63
    steps = (coefficient(u.src[1], r) for u in position.toposort() if u.op is Ops.INDEX)
    return -max((abs(step or 0) for step in steps), default=0)
