"""Make LANE axes the lanes of vector values.

Contiguous loads and stores become wide ones; every other element is picked from two wide loads, and what runs
backwards is turned around; addresses that jump further are gathered lane by lane. What does not depend on the
axis stays scalar and is broadcast where it meets a vector.
"""

from collections.abc import Iterable, Sequence

from plugrad._frozen import frozen
from plugrad.codegen.combine import combine
from plugrad.codegen.rebuild import ENDING, Moving, all_ranges, ranges_of_reduce, rebuild
from plugrad.dtype import dtype_max, dtype_min, dtypes, is_bool, is_int
from plugrad.target import Capabilities
from plugrad.uop import COMPARE, AxisType, Ops, UOp, simplify
from plugrad.uop.node.ranges import find_ranges
from plugrad.uop.strides import coefficient, constant_size
from plugrad.uop.validity import conjuncts, facts_of

_HOLDS_STORES = frozenset({Ops.SINK, Ops.BARRIER, Ops.COMMIT})
# what is not computed lane by lane, or not always
_APART = _HOLDS_STORES | ENDING | {Ops.RANGE, Ops.INDEX, Ops.LOAD, Ops.WHERE}
# Lanes from which two wide loads and a shuffle are cheaper than a load for each lane.
LANES_TO_SHUFFLE = 4


def vectorize(sink: UOp, capabilities: Capabilities) -> UOp:
    """Turn LANE ranges into vector values.

    before: STORE(INDEX(p, i*4 + lane), LOAD(INDEX(q, i*4 + lane)) * 2, i, lane) with 4 lanes
    after:  STORE(INDEX(p, i*4), LOAD(INDEX(q, i*4)).vec(4) * 2, i)
    """
    for lane in (r for r in all_ranges(sink) if r.arg.kind is AxisType.LANE):
        sink = simplify(_Vectorizer(lane, capabilities.vector_bits).run(sink))
    return sink


