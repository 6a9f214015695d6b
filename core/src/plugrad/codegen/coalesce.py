"""Choose which unrolled axes become the lanes of vectors.

An axis is worth lanes where memory is contiguous along it: one wide load or store does the work of many.
Along an output axis the results are vectors; along a PARTIAL axis the accumulators of a reduction are, and
their lanes are combined after the loop. No value can have lanes along two axes: the axis that saves more
wins, counted over all steps of loops. What a reduction reads outweighs what is done with its result. Where
arithmetic is on vectors, short ones save less of it: two lanes half, sixteen nearly all.
"""

from plugrad.codegen.lanes import is_looked_up
from plugrad.codegen.opt.analysis import MemoryAccess, bodies_of, steps_of
from plugrad.codegen.rebuild import UNROLLED, all_ranges, exchange_range, stores_of
from plugrad.dtype import dtypes, is_float
from plugrad.target import Capabilities
from plugrad.uop import COMPARE, Axis, AxisType, Ops, UOp
from plugrad.uop.strides import coefficient, constant_size, flat_position

# steps of an UNROLL axis are added up in one accumulator, one after the other
_UNROLLED = frozenset({AxisType.UPCAST, AxisType.PARTIAL})
# strides whose lanes are picked from wide loads
_PICKED = (2, -1)
# bytes of integers whose sums are kept in the narrow registers of pieces, see `split_long_sums`
_NARROW = 4
# what compilers do lane by lane where a vector takes several registers
_CHOICES = COMPARE | {Ops.MAX}
# bytes of indices, and of casts that are compared, where vectors narrow them
_NARROWED = 4
_COPIES = (AxisType.UPCAST, AxisType.LANE)
# Stores of single lanes from which loops over them are less code, and as fast.
_MANY_STORES = 64
# twice the steps saved by a stride: wide accesses, and lanes picked from two of them
_SAVED = {1: 2, **dict.fromkeys(_PICKED, 1)}


def coalesce(sink: UOp, capabilities: Capabilities) -> UOp:
    """Split lanes off the unrolled axes along which memory is contiguous.

    before: UPCAST range of 64 with stride 1, on 16-lane vectors
    after:  UPCAST range of 4, times 16, plus LANE range of 16
    """
    chosen: list[UOp] = []
    # a matrix instruction's vectors are fragments: they get no lanes beside
    tiled = {r for u in sink.toposort() if u.op is Ops.WMMA for r in u.ranges}
    # sums and copies in fast memory have loops of their own, which end before a barrier
    nests = (u for u in sink.toposort() if u.op is Ops.BARRIER)
    bodies = [*bodies_of(sink), *(body for u in nests for body in bodies_of(u) if body.reduce is None)]
    places = [place for body in bodies for place in body.places]

    unrolled = [r for r in all_ranges(sink) if r.arg.kind in _UNROLLED and r not in tiled]
    lanes = {r: lanes_for(sink, r, capabilities) for r in unrolled}
    saving = {r: _saving(places, r) for r in unrolled if lanes[r] > 1}

    def worth(r: UOp) -> float:
        """Return the accesses, twice, and operations that lanes along `r` save."""
        if not capabilities.vector_bits:
            return saving[r]
        steps = sum(body.steps * (body.operations + 1) for body in bodies if r in body.loops)
        return (saving[r] + 2 * steps) * (1 - 1 / lanes[r])

    for r in sorted(saving, key=lambda r: (-worth(r), r.arg.ident)):
        gains = max(_gain(sink, r), saving[r]) > 0
        if gains and not any(_meet(sink, r, other) for other in chosen):
            chosen.append(r)
    for r in chosen:
        sink = _split_lanes(sink, r, lanes[r])
    return sink


def lanes_for(sink: UOp, r: UOp, capabilities: Capabilities) -> int:
    """Return the lanes of an axis: a power of two that divides it and fits."""
    size = constant_size(r) or 1
    nodes = sink.toposort()
    accesses = [u for u in nodes if u.op is Ops.INDEX and coefficient(u.src[1], r) == 1]
    if not accesses and capabilities.vector_bits:
        loaded = (u.src[0] for u in nodes if u.op is Ops.LOAD)
        accesses = [place for place in loaded if coefficient(place.src[1], r) in _PICKED]
    if not accesses:
        return 1
    if capabilities.vector_bits:
        # each lane has an accumulator, which may be wider than what is loaded
        sums = [u for u in nodes if u.op is Ops.REDUCE and r in u.src[u.arg[1] :] and not _is_narrow(u)]
        values = sink.toposort(lambda u: u.op is not Ops.INDEX)
        decided = [_compared_bytes(u, r, capabilities) for u in values if r in u.ranges]
        widest = max([capabilities.lane_bytes(u.dtype) for u in (*accesses, *sums)] + decided)
        fitting = capabilities.vector_bits // (8 * widest)
    else:  # vectors are only for memory
        fitting = capabilities.max_load_bits // (8 * max(u.dtype.itemsize for u in accesses))
    return min(size & -size, max(1, fitting), capabilities.max_lanes or size)


