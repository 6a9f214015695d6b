"""Choose optimisations without a search, from capabilities and the kernel's memory accesses.

For targets that run loops on vector registers: lanes along the axis that makes most accesses wide, then a
register tile that loads least for each multiplication, then threads. For targets with a grid: groups of
work-items, wide loads and shared reductions.
"""

import math
from dataclasses import dataclass, replace

from plugrad.codegen.opt.analysis import Body, Place, bodies_of, divisors, lanes_along, steps_of
from plugrad.codegen.opt.grid_heuristic import grid_opts
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.rebuild import ranges_of_reduce
from plugrad.codegen.strides import constant_size
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType
from plugrad.uop.uop import UOp

# Loop steps times operations below which waking another core costs more than it saves (a few microseconds).
_THREAD_FROM = 1 << 15
# Vectors summed side by side hide the latency of an addition: 4 cycles, two units.
_CHAINS = 4
# Small reductions, such as a convolution's window, are written out; beyond this the code outgrows its cache.
_UNROLL_UP_TO = 9
_BODY_LIMIT = 256
# Operations in all copies together: hundreds of sines, of a hundred operations each, take seconds to compile.
_CODE_LIMIT = 2048
# Rows of a power-of-two pitch share one set of the first cache, which has eight ways.
_WAYS = 8


def optimise(kernel: KernelOpt) -> KernelOpt:
    """Apply the optimisations that suit a kernel that has none, and return it."""
    if kernel.capabilities.grid_dims:
        kernel.apply_all(grid_opts(kernel))
    else:
        if kernel.capabilities.vector_bits:
            _VectorPlan(kernel).apply()
        _add_threads(kernel)
    return kernel


def choose_opts(ast: UOp, capabilities: Capabilities) -> tuple[Opt, ...]:
    """Return optimisations for a kernel that has none, as data."""
    return tuple(optimise(KernelOpt(ast, capabilities)).applied)


@dataclass(frozen=True, slots=True)
class _Tile:
    """Steps of output axes that share registers: `columns` vectors of `unit` lanes, times the rows."""

    column: UOp
    unit: int
    columns: int
    rows: tuple[tuple[UOp, int], ...]

    def with_rows(self, row: UOp, count: int) -> "_Tile":
        return replace(self, rows=(*self.rows, (row, count)))

    @property
    def products(self) -> int:
        """Vectors that accumulate side by side."""
        return math.prod((self.columns, *(count for _, count in self.rows)))

    def loads(self, body: Body) -> int:
        """Return the loads that one step of the reduction needs for all products."""
        factors = ((self.column, self.columns), *self.rows)
        return sum(math.prod(count for r, count in factors if p.moves(r)) for p in _moving(body))

    def opts(self) -> list[tuple[AxisId, int]]:
        """Return the steps of each axis, the columns first."""
        return [(self.column.arg.ident, self.columns * self.unit), *((r.arg.ident, n) for r, n in self.rows)]


def _moving(body: Body) -> list[Place]:
    """Return the places that some loop moves: the others are loaded once, before all loops."""
    return [p for p in body.places if p.index.ranges]