class _Vectorizer:
    def __init__(self, lane: UOp, vector_bits: int) -> None:
        self.lane = lane
        self.vector_bits = vector_bits
        self.shuffles = vector_bits > 0
        self.count = constant_size(lane) or 1
        # others stay as they are
        self.done: dict[UOp, UOp] = {}
        self.steps: list[dict[UOp, UOp]] = [{lane: lane.const_like(step)} for step in range(self.count)]
        self.moving: dict[UOp, Moving] = {}
        self.parts: dict[UOp, tuple[UOp | None, int, int] | None] = {}

    def run(self, sink: UOp) -> UOp:
        order = sink.toposort()
        find_ranges(order)
        self._visit(order)
        return self.of(sink)

    def _visit(self, order: Iterable[UOp]) -> None:
        done, lane, known = self.done, self.lane, self.done.keys()
        for u in order:
            # of what ends the lane, its own `ranges` no longer show that it has one
            if lane in u.ranges or u.op in _HOLDS_STORES:
                done[u] = self._vector(u)
            elif not known.isdisjoint(u.src):
                ends = u.op in ENDING and any([lane in s.ranges for s in u.src])
                done[u] = self._vector(u) if ends else self._rebuilt(u)

    def _unvisited(self, root: UOp) -> Iterable[UOp]:
        return root.toposort(lambda node: node not in self.done)

    def of(self, u: UOp) -> UOp:
        return self.done.get(u, u)

    def at(self, u: UOp, step: int) -> UOp:
        """Return scalar `u` with the lane at `step`."""
        if self.lane not in u.ranges:
            return self.of(u)
        known = self.steps[step]
        if u not in known:
            if u not in self.moving:
                self.moving[u] = Moving((u,), self.lane, self.done, self.parts)
            self.moving[u].at(step, known)
        return known[u]

    def wide(self, u: UOp) -> UOp:
        """Return `u`'s lanes: those it has, or its scalar in each."""
        new = self.of(u)
        return new if self.lane in u.ranges else new.broadcast(self.count)

    def _vector(self, u: UOp) -> UOp:
        if u.op not in _APART:
            operands = self._narrow_operands(u) if u.op in COMPARE else u.src
            src = tuple([self.wide(s) for s in operands])
            return UOp(u.op, u.dtype.vec(self.count), src, u.arg, u.tag)
        if u is self.lane:
            return UOp(
                Ops.VECTORIZE, u.dtype.vec(self.count), tuple(u.const_like(i) for i in range(self.count))
            )
        if u.op in _HOLDS_STORES:
            return u.replace(src=tuple(p for s in u.src for p in self._stores(s)))
        if u.op is Ops.INDEX or u.op is Ops.STORE:
            return u
        if u.op is Ops.LOAD:
            return self._load(u)
        if u.op is Ops.REDUCE:
            return self._reduce(u)
        if u.op is Ops.WHERE and self._is_decided(u):
            return UOp(
                Ops.VECTORIZE, u.dtype.vec(self.count), tuple(self.at(u, i) for i in range(self.count))
            )
        return UOp(u.op, u.dtype.vec(self.count), tuple([self.wide(s) for s in u.src]), u.arg, u.tag)

    def _narrow_operands(self, comparison: UOp) -> tuple[UOp, ...]:
        """Return operands in the width of lanes that all meet one number.

        Wider ones would take several registers each.

        before: CMPEQ(x, CAST(y)) with x of 64 bits, and y of 32 bits between 0 and 99
        after:  CMPEQ(CAST(MIN(MAX(x, -1), 100)), y)
        """
        fixed, moving = sorted(comparison.src, key=lambda s: self.lane in s.ranges)
        is_wide = self.count * fixed.dtype.itemsize * 8 > self.vector_bits > 0
        if self.lane in fixed.ranges or not is_wide or moving.op is not Ops.CAST:
            return comparison.src
        (number,) = moving.src
        narrow = dtypes.int32 if number.dtype is dtypes.index else number.dtype
        if not is_int(narrow) or not is_int(fixed.dtype) or narrow.itemsize >= fixed.dtype.itemsize:
            return comparison.src
        # what is below or above all lanes may be nearer to them
        low, high = int(number.vmin) - 1, int(number.vmax) + 1
        if any(low < dtype_min(dtype) or high > dtype_max(dtype) for dtype in (narrow, fixed.dtype)):
            return comparison.src
        one = fixed.maximum(low).minimum(high).cast(number.dtype)
        self._visit(self._unvisited(one))
        return tuple(one if s is fixed else number for s in comparison.src)

    def _is_decided(self, choice: UOp) -> bool:
        """Say whether the number of the lane alone decides, of values that are no vectors."""
        if choice.src[0].ranges != frozenset({self.lane}):
            return False
        # one number in some lanes, and 0 in the others, is one masked instruction
        if any(s.op is Ops.CONST and s.arg == 0 for s in choice.src[1:]) and not any(
            self.lane in s.ranges for s in choice.src[1:]
        ):
            return False
        return not any(u.op is Ops.LOAD and self.lane in u.ranges for u in choice.toposort())

    def _contiguous(self, place: UOp) -> bool:
        return coefficient(place.src[1], self.lane) == 1 and self._is_gated_as_one(place)

    def _is_gated_as_one(self, place: UOp) -> bool:
        return not any(self.lane in g.ranges for g in place.src[2:])

    def _shuffled(self, u: UOp) -> tuple[UOp, ...]:
        """Return the lanes of a load with stride -1 or 2, picked from wide loads.

        Nothing is read beyond the first and the last lane: the second load of two ends with the last.
        """
        place, count, last = u.src[0], self.count, self.count - 1
        wide = u.dtype.vec(count)
        step = coefficient(place.src[1], self.lane)
        if count < LANES_TO_SHUFFLE or is_bool(u.dtype):
            return ()
        if step == -1:
            return tuple(self.at(place, last).load(dtype=wide).gep(last - i) for i in range(count))
        if step == 2:
            start = self.at(place, 0)
            first = start.load(dtype=wide)
            second = start.replace(src=(start.src[0], start.src[1] + last, *start.src[2:])).load(dtype=wide)
            near = (first.gep(2 * i) for i in range(count // 2))
            return *near, *(second.gep(2 * i - last) for i in range(count // 2, count))
        return ()

    def _load(self, u: UOp) -> UOp:
        place = u.src[0]
        if self._contiguous(place):
            return self.at(place, 0).load(dtype=u.dtype.vec(self.count))
        lanes = self._shuffled(u) if self.shuffles and self._is_gated_as_one(place) else ()
        if lanes:
            return UOp(Ops.VECTORIZE, u.dtype.vec(self.count), lanes)
        if self.shuffles and is_looked_up(place, self.lane):
            return self._gathered(u)
        return UOp(Ops.VECTORIZE, u.dtype.vec(self.count), tuple(self.at(u, i) for i in range(self.count)))

    def _gathered(self, u: UOp) -> UOp:
        """Return the lanes of a load whose addresses, and gates, are computed as vectors.

        Lanes that a gate closes load the element at the nearest place that it opens, if its bounds keep the
        address inside of the memory, and otherwise the first one, which every buffer has.
        """
        memory, place, *gates = u.src[0].src
        moving = [self.wide(gate) for gate in gates if self.lane in gate.ranges]
        bounded = _bounded(place, gates)
        if _is_inside(bounded, memory):
            self._visit(self._unvisited(bounded))
            index = self.wide(bounded)
        else:
            index = self.wide(place)
            for gate in moving:
                index = gate.where(index, index.const_like(0))
        still = [self.of(gate) for gate in gates if self.lane not in gate.ranges]
        places = (self.of(memory).index(index.gep(i), *still) for i in range(self.count))
        values = UOp(Ops.VECTORIZE, u.dtype.vec(self.count), tuple(p.load() for p in places))
        for gate in moving:
            values = gate.where(values, values.const_like(0))
        return values

    def _reduce(self, u: UOp) -> UOp:
        ranges = ranges_of_reduce(u)
        values = tuple(self.wide(s) for s in u.src[: u.arg[1]])
        left = tuple(r for r in ranges if r is not self.lane)
        op = u.arg[0]
        if left:
            out = UOp(Ops.REDUCE, u.dtype.vec(self.count), (*values, *left), u.arg)
        else:
            out = combine(op, list(values))
        return self._across(op, out) if self.lane in ranges else out

    def _across(self, op: Ops, vector: UOp) -> UOp:
        """Combine the lanes of one vector, halving it each time."""
        count = vector.dtype.count
        while count > 1:
            count //= 2
            vector = vector.gep(*range(count)).alu(op, vector.gep(*range(count, 2 * count)))
        return vector

    def _stores(self, store: UOp) -> list[UOp]:
        if store.op is not Ops.STORE:
            return [self.of(store)]
        if self.lane not in store.src[2:]:
            return [self._rebuilt(store)]
        place, value = store.src[:2]
        rest = tuple(s for s in store.src[2:] if s is not self.lane)
        wide = self.wide(value)
        # memory is updated element by element
        if store.arg is None and self._contiguous(place):
            return [store.replace(src=(self.at(place, 0), wide, *rest))]
        lanes = [self.of(value) if wide.op is Ops.CONST else wide.gep(i) for i in range(self.count)]
        return [store.replace(src=(self.at(place, i), lane, *rest)) for i, lane in enumerate(lanes)]

    def _rebuilt(self, u: UOp) -> UOp:
        done = self.done
        src = tuple([done.get(s, s) for s in u.src])
        return u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)


def is_looked_up(place: UOp, lane: UOp) -> bool:
    """Say whether an address depends on loaded values: nothing folds for one lane."""
    return any(u.op is Ops.LOAD and lane in u.ranges for u in place.src[1].toposort())


def _bounded(place: UOp, gates: list[UOp]) -> UOp:
    """Limit the terms of an address to the bounds that its gates imply."""
    if any(u.dtype is dtypes.int64 for u in place.toposort()):
        # addresses of 64 bits stay that, and few targets have their maxima
        return place
    facts = facts_of(condition for gate in gates for condition in conjuncts(gate))
    return place.substitute({x: x.maximum(lowest).minimum(highest) for x, (lowest, highest) in facts.items()})


def _is_inside(place: UOp, memory: UOp) -> bool:
    size = memory.arg[1] if memory.op in (Ops.PARAM, Ops.DEFINE_LOCAL) else 0
    return isinstance(size, int) and place.vmin >= 0 and place.vmax < size


@frozen
class Turns:
    """Vectors whose lanes take turns: `count` of each, from `first` on."""

    vectors: tuple[UOp, ...]
    first: int
    count: int

    def shuffled(self, made: dict[tuple[tuple[UOp, ...], int], UOp]) -> UOp:
        """Return the vector in shuffles of two, which its neighbours share: those in `made` are."""
        if len(self.vectors) == 1:
            return self.vectors[0]
        key = self.vectors, self.first
        if key not in made:
            wide = 2 * self.count
            begin = self.first // wide * wide
            even, odd = (Turns(self.vectors[i::2], begin, wide).shuffled(made) for i in range(2))
            lanes = [(self.first - begin) * len(self.vectors) // 2 + i for i in range(even.dtype.count // 2)]
            in_turn = tuple([part.gep(i) for i in lanes for part in (even, odd)])
            made[key] = UOp(Ops.VECTORIZE, even.dtype, in_turn)
        return made[key]


def turns_of(lanes: Sequence[UOp]) -> Turns | None:
    """Return the vectors whose lanes take turns, or None where they do not."""
    if any(u.op is not Ops.GEP or u.dtype.count > 1 for u in lanes):
        return None
    vectors = tuple(dict.fromkeys(u.src[0] for u in lanes))
    number, size = len(vectors), len(lanes)
    if number & (number - 1) or size % number or any(v.dtype.count != size for v in vectors):
        return None
    first, count = lanes[0].arg[0], size // number
    in_turn = [(v, (first + i,)) for i in range(count) for v in vectors]
    is_regular = first % count == 0 and [(u.src[0], u.arg) for u in lanes] == in_turn
    return Turns(vectors, first, count) if is_regular else None


def shuffle_pairs(sink: UOp, capabilities: Capabilities) -> UOp:
    """Make vectors out of lanes of four or more vectors in shuffles of two.

    before: VECTORIZE(GEP(a, 0), GEP(b, 0), GEP(c, 0), GEP(d, 0))
    after:  VECTORIZE(GEP(x, 0), GEP(y, 0), GEP(x, 1), GEP(y, 1)), with x of lanes of a and c, y of b and d
    """
    made: dict[tuple[tuple[UOp, ...], int], UOp] = {}

    def change(u: UOp) -> UOp | None:
        turns = turns_of(u.src)
        return turns.shuffled(made) if turns is not None and len(turns.vectors) > 2 else None

    op = Ops.VECTORIZE
    is_kept = not capabilities.vector_bits or all([change(u) is None for u in sink.toposort() if u.op is op])
    return sink if is_kept else rebuild(sink, change, ops=(op,))
