"""Join kernels over the same loops that read the same memory into one.

Statistics of a normalisation, the sums of its gradient, a parameter and its moments: each of them reads what
the others read or write. In one loop nest that is loaded once, and one launch does for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from plugrad._frozen import frozen
from plugrad.schedule.calls.kernelize import KernelCall, kernel_name
from plugrad.schedule.fusion import MOST_OPERATIONS, WHOLE, CostModel
from plugrad.schedule.versions import owner_of
from plugrad.uop import AxisType, KernelInfo, Ops, UOp
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import coefficient

# Calls before that are looked at: those of one layer or one parameter follow each other closely.
_NEAR = 16
# A kernel with more results is seldom another's as well: it would be compiled for one place.
_MOST_RESULTS = 4
# Other reductions have an order of their own.
_PLAIN = frozenset({AxisType.LOOP, AxisType.REDUCE})


@frozen
class _Loops:
    """The loops of a kernel, and the addresses that change in each step.

    Attributes:
        outer: the loops around its stores.
        inner: the loops of its reductions.
        addresses: index and gate of each place that moves along all loops around and, where there are
            any, along loops of reductions. A contraction has none.
    """

    outer: tuple[UOp, ...]
    inner: tuple[UOp, ...]
    addresses: frozenset[tuple[UOp, ...]]


class _Joined:
    """A call, and the memory of the calls behind it."""

    def __init__(self, call: KernelCall, loops: _Loops | None) -> None:
        self.call = call
        self.loops = loops
        self.read_later: set[UOp] = set()
        self.written_later: set[UOp] = set()

    def is_reached(self, reads: set[UOp], writes: set[UOp]) -> bool:
        """Say whether a call with this memory may run right behind this one."""
        return self.written_later.isdisjoint(reads) and self.read_later.isdisjoint(writes)


def join_kernels(calls: Sequence[KernelCall], cost: Mapping[str, CostModel]) -> list[KernelCall]:
    """Return `calls` with fewer kernels, of which some have the results of several.

    before: STORE(a, sum(x)), STORE(b, sum(x * y))
    after:  SINK(STORE(a, sum(x)), STORE(b, sum(x * y))) over the same ranges
    """
    joined: list[_Joined] = []
    known: dict[UOp, _Loops | None] = {}
    join = partial(_join, {})
    for call in calls:
        if call.ast not in known:
            known[call.ast] = _loops_of(call.ast)
        loops = None if call.after or call.root.op is Ops.KERNEL else known[call.ast]
        reads, writes = set(map(owner_of, call.memory)), set(map(owner_of, _written_by(call)))
        near = joined[-_NEAR:]
        place = len(near) if loops is None else _place(near, call, loops, (reads, writes), cost, join)
        if place == len(near):
            joined.append(_Joined(call, loops))
        for other in near[:place]:
            other.read_later |= reads
            other.written_later |= writes
    return [other.call for other in joined]


def _place(
    near: list[_Joined],
    call: KernelCall,
    loops: _Loops,
    memory: tuple[set[UOp], set[UOp]],
    cost: Mapping[str, CostModel],
    join: Callable[[KernelCall, _Loops, KernelCall, _Loops], KernelCall | None],
) -> int:
    """Join `call` to the last of `near` that fits, and return its place.

    Where none does, that is their number.
    """
    for place in reversed(range(len(near))):
        other = near[place]
        if other.call.device != call.device or other.loops is None or len(other.call.roots) == _MOST_RESULTS:
            continue
        # what is computed earlier is in memory for longer
        is_cheap = place == len(near) - 1 or call.target is not None or bool(loops.inner)
        if is_cheap and other.is_reached(*memory):
            both = join(other.call, other.loops, call, loops)
            limit = cost[call.device].max_buffers
            if both is not None and (not limit or len(both.memory) <= limit):
                other.call = both
                return place
    return len(near)


def _written_by(call: KernelCall) -> list[UOp]:
    if call.ast.op is Ops.COPY:
        return [call.memory[0]]
    return [call.memory[store.src[0].src[0].arg[0]] for store in call.ast.src]


def _loops_of(ast: UOp) -> _Loops | None:
    """Return the loops of a kernel with one store, or None where it stays alone."""
    if ast.op is not Ops.SINK or len(ast.src) != 1 or ast.src[0].arg is not None:
        return None
    store, nodes = ast.src[0], ast.toposort()
    if store.src[1].op in WHOLE:
        # codegen gives it loops of its own
        return None
    ranges = sorted((u for u in nodes if u.op is Ops.RANGE), key=lambda r: r.arg.ident)
    outer = store.src[2:]
    inner = tuple([r for r in ranges if r not in outer])
    places = [u for u in nodes if u.op is Ops.INDEX and (not inner or u is not store.src[0])]
    around = frozenset(outer)
    addresses = {
        u.src[1:] for u in places if around <= u.ranges and (not inner or not u.ranges.isdisjoint(inner))
    }
    if not addresses or any(r.arg.kind not in _PLAIN for r in ranges):
        return None
    return _Loops(outer, inner, frozenset(addresses))


def _join(
    known: dict[object, UOp | None], call: KernelCall, loops: _Loops, more: KernelCall, own: _Loops
) -> KernelCall | None:
    """Return the kernel with the results of both, or None where they stay apart.

    Steps of a loop in Python ask for equal kernels again: what came out is kept in `known`.
    """
    if _sizes(loops.outer) != _sizes(own.outer) or (own.inner and _sizes(loops.inner) != _sizes(own.inner)):
        return None
    memory = tuple(dict.fromkeys((*call.memory, *more.memory)))
    whole = [owner_of(node) for node in memory]
    key = (call.ast, more.ast, *map(memory.index, more.memory), *map(whole.index, whole))
    if key not in known:
        known[key] = _join_graphs(call, loops, more, own, memory)
    if (ast := known[key]) is None:
        return None
    return replace(
        call,
        ast=ast,
        memory=memory,
        reads=tuple([u for u in dict.fromkeys((*call.reads, *more.reads)) if u not in call.roots]),
        others=(*call.others, more),
    )


def _join_graphs(
    call: KernelCall, loops: _Loops, more: KernelCall, own: _Loops, memory: tuple[UOp, ...]
) -> UOp | None:
    moved = dict(zip((*own.outer, *own.inner), (*loops.outer, *loops.inner), strict=False))
    params = _params(call, more, memory)
    if params is None:
        return None
    store = more.ast.src[0].substitute(moved | params)
    addresses = frozenset([tuple([s.substitute(moved) for s in address]) for address in own.addresses])
    made = {s.src[0].src[0]: s for s in call.ast.src}
    passed = _passed(store, made)
    if passed is None or not _may_write(store, call.ast, made):
        return None
    if loops.inner and not own.inner:
        # a value of the whole reduction: what else reads its elements one by one would want other lanes
        fits = bool(passed) and addresses == frozenset([s.src[0].src[1:] for s in call.ast.src])
    else:
        reads_same = passed or not _read_at(store, addresses).isdisjoint(_read_at(call.ast, addresses))
        few, many = sorted((addresses, loops.addresses), key=len)
        # a copy in another order has a tile of its own, which its readers would take from it
        are_alike = few <= many if own.inner else all(_is_in_order(a, loops.outer) for a in few ^ many)
        fits = reads_same and are_alike
    sink = UOp.sink(*call.ast.src, store.substitute(passed))
    if not fits or sum(op_cost(u.op) for u in sink.toposort()) > MOST_OPERATIONS:
        return None
    return sink.replace(arg=KernelInfo(kernel_name(sink)))


def _params(call: KernelCall, more: KernelCall, memory: tuple[UOp, ...]) -> dict[UOp, UOp] | None:
    """Return the PARAMs of `more` in the slots of `memory`.

    None where parts of what is written may overlap, or both see a memory in different ways.
    """
    whole = [owner_of(node) for node in memory]
    if any(whole.count(owner_of(node)) > 1 for node in (*_written_by(call), *_written_by(more))):
        return None
    known = {u.arg[0]: u for u in call.ast.toposort() if u.op is Ops.PARAM}
    moved: dict[UOp, UOp] = {}
    for u in more.ast.toposort():
        if u.op is Ops.PARAM:
            slot = memory.index(more.memory[u.arg[0]])
            moved[u] = u.replace(arg=(slot, u.arg[1]))
            if known.setdefault(slot, moved[u]) is not moved[u]:
                return None
    return moved


def _is_in_order(address: tuple[UOp, ...], loops: tuple[UOp, ...]) -> bool:
    """Say whether neighbouring steps of the innermost loop are neighbours in memory."""
    index, *gates = address
    r = loops[-1] if loops else None
    return r is None or (coefficient(index, r) == 1 and not any(r in gate.ranges for gate in gates))


def _sizes(ranges: tuple[UOp, ...]) -> list[UOp]:
    return [r.src[0] for r in ranges]


def _passed(store: UOp, made: Mapping[UOp, UOp]) -> dict[UOp, UOp] | None:
    """Return the values of other stores for loads of `store` that read them.

    None where one of them reads elsewhere, so that the other loops have to be over.
    """
    passed: dict[UOp, UOp] = {}
    for u in store.src[1].toposort():
        if u.op is Ops.INDEX and u.src[0] in made:
            place, value, *_ = made[u.src[0]].src
            if u.src[1] is not place.src[1]:
                return None
            # a load gives 0 beyond its gate
            passed[u.load()] = value if u is place else u.src[2].where(value, value.const_like(0))
    return passed


def _may_write(store: UOp, sink: UOp, made: Mapping[UOp, UOp]) -> bool:
    """Say whether `store` leaves alone what a kernel writes, and what it still reads.

    What both read at the place that is written is loaded once, before the value is there.
    """
    place = store.src[0]
    if place.src[0] in made:
        return False
    read = [u for u in sink.toposort() if u.op is Ops.INDEX and u.src[0] is place.src[0]]
    return not read or (all(u is place for u in read) and place.load() in store.src[1].toposort())


def _read_at(u: UOp, addresses: frozenset[tuple[UOp, ...]]) -> set[UOp]:
    return {load.src[0] for load in u.toposort() if load.op is Ops.LOAD and load.src[0].src[1:] in addresses}