class _VectorPlan:
    """Lanes and register tile of one kernel."""

    def __init__(self, kernel: KernelOpt) -> None:
        self.kernel = kernel
        self.bits = kernel.capabilities.vector_bits
        self.bodies = bodies_of(kernel.ast)
        self.places = [p for body in self.bodies for p in body.places]

    def apply(self) -> None:
        outputs = [r for r in self.kernel.axes(AxisType.LOOP) if self._lanes(r) > 1]
        lane = min([None, *outputs], key=self._cost)
        main = max(self.bodies, key=lambda b: b.steps)
        tile = self._tile(main, lane)
        tiled_idents: set[AxisId] = {ident for ident, _ in tile}
        for body in self.bodies[1:]:
            if lane is None or lane not in body.loops:
                best = self._lane_of_reduce(body, spare=4 if body is main and tile else 1)
                if best is not None:
                    self.kernel.apply(best)
        crossing = self._crossing(lane) if lane is not None and not tile else None
        if lane is not None and lane.arg.ident not in tiled_idents:
            lanes = self._lanes(lane)
            self.kernel.apply(Opt(OptOps.UPCAST, lane.arg.ident, min(lanes, _WAYS) if crossing else lanes))
        if crossing is not None:
            self.kernel.apply(crossing)
        for ident, count in tile:
            if count > 1:
                self.kernel.apply(Opt(OptOps.UPCAST, ident, count))
        self._unroll_windows()
        self._order(tile)

    def _lanes(self, r: UOp) -> int:
        return lanes_along(self.places, r, self.bits, self.kernel.capabilities.max_lanes)

    def _cost(self, lane: UOp | None) -> float:
        """Estimate operations and accesses with vectors along `lane`; other reductions find their own."""
        total = 0.0
        for body in self.bodies:
            if lane is not None and lane in body.loops:
                total += self._body_cost(body, lane)
            else:
                inner = ranges_of_reduce(body.reduce) if body.reduce is not None else ()
                total += min([self._body_cost(body, r) for r in (None, *inner)])
        return total

    def _body_cost(self, body: Body, lane: UOp | None) -> float:
        lanes = self._lanes(lane) if lane is not None else 1
        share = 1 / lanes
        accesses = sum(
            share if lane is None or not p.moves(lane) or p.is_contiguous(lane) else 1.5 for p in body.places
        )
        return body.steps * (accesses + (body.operations + 1) * share)

    def _lane_of_reduce(self, body: Body, spare: int) -> Opt | None:
        """Return the optimisation that sums along the lanes of vectors, several at a time."""
        if body.reduce is None:
            return None
        # reductions may share ranges: those that another one has split are gone
        left = self.kernel.axes(AxisType.REDUCE)
        ranges = [r for r in ranges_of_reduce(body.reduce) if r in left and self._lanes(r) > 1]
        best = min([None, *ranges], key=lambda r: self._body_cost(body, r))
        if best is None:
            return None
        lanes, size = self._lanes(best), constant_size(best) or 1
        chains = divisors(size // lanes, (_CHAINS, 2, 1))[0] if spare == 1 else 1
        return Opt(OptOps.UPCAST, best.arg.ident, lanes * chains)

    def _tile(self, body: Body, lane: UOp | None) -> list[tuple[AxisId, int]]:
        """Return how many steps of which output axes share registers: the tile that loads least a product."""
        if body.reduce is None or not _moving(body):
            return []
        outputs = [r for r in self.kernel.axes(AxisType.LOOP) if r in body.loops and constant_size(r)]
        reused = [r for r in outputs if any(not p.moves(r) for p in _moving(body))]
        if lane is not None and lane not in body.loops:
            return []
        columns = [lane] if lane is not None else reused[-1:]
        rows = [r for r in reused if r not in columns]
        if not columns:
            return []
        budget = self.kernel.capabilities.vector_registers * 3 // 4
        unit = self._lanes(lane) if lane is not None else 1
        column = columns[0]
        wide = divisors((constant_size(column) or 1) // unit, (1, 2, 3, 4))
        choices = [_Tile(column, unit, c, ()) for c in wide]
        # one or two axes of rows: where the columns are few, two of them reuse more
        for tile in list(choices):
            for row in rows:
                choices += (tile.with_rows(row, t) for t in divisors(constant_size(row) or 1, range(2, 9)))
        for tile in [c for c in choices if c.rows and c.products < budget]:
            for row in rows[rows.index(tile.rows[0][0]) + 1 :]:
                choices += (tile.with_rows(row, t) for t in divisors(constant_size(row) or 1, range(2, 5)))
        fitting = [tile for tile in choices if tile.products <= budget]
        return min(fitting, key=lambda tile: (tile.loads(body) / tile.products, -tile.products)).opts()

    def _crossing(self, lane: UOp) -> Opt | None:
        """Where a place jumps along the lanes but runs along another axis, a rectangle uses whole lines."""
        jumping = [p for p in self.places if p.moves(lane) and not p.is_contiguous(lane)]
        for r in self.kernel.axes(AxisType.LOOP):
            side = divisors(constant_size(r) or 1, (16, 8, 4))
            if side and any(p.is_contiguous(r) for p in jumping):
                return Opt(OptOps.UPCAST, r.arg.ident, side[0])
        return None

    def _unroll_windows(self) -> None:
        copies = steps_of(self.kernel.axes(AxisType.UPCAST, AxisType.PARTIAL)) // max(
            1, self.bits // 32 if self.bits else 1
        )
        length = max([1, *(body.written_out for body in self.bodies if body.reduce is not None)])
        limit = min(_BODY_LIMIT, _CODE_LIMIT // length)
        for r in reversed(self.kernel.axes(AxisType.REDUCE)):
            size = constant_size(r)
            if size and 1 < size <= _UNROLL_UP_TO and copies * size <= limit:
                self.kernel.apply(Opt(OptOps.UNROLL, r.arg.ident, size))
                copies *= size

    def _order(self, tile: list[tuple[AxisId, int]]) -> None:
        """Let the axis with the wider tile be outside: the inner loop's stream is read once a step."""
        if len(tile) < 2 or tile[0][1] <= tile[1][1]:
            return
        column, row = ((*ident, 0) for ident, _ in tile[:2])
        loops = [r.arg.ident for r in self.kernel.axes(AxisType.LOOP)]
        if column in loops and row in loops and loops.index(row) < loops.index(column):
            self.kernel.apply(Opt(OptOps.SWAP, row, column))


def _add_threads(kernel: KernelOpt) -> None:
    cores = kernel.capabilities.threads
    if cores <= 1:
        return
    bodies = bodies_of(kernel.ast)
    work = sum(b.steps * (b.operations + len(b.places)) for b in bodies)
    if work < _THREAD_FROM:
        return
    # the biggest axis balances best; all reductions must be inside of it, or every thread would repeat them
    inside = [b.loops for b in bodies if b.reduce is not None]
    axes = [r for r in kernel.axes(AxisType.LOOP) if all(r in loops for loops in inside)]
    options = [
        (pieces % cores == 0, -abs(pieces - cores), steps_of([r]), pieces, r)
        for r in axes
        for pieces in divisors(constant_size(r) or 1, range(2, 8 * cores + 1))
    ]
    if options:
        *_, pieces, r = max(options, key=lambda o: o[:3])
        kernel.apply(Opt(OptOps.THREAD, r.arg.ident, pieces))
