"""The memory accesses, counts and strides of a kernel, as heuristics read them."""

import math
from collections.abc import Collection, Iterable
from functools import cached_property
from operator import itemgetter

from plugrad._frozen import field, frozen
from plugrad.codegen.rebuild import all_ranges, ranges_of_reduce, stores_of
from plugrad.target import LINE_BYTES, Capabilities
from plugrad.uop import ALU, Ops, UOp
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import coefficient, constant_size, usual_step

# Loop steps times operations below which waking another core costs more than it saves (a few microseconds).
_THREAD_FROM = 1 << 15
# Operations of an element from which two are computed side by side, and from which code is long enough.
_LONG = 128
_TOO_LONG = 512
# Operations of an element up to which four vectors are computed side by side: 1.3 to 1.7 times as fast on
# memory that the second cache holds (Zen 3, gcc 12).
SHORT = 8
# The most vectors that are computed for that, against the least: a sixteenth is computed again.
_REPEATED = 17 / 16
# Inner loops of a reduction, such as a convolution's window, are written out up to this many steps.
LONGEST_AXIS_OF_WINDOW = 9
# Against a wide access: two and a shuffle; and against one of a step: one with its place in a vector.
SHUFFLED = 3
GATHERED = 1.5
# The same where lanes lie in lines of their own, of which steps of a power of two keep few in the cache.
_FAR = 4
# Steps of an instruction from which on prefetchers lose track: a few of these leave the page.
FAR_BYTES = 1024


@frozen
class MemoryAccess:
    """One INDEX and the loops that it is inside of."""

    index: UOp
    loops: frozenset[UOp]
    reduce: UOp | None
    """The innermost REDUCE around it; None in the kernel's own loops."""
    is_store: bool
    _along: dict[UOp, tuple[int | None, int, int]] = field(
        default_factory=dict[UOp, "tuple[int | None, int, int]"], compare=False, repr=False
    )
    _windows: dict[UOp, tuple[UOp | None, float]] = field(
        default_factory=dict[UOp, "tuple[UOp | None, float]"], compare=False, repr=False
    )
    """Both found out when somebody asks: a place with another INDEX is made, and not replaced."""

    def moves(self, r: UOp) -> bool:
        """Say whether the place depends on `r`."""
        return r in self.index.ranges

    def step(self, r: UOp) -> int | None:
        """Return the elements between two steps of `r`, None where unknown."""
        return self._steps_along(r)[0]

    def reads_beyond(self, cached_bytes: int) -> bool:
        """Say whether a reduction reads more at the place than a cache holds."""
        span_bytes = span_of(self.index.src[1]) * self.index.dtype.itemsize
        return self.reduce is not None and span_bytes >= cached_bytes

    def is_contiguous(self, r: UOp) -> bool:
        """Say whether a step of `r` is a step of one element, under one gate."""
        return self.step(r) == 1 and self._is_gated_as_one(r)

    def is_shuffled(self, r: UOp) -> bool:
        """Say whether lanes along `r` are picked from wide loads: every other element, or backwards."""
        return self.step(r) in (-1, 2) and not self.is_store and self._is_gated_as_one(r)

    def leaves_line(self, r: UOp) -> bool:
        """Say whether each step of `r` is a cache line or more away."""
        return self.step_bytes(r) >= LINE_BYTES

    def step_bytes(self, r: UOp) -> int:
        """Return the bytes between two steps of `r`; 0 where that is not known."""
        return self._steps_along(r)[1]

    def _steps_along(self, r: UOp) -> tuple[int | None, int, int]:
        """Return the step of `r` (None: several), its usual bytes, and the number."""
        known = self._along.get(r)
        if known is None:
            step = coefficient(self.index.src[1], r)
            usual = usual_step(self.index.src[1], r) if step is None else step
            known = self._along[r] = step, abs(usual) * self.index.dtype.itemsize, int(r.src[0].vmax)
        return known

    def nbytes(self, axes: Iterable[UOp]) -> int:
        """Return the bytes of the lines that all steps of `axes` visit."""
        run, apart = self.runs(axes)
        return run * apart

    def runs(self, axes: Iterable[UOp], loops: Collection[UOp] = ()) -> tuple[int, int]:
        """Return the bytes of a run of lines, and the number of runs.

        Neighbouring steps of `axes` are one run. Prefetchers follow `loops` over several lines.
        """
        span = visited = self.index.dtype.itemsize
        apart, ranges = 1, self.index.ranges
        steps = [(r, *self._steps_along(r)) for r in axes if r in ranges]
        for r, _, step, count in sorted(steps, key=itemgetter(2)):
            if step <= max(span, LINE_BYTES):
                visited += step * (count - 1)
            elif step < FAR_BYTES and r in loops:
                visited = _whole_lines(visited) * count
            else:
                apart *= count
                continue
            span += step * (count - 1)
        return _whole_lines(visited), apart

    def is_followed(self, r: UOp) -> bool:
        """Say whether prefetchers follow a loop along `r`, but not one written out.

        They go by instructions: each load of a row that is written out steps from row to row.
        """
        step = self.step_bytes(r)
        return step < FAR_BYTES <= step * (constant_size(r) or 0)

    def overlaps(self, row: UOp) -> bool:
        """Say whether the reduction visits some places again at the next step of `row`."""
        return self.windows(row, 2) < 2

    def windows(self, row: UOp, count: int) -> float:
        """Return the places that `count` steps of `row` visit, in windows of the reduction.

        Windows of neighbouring steps overlap: what several of them have counts once.
        """
        r, moved = self.window_axis(row)
        return count if r is None else 1 + (count - 1) * moved / (constant_size(r) or 1)

    def window_axis(self, row: UOp) -> tuple[UOp | None, float]:
        """Return the reduced axis along which windows of `row` overlap, and how far.

        That is the number of its steps to the next window.
        """
        known = self._windows.get(row)
        if known is None:
            known = self._windows[row] = self._find_window_axis(row)
        return known

    def _find_window_axis(self, row: UOp) -> tuple[UOp | None, float]:
        step = self.step(row) or 0
        for r in ranges_of_reduce(self.reduce) if self.reduce is not None else ():
            inner, size = self.step(r) or 0, constant_size(r) or 1
            if 0 < inner <= step < inner * size:
                return r, step / inner
        return None, 0

    def cost(self, lane: UOp | None, share: float) -> float:
        """Return the cost of a step, of which a wide access is a `share`."""
        if lane is None or not self.moves(lane) or self.is_contiguous(lane):
            return share
        if self.is_shuffled(lane):
            return min(SHUFFLED * share, GATHERED)
        return _FAR if self.reduce is not None and self.leaves_line(lane) else GATHERED

    def written_out(self, r: UOp) -> int:
        """Return the operations of one lane along `r` with an own access, else 0.

        Addresses differ by a constant, unless they are computed from what is loaded.
        """
        if not self.moves(r) or self.is_contiguous(r) or self.is_shuffled(r):
            return 0
        below = [u for s in self.index.src[1:] for u in s.toposort() if r in u.ranges]
        is_computed = any(u.op is Ops.LOAD for u in below)
        return 2 + (sum(u.op in ALU for u in below) if is_computed else 0)

    def _is_gated_as_one(self, r: UOp) -> bool:
        return not any(r in g.ranges for g in self.index.src[2:])


