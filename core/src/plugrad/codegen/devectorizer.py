"""Bring vectors to the target's shapes: arithmetic in registers, loads and stores of its widths.

Targets without vector registers still move memory in wide pieces: the loads stay vectors, arithmetic takes
them apart.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from plugrad.codegen.lanes import LANES_TO_SHUFFLE, turns_of
from plugrad.codegen.rebuild import rebuild
from plugrad.dtype import is_bool
from plugrad.target import Capabilities
from plugrad.uop import ELEMENTWISE, Ops, UOp, graph_rewrite
from plugrad.uop.symbolic import pm_symbolic, pm_vector

# Vectors whose lanes one shuffle puts side by side.
_SHUFFLED = 2
# What changes on a target whose arithmetic is on vectors.
_OF_MEMORY = frozenset({Ops.LOAD, Ops.STORE, Ops.SINK, Ops.BARRIER, Ops.COMMIT, Ops.WMMA})


def devectorize(sink: UOp, capabilities: Capabilities) -> UOp:
    """Take apart the vectors that the target does not have.

    before: ADD.vec(4)(LOAD.vec(4), LOAD.vec(4)) on a target of scalar arithmetic
    after:  VECTORIZE(ADD(GEP(LOAD, 0), GEP(LOAD, 0)), ...)
    """

    def change(u: UOp) -> UOp | None:
        if u.op is Ops.LOAD and (loads := _split_load(u, capabilities)) is not None:
            return loads
        if u.op is Ops.STORE and (stores := _split_store(u, capabilities)) is not None:
            return stores
        if u.op in (Ops.SINK, Ops.BARRIER, Ops.COMMIT):
            stores = [p for s in u.src for p in (s.src if s.op is Ops.SINK else (s,))]
            return u.replace(src=tuple(_joined(stores, capabilities) if capabilities.vector_bits else stores))
        if u.op is Ops.WMMA:
            return u.replace(src=tuple(_fragment(s, capabilities) for s in u.src))
        if capabilities.vector_bits == 0 and u.dtype.count > 1:
            return _widened(u, capabilities) if u.op is Ops.VECTORIZE else _scalar_parts(u)
        return None

    nodes = sink.toposort()
    ops = _OF_MEMORY if capabilities.vector_bits else None
    exchanged = _exchanged(nodes, capabilities) if capabilities.vector_bits else {}
    is_kept = all([(new := change(u)) is None or new is u for u in nodes if ops is None or u.op in ops])
    # simplified graphs have no lanes of made vectors
    if is_kept and not exchanged and sink.normal_for is pm_symbolic:
        return sink
    return graph_rewrite(rebuild(sink, change, exchanged, ops=ops), pm_vector, name="devectorize")


def _exchanged(nodes: Iterable[UOp], capabilities: Capabilities) -> dict[UOp, UOp]:
    """Return shuffles of wide loads for vectors that, together, gather what is contiguous.

    before: VECTORIZE(LOAD(INDEX(p, i + n)), LOAD(INDEX(p, i + 100 + n)), ...) for 4 n
    after:  VECTORIZE(GEP(x, n), GEP(y, n), ...), with x of LOAD(INDEX(p, i)).vec(4), y of i + 100
    """
    gathers = [u for u in nodes if u.op is Ops.VECTORIZE and all(map(_is_one_element, u.src))]
    groups: dict[tuple[Any, ...], dict[int, UOp]] = {}
    for u in gathers:
        for load in u.src:
            memory, index, *gate = load.src[0].src
            base, offset = _base_and_offset(index)
            groups.setdefault((len(u.src), memory, base, *gate, load.tag), {})[offset] = load
    lanes: dict[UOp, UOp] = {}
    for (most, *_), group in groups.items():
        for parts in _neighbours(group, most, capabilities):
            wide = parts[0].src[0].load(dtype=parts[0].dtype.vec(len(parts)))
            lanes.update((part, wide.gep(i)) for i, part in enumerate(parts))
    picked = ((u, [lanes.get(s, s) for s in u.src]) for u in gathers)
    turns = ((u, new, turns_of(new)) for u, new in picked)
    return {u: u.replace(src=tuple(new)) for u, new, t in turns if t is not None and len(t.vectors) > 1}


def _joined(stores: Sequence[UOp], capabilities: Capabilities) -> list[UOp]:
    """Join stores of single lanes that are neighbours in memory, where vectors take turns.

    before: STORE(INDEX(p, i*8 + 2*n), GEP(x, n)) and STORE(INDEX(p, i*8 + 2*n + 1), GEP(y, n)) for 4 n
    after:  STORE(INDEX(p, i*8), VECTORIZE(GEP(x, 0), GEP(y, 0), GEP(x, 1), ...)), and one of the rest
    """
    groups: dict[tuple[Any, ...], dict[int, UOp]] = {}
    for store in filter(_stores_lane, stores):
        (memory, index, *gate), ranges = store.src[0].src, store.src[2:]
        base, offset = _base_and_offset(index)
        size = store.src[1].src[0].dtype.count
        groups.setdefault((size, memory, base, *gate, ranges, store.tag), {})[offset] = store
    joined: dict[UOp, list[UOp]] = {}
    for (most, *_), group in groups.items():
        # at the first one's place in the order, and by their places: those of one line follow each other
        together: list[UOp] = []
        for parts in _neighbours(group, most, capabilities):
            place, value, *ranges = parts[0].src
            values = tuple([part.src[1] for part in parts])
            if len({lane.src[0] for lane in values}) > _SHUFFLED and turns_of(values) is None:
                continue
            lanes = UOp(Ops.VECTORIZE, value.dtype.vec(len(parts)), values)
            for part in parts:
                joined[part] = []
            if not together:
                joined[parts[0]] = together
            together.append(parts[0].replace(src=(place, lanes, *ranges)))
    return [new for store in stores for new in joined.get(store, [store])]


def _stores_lane(u: UOp) -> bool:
    """Say whether a node stores one lane of a shuffled vector; updates are of elements."""
    if u.op is not Ops.STORE or u.arg is not None:
        return False
    value = u.src[1]
    return value.op is Ops.GEP and value.dtype.count == 1 and not is_bool(value.dtype)


def _is_one_element(u: UOp) -> bool:
    return u.op is Ops.LOAD and u.dtype.count == len(u.src) == 1


def _neighbours(group: Mapping[int, UOp], most: int, capabilities: Capabilities) -> Iterator[list[UOp]]:
    """Yield the accesses to neighbouring places, `most` or as many as one instruction moves."""
    offsets = sorted(group)
    breaks = [i for i, offset in enumerate(offsets) if i == 0 or offset != offsets[i - 1] + 1]
    for begin, end in pairwise([*breaks, len(offsets)]):
        itemsize = group[offsets[begin]].src[0].dtype.itemsize
        for first, size in _pieces(end - begin, itemsize, capabilities, most):
            if size >= LANES_TO_SHUFFLE:
                yield [group[offset] for offset in offsets[begin + first : begin + first + size]]


def _scalar_parts(u: UOp) -> UOp | None:
    count = u.dtype.count
    if u.op in ELEMENTWISE:
        parts = (
            UOp(u.op, u.dtype.scalar(), tuple(s.gep(i) if s.dtype.count > 1 else s for s in u.src), u.arg)
            for i in range(count)
        )
    elif u.op is Ops.REDUCE and u.src[0].op is not Ops.WMMA:
        values, ranges = u.src[: u.arg[1]], u.src[u.arg[1] :]
        parts = (
            UOp(Ops.REDUCE, u.dtype.scalar(), (*(v.gep(i) for v in values), *ranges), u.arg)
            for i in range(count)
        )
    else:
        return None
    return UOp(Ops.VECTORIZE, u.dtype, tuple(parts))


def _fragment(u: UOp, capabilities: Capabilities) -> UOp:
    """Return a fragment of a matrix instruction, with what is together in memory loaded together."""
    wide = _widened(u, capabilities) if u.op is Ops.VECTORIZE else None
    return u if wide is None else wide


def _widened(u: UOp, capabilities: Capabilities) -> UOp | None:
    """Load neighbouring lanes that are neighbours in memory together.

    before: VECTORIZE(LOAD(INDEX(p, i)), LOAD(INDEX(p, i + 1)))
    after:  VECTORIZE(GEP(LOAD.vec(2), 0), GEP(LOAD.vec(2), 1))
    """
    if any(s.op is not Ops.LOAD for s in u.src):
        return None
    lanes: list[UOp] = []
    while len(lanes) < len(u.src):
        place = u.src[len(lanes)].src[0]
        count = _run_length([s.src[0] for s in u.src[len(lanes) :]])
        _, size = _pieces(count, u.dtype.itemsize, capabilities)[0]
        # an address is a multiple of its constant part at most
        size = math.gcd(size, _base_and_offset(place.src[1])[1])
        wide = place.load(dtype=u.dtype.scalar().vec(size)) if size > 1 else u.src[len(lanes)]
        lanes.extend(wide.gep(i) if size > 1 else wide for i in range(size))
    return None if tuple(lanes) == u.src else u.replace(src=tuple(lanes))


def _run_length(places: Sequence[UOp]) -> int:
    base, first = _base_and_offset(places[0].src[1])
    for i, place in enumerate(places):
        beside = place.src[0] is places[0].src[0] and place.src[2:] == places[0].src[2:]
        if not beside or _base_and_offset(place.src[1]) != (base, first + i):
            return i
    return len(places)


def _base_and_offset(idx: UOp) -> tuple[UOp | None, int]:
    """Split an address into its varying and its constant part."""
    if idx.op is Ops.CONST:
        return None, idx.arg
    if idx.op is Ops.ADD and idx.src[1].op is Ops.CONST:
        return idx.src[0], idx.src[1].arg
    return idx, 0


def _pieces(
    count: int, itemsize: int, capabilities: Capabilities, most: int | None = None
) -> list[tuple[int, int]]:
    """Return (first lane, lanes) of each access, powers of two that the target moves, at most `most`."""
    moved = max(1, capabilities.max_load_bits // (itemsize * 8))
    most = min(moved, capabilities.max_lanes or moved, most or moved)
    out: list[tuple[int, int]] = []
    first = 0
    while first < count:
        size = 1 << (min(most, count - first).bit_length() - 1)
        out.append((first, size))
        first += size
    return out


def _offset(place: UOp, by: int) -> UOp:
    return place.replace(src=(place.src[0], place.src[1] + by, *place.src[2:])) if by else place


def _split_load(u: UOp, capabilities: Capabilities) -> UOp | None:
    pieces = _pieces(u.dtype.count, u.dtype.itemsize, capabilities)
    if len(pieces) == 1:
        return None
    loads = [_offset(u.src[0], first).load(dtype=u.dtype.scalar().vec(size)) for first, size in pieces]
    lanes = tuple(x if x.dtype.count == 1 else x.gep(i) for x in loads for i in range(x.dtype.count))
    return UOp(Ops.VECTORIZE, u.dtype, lanes)


def _split_store(u: UOp, capabilities: Capabilities) -> UOp | None:
    place, value, *ranges = u.src
    pieces = _pieces(value.dtype.count, value.dtype.itemsize, capabilities)
    if len(pieces) == 1:
        return None
    parts = [(_offset(place, first), value.gep(*range(first, first + size))) for first, size in pieces]
    return UOp.sink(*[u.replace(src=(*part, *ranges)) for part in parts])
