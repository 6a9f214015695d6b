"""Find reductions that gather, scatter or keep running sums, before they have loops.

A reduction is written down as the kernel expression that it would be by itself, with everything inlined. What
`eliminate_ranges`, `scatter_of` and `running_sum_of` say of that decides what is fused, as they will say it
of the kernel: the conditions around its value exist in no loop that runs, and may get no memory.
"""

from weakref import WeakKeyDictionary

from plugrad._frozen import frozen
from plugrad.dtype import dtypes, is_int
from plugrad.schedule.movement import ALWAYS, ZERO, Indices, flatten, loop_over, source_indices
from plugrad.uop import COMPARE, ELEMENTWISE, MOVEMENT, AxisType, Ops, UOp
from plugrad.uop.range_elimination import eliminate_ranges, guard_of, scatter_of
from plugrad.uop.running_sum import running_sum_of

# Nodes that may stand between a reduction and a comparison that guards its value.
_AROUND = MOVEMENT | {Ops.WHERE, Ops.AND, Ops.OR, Ops.XOR, Ops.CAST, Ops.NEG, Ops.MUL}

_Place = tuple[UOp, Indices]


@frozen
class Selection:
    """The axes that a condition limits to one step, or to one element.

    Attributes:
        axes: the reduced axes that no loop goes along, since a condition asks for one step: it gathers.
        counter: the axis of the result that each step belongs to one element of: it scatters. Or the axis
            whose steps it adds up: it is a running sum. None: no such.
        is_running: whether it is a running sum.
        overwrites: whether what is made of an element's last step may take its place.
        around: the nodes around its value, down to the conditions.
        neutral: a constant that changes nothing that the reduction takes.
    """

    axes: frozenset[int]
    counter: int | None
    around: frozenset[UOp]
    neutral: UOp
    is_running: bool = False
    overwrites: bool = False


# Passes ask for the same reductions again.
_found: WeakKeyDictionary[UOp, Selection | None] = WeakKeyDictionary()


def selection_of(u: UOp) -> Selection | None:
    """Return the selection by comparisons in the REDUCE_AXIS `u`, or None."""
    if not _has_comparison(u.src[0]):
        return None
    if u not in _found:
        _found[u] = _find_selection(u)
    return _found[u]


def _find_selection(u: UOp) -> Selection | None:
    op: Ops = u.arg[0]
    axes: tuple[int, ...] = u.arg[1]
    ranges = tuple(
        loop_over(size, axis, AxisType.REDUCE if axis in axes else AxisType.LOOP)
        for axis, size in enumerate(u.src[0].shape)
    )
    exprs = _expressions(u.src[0], ranges)
    value = exprs[u.src[0], ranges]
    reduce = value.reduce(op, *(ranges[a] for a in axes if ranges[a] is not ZERO))
    guard = guard_of(op, value)
    if guard is None or reduce.op is not Ops.REDUCE:
        return None
    left = eliminate_ranges(reduce)
    kept = left.src[1:] if left.op is Ops.REDUCE else ()
    gathered = frozenset(a for a in axes if ranges[a] is not ZERO and ranges[a] not in kept)
    scatter = None if gathered else scatter_of(reduce, ranges)
    running = None if gathered or scatter is not None else running_sum_of(reduce, ranges)
    ordered = scatter or running
    if not gathered and ordered is None:
        return None
    around = {node for (node, _), e in exprs.items() if node.op in _AROUND | COMPARE and e in guard.path}
    counter = None if ordered is None else ordered.counter.arg.ident[0]
    overwrites = scatter is not None and scatter.overwrites
    return Selection(gathered, counter, frozenset(around), guard.neutral, running is not None, overwrites)


def _has_comparison(u: UOp) -> bool:
    """Say whether a comparison of integers may surround the value `u`, a quick test."""
    stack, seen = [u], {u}
    while stack:
        node = stack.pop()
        if node.op in COMPARE and is_int(node.src[0].dtype):
            return True
        if node.op in _AROUND or node.op in COMPARE:
            sources = node.src[:1] if node.op in MOVEMENT else node.src
            stack.extend(s for s in sources if s not in seen)
            seen.update(sources)
    return False


def _expressions(root: UOp, idxs: Indices) -> dict[_Place, UOp]:
    """Return the expressions of `root` and of everything it needs, element by element."""
    done: dict[_Place, UOp] = {}
    stack: list[_Place] = [(root, idxs)]
    while stack:
        place = stack[-1]
        u, at = place
        if place in done:
            stack.pop()
            continue
        below, gate = _below(u, at)
        if missing := [p for p in below if p not in done]:
            stack.extend(missing)
            continue
        stack.pop()
        done[place] = _expression(u, at, [done[p] for p in below], gate)
    return done


def _below(u: UOp, at: Indices) -> tuple[list[_Place], UOp]:
    """Return the sources of one element of `u`, and the gate of their existence."""
    if u.op in MOVEMENT:
        idxs, inside = source_indices(u, at)
        return [(u.src[0], idxs)], inside
    if u.op in ELEMENTWISE:
        return [(s, at if s.shape else ()) for s in u.src], ALWAYS
    return [], ALWAYS


def _expression(u: UOp, at: Indices, src: list[UOp], gate: UOp) -> UOp:
    if u.op in ELEMENTWISE:
        return UOp(u.op, u.dtype, tuple(src), u.arg)
    if u.op in MOVEMENT:
        return src[0] if gate is ALWAYS else gate.where(src[0], src[0].const_like(0))
    if u.op is Ops.IOTA:
        return at[0].cast(u.dtype)
    if u.op in (Ops.CONST, Ops.DEFINE_VAR, Ops.BIND) or u.dtype is dtypes.index:
        return u
    # the node itself keeps what is loaded apart
    return UOp(Ops.PARAM, u.dtype, (), (u, 0)).index(flatten(at, u.shape)).load()