@frozen
class LoopBody:
    """The work of one REDUCE, or of the kernel around all, in each step."""

    reduce: UOp | None
    loops: frozenset[UOp]
    places: tuple[MemoryAccess, ...]
    moving: tuple[MemoryAccess, ...]
    """The places that the reduction's loops move. The others are loaded once, before them."""
    operations: int
    written_out: int
    """The operations after decomposition, about: how long the code is."""
    steps: int
    """Steps of all its loops together."""

    def side_by_side(self, lane: UOp, lanes: int) -> list[int]:
        """Return the numbers of vectors along `lane` that may be computed at a time.

        Of a long one, a processor does not see the next one begin. A short one has fewer instructions than
        the step of its loop. The last ones compute little that others did already.
        """
        most = 1
        if self.reduce is None and _LONG <= self.written_out <= _TOO_LONG:
            most = 2
        elif self.reduce is None and self.written_out <= SHORT:
            most = 1 if any(p.written_out(lane) for p in self.places) else 4
        size = constant_size(lane) or 1
        steps = {count: -(-size // (count * lanes)) * count for count in (1, 2, 4) if count <= most}
        return [count for count, vectors in steps.items() if vectors <= _REPEATED * steps[1]]

    @property
    def window(self) -> int:
        """Steps of the reduced axes that are short, such as those of a convolution's window."""
        axes = ranges_of_reduce(self.reduce) if self.reduce is not None else ()
        sizes = (constant_size(r) for r in axes)
        return math.prod(size for size in sizes if size and size <= LONGEST_AXIS_OF_WINDOW)


def nbytes_between(place: UOp) -> int:
    """Return the bytes from the lowest address of an INDEX to the highest."""
    address = place.src[1]
    return (int(address.vmax) - int(address.vmin) + 1) * place.dtype.itemsize


def span_of(idx: UOp, axes: Collection[UOp] | None = None) -> int:
    """Return the elements from the first to the last that `idx` visits.

    `axes` are by default all of its ranges.

    0 where that is not known.
    """
    span = 1
    for r in idx.ranges if axes is None else axes:
        step, size = coefficient(idx, r), constant_size(r)
        if step is None or size is None:
            return 0
        span += abs(step) * (size - 1)
    return span


def _whole_lines(nbytes: int) -> int:
    return -(-nbytes // LINE_BYTES) * LINE_BYTES


def steps_of(ranges: Iterable[UOp]) -> int:
    """Return the product of the sizes of `ranges`, symbolic ones at their highest."""
    return math.prod([s.arg if (s := r.src[0]).op is Ops.CONST else int(s.vmax) for r in ranges])


def bodies_of(sink: UOp) -> list[LoopBody]:
    """Return the bodies of a kernel: of its stores, then of each REDUCE.

    Stores have one for each nest of loops.
    """
    together: dict[frozenset[UOp], list[UOp]] = {}
    for store in stores_of(sink):
        together.setdefault(frozenset(r for r in store.src[2:] if r.op is Ops.RANGE), []).append(store)
    bodies = [
        _body(None, loops, [s for store in stores for s in store.src[:2]], {s.src[0] for s in stores})
        for loops, stores in together.items()
    ]
    for u in (u for u in sink.toposort() if u.op is Ops.REDUCE):
        loops = u.ranges.union(ranges_of_reduce(u))
        bodies.append(_body(u, loops, list(u.src[: u.arg[1]]), set()))
    return bodies


class Facts:
    """Properties of one kernel's graph, each found out once.

    Attributes:
        ranges: all RANGEs, by identity.
    """

    def __init__(self, ast: UOp) -> None:
        self.ast = ast
        self.ranges = all_ranges(ast)

    @cached_property
    def bodies(self) -> list[LoopBody]:
        """The bodies of its stores, then of each REDUCE."""
        return bodies_of(self.ast)

    @cached_property
    def can_repeat(self) -> bool:
        """Whether elements may be computed twice: not if the kernel reads its output."""
        stores = stores_of(self.ast)
        written = {s.src[0].src[0] for s in stores}
        values = UOp.sink(*(s.src[1] for s in stores)).toposort()
        return all(s.arg is None for s in stores) and written.isdisjoint(values)


def work_of(bodies: Iterable[LoopBody]) -> int:
    """Return the steps of all bodies, each times its operations, loads and stores."""
    return sum(b.steps * (b.operations + len(b.places)) for b in bodies)


def are_worth_threads(work: int, cores: int) -> bool:
    """Say whether the amount of work, see `work_of`, justifies threads."""
    return cores > 1 and work >= _THREAD_FROM


def _body(reduce: UOp | None, loops: frozenset[UOp], roots: list[UOp], stored: set[UOp]) -> LoopBody:
    places: list[MemoryAccess] = []
    operations = written_out = 0
    seen: set[UOp] = set()
    stack = list(roots)
    while stack:
        u = stack.pop()
        if u in seen or u.op is Ops.REDUCE:
            continue
        seen.add(u)
        if u.op is Ops.INDEX:
            places.append(MemoryAccess(u, loops, reduce, u in stored))
            continue
        operations += u.op in ALU
        written_out += op_cost(u.op)
        stack.extend(u.src)
    ended = frozenset(ranges_of_reduce(reduce)) if reduce is not None else frozenset[UOp]()
    moving = tuple([p for p in places if not ended.isdisjoint(p.index.ranges)])
    return LoopBody(reduce, loops, tuple(places), moving, operations, written_out, steps_of(loops))


def element_time(capabilities: Capabilities) -> float:
    """Return an element's time of access, in multiplications of whole vectors."""
    return min(1.0, (capabilities.vector_unit_bits or capabilities.vector_bits) / capabilities.vector_bits)


def lanes_along(body_places: Iterable[MemoryAccess], r: UOp, capabilities: Capabilities) -> int:
    """Return the lanes of vectors along `r`: a power of two, within its steps."""
    widest = max((capabilities.lane_bytes(p.index.dtype) for p in body_places if p.moves(r)), default=4)
    size = constant_size(r) or 1
    fitting = max(1, capabilities.vector_bits // (8 * widest))
    return min(1 << (size.bit_length() - 1), fitting, capabilities.max_lanes or size)


def divisors(size: int, candidates: Iterable[int]) -> list[int]:
    """Return the candidates that divide `size`, in the given order."""
    return [c for c in candidates if size % c == 0]