def _compared_bytes(u: UOp, r: UOp, capabilities: Capabilities) -> int:
    """Return the bytes of a lane that `u` compares or computes as floats; else 1.

    Compilers do so lane by lane where a vector takes several registers.
    """
    if u.op in _CHOICES:
        is_narrowed = any(s.dtype is dtypes.index or s.op is Ops.CAST for s in u.src)
        return min(u.src[0].dtype.itemsize, _NARROWED if is_narrowed else dtypes.index.itemsize)
    return capabilities.lane_bytes(u.dtype) if is_float(u.dtype) and u.op is not Ops.LOAD else 1


def _is_narrow(reduce: UOp) -> bool:
    value = reduce.src[0]
    return value.op is Ops.CAST and value.src[0].dtype.itemsize < _NARROW


def _gain(sink: UOp, r: UOp) -> int:
    """Return the contiguous accesses along `r` less the ones that would become single lanes.

    Looked up places are single ones in any case, and their addresses are computed side by side.
    """
    gain = 0
    for u in sink.toposort():
        if u.op is not Ops.INDEX or r not in u.ranges or is_looked_up(u, r):
            continue
        broken = coefficient(u.src[1], r) != 1 or any(r in g.ranges for g in u.src[2:])
        gain += -1 if broken else 2
    return gain


def _saving(places: list[MemoryAccess], r: UOp) -> int:
    """Return twice the accesses that lanes along `r` save; picked lanes save half."""
    saving = 0
    for p in places:
        if p.moves(r) and not any(r in g.ranges for g in p.index.src[2:]):
            # copies that unrolling makes share what does not move with them
            loops = (s for s in p.loops if p.moves(s) or s.arg.kind not in UNROLLED)
            saving += steps_of(loops) * _SAVED.get(coefficient(p.index.src[1], r) or 0, -1)
    return saving


def _meet(sink: UOp, a: UOp, b: UOp) -> bool:
    """Say whether some value depends on both axes."""
    return any(a in u.ranges and b in u.ranges for u in sink.toposort() if u.op is not Ops.SINK)


def _split_lanes(sink: UOp, r: UOp, lanes: int) -> UOp:
    size = constant_size(r) or 1
    if size == lanes:
        whole = r.replace(arg=Axis(r.arg.ident, AxisType.LANE))
        return sink.substitute({r: whole})
    outer = UOp.range(size // lanes, (*r.arg.ident, 0), r.arg.kind)
    inner = UOp.range(lanes, (*r.arg.ident, 1), AxisType.LANE)
    return exchange_range(sink, r, outer * lanes + inner, (outer, inner))


def store_apart(sink: UOp, capabilities: Capabilities) -> UOp:
    """Store many lanes that memory holds apart in loops, out of fast memory.

    Picked out of registers, each lane is a store with an address of its own: more code than the sum itself,
    which takes as long.

    before: STORE(INDEX(p, lane*64 + i), x(i, lane), i, lane), an UPCAST range i of 4 and 16 lanes
    after:  STORE(INDEX(p, n*64 + m), LOAD(local[m*16 + n]), n, m), after a BARRIER on
            STORE(local[i*16 + lane], x(i, lane), i, lane)
    """
    if capabilities.grid_dims or not capabilities.vector_bits:
        return sink
    for store in stores_of(sink):
        if (changed := _stored_apart(store, sink, capabilities.local_memory_bytes)) is not store:
            sink = sink.replace(src=tuple([changed if s is store else s for s in sink.src]))
    return sink


def _stored_apart(store: UOp, sink: UOp, fast_bytes: int) -> UOp:
    """Return a store in loops; itself where its lanes are few, or stand together.

    Sums that are in fast memory already are read from there.
    """
    place, value, *loops = store.src
    copies = [r for r in loops if r.op is Ops.RANGE and r.arg.kind in _COPIES]
    lanes = [r for r in copies if r.arg.kind is AxisType.LANE and coefficient(place.src[1], r) != 1]
    if store.arg is not None or not lanes or steps_of(copies) < _MANY_STORES:
        return store
    own = value.toposort(lambda u: u.op is not Ops.AFTER)
    waited = {s: s for u in own for s in u.src if s.op is Ops.AFTER}
    if any(u.op is Ops.REDUCE for u in own):
        if steps_of(copies) * value.dtype.itemsize > fast_bytes:
            return store
        ident = sum(u.op is Ops.DEFINE_LOCAL for u in sink.toposort())
        memory = UOp(Ops.DEFINE_LOCAL, value.dtype, (), (ident, steps_of(copies)))
        at = flat_position((*(r for r in copies if r not in lanes), *lanes))
        barrier = UOp(Ops.BARRIER, dtypes.void, (memory.index(at).store(value, *copies),))
        after = memory.after(barrier)
        value, waited = after.index(at).load(), {after: after}
    elif value.op is not Ops.LOAD or not waited:
        return store
    free = 1 + max(r.arg.ident[0] for r in all_ranges(sink))
    inwards = sorted(copies, key=lambda r: -abs(coefficient(place.src[1], r) or 0))
    fresh = {r: r.replace(arg=Axis((free + n,), AxisType.LOOP)) for n, r in enumerate(inwards)}
    around = (r for r in loops if r not in copies)
    value = value.substitute(waited | fresh)
    return store.replace(src=(place.substitute(fresh), value, *around, *fresh.values()))
