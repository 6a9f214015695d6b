"""Choose optimisations without a search, from capabilities and the kernel's memory accesses.

For targets that run loops on vector registers: lanes along the axis that makes most accesses wide, then a
register tile that loads least for each multiplication, then threads. For targets with a grid: groups of
work-items, wide loads and shared reductions.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

from plugrad.codegen.opt.analysis import (
    LoopBody,
    MemoryAccess,
    element_time,
    steps_of,
)
from plugrad.codegen.opt.grid.heuristic import grid_opts
from plugrad.codegen.opt.group_staging import has_copies
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.loop_matrix import use_matrix_loops
from plugrad.codegen.opt.loop_order import hoist_reduction, order_loops
from plugrad.codegen.opt.loop_splitting import cuts, rests_of_rows
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.opt.stage_tiles import keep_values, stage_tiles
from plugrad.codegen.opt.threads import add_threads
from plugrad.codegen.opt.tile import (
    Tile,
    chains_of,
    lanes_added,
    lanes_of_axis,
    lanes_of_rest,
    reread_bytes,
    vector_steps,
)
from plugrad.codegen.opt.transpose import exchange_in_registers
from plugrad.codegen.opt.unrolling import (
    CODE_LIMIT,
    streams,
    write_out_rows,
    write_out_steps,
    write_out_windows,
)
from plugrad.codegen.rebuild import ranges_of_reduce, reads_versions, stores_of
from plugrad.dtype import is_float
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

# Vectors summed side by side hide the latency of an addition: 4 cycles, two units.
_CHAINS = 4
# Additions that wait for each other, up to so many: the next ones have begun before they end.
_WAITS = 64
# The most of them along a row that is read once: lines that follow each other come sooner.
_VECTORS_OF_ROW = 16
# Registers that lanes take until they are picked: what is loaded twice, and the places.
_PICKED = 2
# Places that read a copy of gathered lanes at the least.
_ROWS_TO_PACK = 128
# Lanes that need a copy write stores out, lane by lane: they have to save a twentieth.
_WORTH_PACKING = 0.95
# The time of a tile whose panels come from beyond the second cache, against one whose do not.
_BEYOND_CACHE = 1.1
# Rows of a power-of-two pitch share one set of the first cache, which has eight ways.
_WAYS = 8


def optimise(kernel: KernelOpt) -> KernelOpt:
    """Apply suitable optimisations to a kernel without any, and return it."""
    if kernel.capabilities.grid_dims:
        kernel.apply_all(grid_opts(kernel))
    elif has_copies(kernel.ast):
        add_threads(kernel)
    elif not use_matrix_loops(kernel):
        kernel.apply_all([*cuts(kernel), *rests_of_rows(kernel)])
        _plan_loops(kernel)
    return kernel


def _plan_loops(kernel: KernelOpt) -> None:
    """Choose vectors, tiles, threads and copies, which are chosen with the lanes that need them."""
    if not kernel.capabilities.vector_bits or exchange_in_registers(kernel):
        add_threads(kernel)
        return
    bodies = kernel.bodies
    known_lanes: dict[UOp, int] = {}
    plan = _VectorPlan(kernel, bodies, known_lanes)
    # what reductions read is packed
    if any(body.reduce is not None for body in bodies):
        trial = KernelOpt(kernel.ast, kernel.capabilities)
        packed = _VectorPlan(trial, bodies, known_lanes, packs=True)
        if packed.lane is not plan.lane and packed.gains_by_packing(plan):
            _apply_plan(trial, packed)
            if any(opt.op is OptOps.STAGE for opt in trial.applied):
                kernel.ast, kernel.applied = trial.ast, trial.applied
                return
    _apply_plan(kernel, plan)


def _apply_plan(kernel: KernelOpt, plan: "_VectorPlan") -> None:
    plan.apply()
    add_threads(kernel)
    # copies would be of memory at one time
    for add in () if reads_versions(kernel.ast.toposort()) else (stage_tiles, hoist_reduction, keep_values):
        add(kernel)
    write_out_steps(kernel, plan.lane)


class _VectorPlan:
    """Lanes and register tile of one kernel."""

    def __init__(
        self, kernel: KernelOpt, bodies: list[LoopBody], known_lanes: dict[UOp, int], *, packs: bool = False
    ) -> None:
        self.kernel = kernel
        self._known_lanes = known_lanes
        self.packs = packs
        self.cache_bytes = kernel.capabilities.cache_bytes[-1]
        self.bodies = bodies
        self.places = [p for body in self.bodies for p in body.places]
        self.can_repeat = kernel.can_repeat()
        self.summed: dict[UOp | None, UOp] = {}  # the lanes of reductions that are summed along vectors
        self.lane = self._cheapest_lane()
        self.main = max(self.bodies, key=lambda b: b.steps)

    def _cheapest_lane(self) -> UOp | None:
        """Return the axis whose vectors cost least, the inner one of equal ones."""
        return min([None, *reversed(self._with_lanes())], key=self._cost)

    def apply(self) -> None:
        lane, main, chosen = self.lane, self.main, self.tile
        tile = chosen.opts() if chosen is not None else []
        beside = self._axes_of_other_stores(lane)  # while the lane's loop is whole
        for body in self.bodies[1:]:
            if lane is None or lane not in body.loops:
                self._sum_in_lanes(body, chains=1 if body is main and tile else _CHAINS)
        crossing = self._crossing(lane) if lane is not None and not tile else None
        if lane is not None and lane.arg.ident not in {ident for ident, _ in tile}:
            lanes = self._lanes(lane)
            lanes *= max(self._fitting(lane, lanes, main.side_by_side(lane, lanes)), default=1)
            self._upcast(lane.arg.ident, min(lanes, _WAYS) if crossing and crossing[1] > 2 else lanes)
        if crossing is not None:
            self._upcast(*crossing)
        for r in (r for r in beside if r in self.kernel.axes(AxisType.LOOP)):
            self._upcast(r.arg.ident, self._lanes(r))
        for ident, count in tile:
            if count > 1:
                self._upcast(ident, count)
        if lane is not None:
            for body in self.bodies[1:]:
                if lane in body.loops:
                    self._sum_side_by_side(body, lane)
        length = max([1, *(self._written_out(body) for body in self.bodies if body.reduce is not None)])
        write_out_windows(self.kernel, self.bodies, chosen, CODE_LIMIT // length)
        if len(tile) > 1:
            order_loops(self.kernel)
        if lane is not None:
            write_out_rows(self.kernel, self.bodies, lane, self._lanes(lane))

    def _axes_of_other_stores(self, lane: UOp | None) -> list[UOp]:
        """Return the axes of other stores' loops that gain by lanes."""
        if lane is None:
            return []
        stores = stores_of(self.kernel.ast)
        # steps of these would repeat the vectors there are
        around = {r for s in stores if lane in s.src[2:] for r in s.src[2:]}
        ended = [s.src[2:] for s in stores if lane not in s.src[2:] and len(s.src) > 2]
        last = {loops[-1] for loops in ended if loops[-1].arg.kind is AxisType.LOOP} - around
        scalar = self._cost(None)
        return [r for r in self._with_lanes() if r in last and self._cost(r) < scalar]

    def _with_lanes(self) -> list[UOp]:
        """Return the output axes along which vectors fit."""
        loops = self.kernel.axes(AxisType.LOOP)
        return [r for r in loops if self._lanes(r) > 1 and self.kernel.can_write_out(r)]

    def _lanes(self, r: UOp) -> int:
        """Return the lanes that fit along `r`, or fewer without a rest."""
        known = self._known_lanes.get(r)
        if known is None:
            known = lanes_of_axis(r, self.bodies, self.kernel.capabilities, rest=self._may_leave_rest(r))
            self._known_lanes[r] = known
        return known

    def _may_leave_rest(self, r: UOp) -> bool:
        return r.arg.kind is AxisType.REDUCE or self.can_repeat

    def _fitting(self, r: UOp, unit: int, candidates: Iterable[int]) -> list[int]:
        """Return the candidates that fit the axis in tiles of `unit` times as many steps."""
        size = constant_size(r) or 1
        rest = self._may_leave_rest(r)
        return [c for c in candidates if c * unit <= size and (rest or size % (c * unit) == 0)]

    def _upcast(self, ident: AxisId, count: int) -> None:
        """Give `count` steps of an output axis to registers, whether or not they divide it."""
        size = constant_size(self.kernel.axis(ident)) or 1
        if size % count:
            self.kernel.apply(Opt(OptOps.SHIFTIN, ident, count))
            ident = (*ident, 1)
        self.kernel.apply(Opt(OptOps.UPCAST, ident, count))

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

    def _body_cost(self, body: LoopBody, lane: UOp | None) -> float:
        own = ranges_of_reduce(body.reduce) if body.reduce is not None else ()
        share, across = 1.0, 0
        if lane is not None:
            share = vector_steps(lane, self._lanes(lane)) / (constant_size(lane) or 1)
            if lane in own:
                across = lanes_added(self._lanes(lane)) * body.steps // steps_of(own)
        accesses = sum(share if self._is_packed(p, lane) else p.cost(lane, share) for p in body.places)
        return body.steps * (accesses + (body.operations + 1) * share) + across

    def _is_packed(self, place: MemoryAccess, lane: UOp | None) -> bool:
        """Say whether lanes along `lane` read a copy of memory, for many rows."""
        if not self.packs or place.reduce is None or lane is None or not place.moves(lane):
            return False
        rows = [r for r in self.kernel.axes(AxisType.LOOP) if r is not lane and not place.moves(r)]
        return steps_of(rows) >= _ROWS_TO_PACK

    def gains_by_packing(self, plain: "_VectorPlan") -> bool:
        """Say whether copies are worth more code than the `plain` plan has."""
        own, other = self._tile_cost(), plain._tile_cost()
        large = (p for p in self.places if p.reads_beyond(self.cache_bytes))
        is_large = any(self._is_packed(p, self.lane) for p in large)
        if own is None or other is None:
            return is_large
        return own <= (max(other, plain._time_of_memory()) if is_large else _WORTH_PACKING * other)

    def _time_of_memory(self) -> float:
        """Return the time in which memory gives what tiles read; infinity where lanes jump."""
        lane, tile, places = self.lane, self.tile, self.main.moving
        if lane is None or tile is None or any(p.moves(lane) and not p.is_contiguous(lane) for p in places):
            return math.inf
        return tile.streamed(reread_bytes(lane, places, self._batch(places), self.cache_bytes))

    def _batch(self, places: Sequence[MemoryAccess]) -> list[UOp]:
        """Return the axes along which all places move."""
        return [r for r in self.kernel.axes(AxisType.LOOP) if all(p.moves(r) for p in places)]

    def _tile_cost(self) -> float | None:
        """Return the time of the tile in vector multiplications; None for scalar tiles."""
        lane, main, tile = self.lane, self.main, self.tile
        if tile is None or main.reduce is None:
            return None
        # what is computed of each sum, in lanes of results or one by one
        after = sum(body.steps * body.written_out for body in self.bodies if body.reduce is None)
        (steps,) = self._times(main, [tile])
        if lane is not None:
            return steps + after / self._lanes(lane)
        reduced = ranges_of_reduce(main.reduce)
        results = main.steps // steps_of(reduced)
        lanes = max(map(self._lanes, reduced))
        if lanes == 1:
            return None
        return steps / lanes + lanes_added(lanes) * results + after * element_time(self.kernel.capabilities)

    def _times(self, body: LoopBody, tiles: Sequence[Tile]) -> list[float]:
        """Return times of tiles of the same columns, in multiplications of whole vectors."""
        packed = [p for p in body.moving if self._is_packed(p, tiles[0].column)]
        results = [p for p in self.places if p.reduce is None]
        places, can = body.moving if packed else (), self.kernel.capabilities
        again = reread_bytes(tiles[0].column, places, self._batch(packed), self.cache_bytes)
        return [tile.time(body, results, packed, again, can) for tile in tiles]

    def _shares_vectors(self, body: LoopBody, columns: list[UOp], row: UOp) -> bool:
        """Say whether windows of neighbours along `row` overlap in vectors along the columns.

        Where a window is written out, its products share them: they stay in registers from step to step.
        """
        wide = [p for p in body.moving if any(map(p.moves, columns)) and p.moves(row)]
        return any(p.overlaps(row) for p in wide if not any(self._is_packed(p, c) for c in columns))

    def _sum_in_lanes(self, body: LoopBody, chains: int) -> None:
        """Sum a reduction along the lanes of vectors, `chains` of them side by side."""
        own = ranges_of_reduce(body.reduce) if body.reduce is not None else ()
        if shared := [lane for lane in self.summed.values() if lane in own]:
            # loops that are another reduction's as well have been split with it
            self.summed[body.reduce] = shared[0]
            return
        best = min([None, *(r for r in own if self._lanes(r) > 1)], key=lambda r: self._body_cost(body, r))
        if best is not None:
            self.summed[body.reduce] = best
            self._partial(best.arg.ident, self._lanes(best), chains if body.moving else 1)

    def _sum_side_by_side(self, body: LoopBody, lane: UOp) -> None:
        """Split a long reduction of floats into chains, where a step adds to few vectors.

        Lanes that are loaded one by one take longer than an addition: chains are worth what they share.
        """
        if body.reduce is None or not is_float(body.reduce.dtype) or not body.moving:
            return
        own = {r.arg.ident[0] for r in body.loops}
        copies = [r for r in self.kernel.axes(AxisType.UPCAST) if r.arg.ident[0] in own]
        lanes = self._lanes(lane)
        chains = _CHAINS * lanes // max(lanes, steps_of(copies))
        left = self.kernel.axes(AxisType.REDUCE)
        sizes = {r: constant_size(r) or 0 for r in ranges_of_reduce(body.reduce) if r in left}
        fitting = [r for r, size in sizes.items() if size > _WAITS]
        if apart := [p for p in body.moving if p.written_out(lane)]:
            is_shared = {r: any(not p.moves(r) for p in apart) for r in sizes}
            fitting = [r for r, size in sizes.items() if fitting and is_shared[r] and size <= chains]
        if chains > 1 and fitting:
            self._partial(fitting[-1].arg.ident, 1, chains)

    def _partial(self, ident: AxisId, lanes: int, chains: int) -> None:
        size = constant_size(self.kernel.axis(ident)) or 1
        count = lanes * chains_of(size, lanes, chains)
        if size % count:
            self.kernel.apply(Opt(OptOps.SPLIT_REMAINDER, ident, count))
            if (left := lanes_of_rest(size % count, lanes)) > 1:
                self._partial((*ident, 1), left, _CHAINS)
            ident = (*ident, 0)
        self.kernel.apply(Opt(OptOps.UPCAST, ident, count))

    @cached_property
    def tile(self) -> Tile | None:
        """The tile of output axes in registers that loads least for a product."""
        body, lane = self.main, self.lane
        if body.reduce is None or not body.moving or (lane is not None and lane not in body.loops):
            return None
        outputs = [r for r in self.kernel.axes(AxisType.LOOP) if r in body.loops and constant_size(r)]
        reused = [r for r in outputs if any(not p.moves(r) for p in body.moving)]
        columns = [lane] if lane is not None else reused[-1:]
        rows = [r for r in reused if r not in columns]
        if not columns:
            return None
        registers = self.kernel.capabilities.vector_registers
        unit = self._lanes(lane) if lane is not None else 1
        widths = self._widths(body, lane)
        choices = [Tile(columns[0], unit, c, ()) for c in self._fitting(columns[0], unit, widths)]
        # one or two axes of rows: where the columns are few, two of them reuse more
        for tile in list(choices):
            for row in rows:
                choices += (tile.with_rows(row, t) for t in self._fitting(row, 1, range(2, 9)))
        for tile in [c for c in choices if c.rows and c.products < registers * 3 // 4]:
            for row in rows[rows.index(tile.rows[0][0]) + 1 :]:
                choices += (tile.with_rows(row, t) for t in self._fitting(row, 1, range(2, 5)))
        # what the windows of rows share takes the registers of a loop; without one it has its turn
        sharing = {r for r in rows if self._shares_vectors(body, columns, r)}
        # lanes are picked out of registers beside those of the products
        column = columns[0]
        shuffled = [p for p in body.moving if p.is_shuffled(column) and not self._is_packed(p, column)]
        picks = [_PICKED * c.loads(body, shuffled.__contains__) if shuffled else 0 for c in choices]
        fitting = [
            tile
            for tile, picked in zip(choices, picks, strict=True)
            if tile.fits(registers, picked)
            and (tile.is_written_out(body) or not any(r in sharing for r, _ in tile.rows))
        ] or choices[:1]  # where sums of one loop fill the registers
        # neighbouring tiles load one factor again, which should be in the cache by then
        far = [1 if t.nbytes(body) <= self.cache_bytes else _BEYOND_CACHE for t in fitting]
        times = self._times(body, fitting)
        times = [f * t.penalty * time for f, t, time in zip(far, fitting, times, strict=True)]
        return min(zip(times, fitting, strict=True), key=lambda c: (c[0], -c[1].products))[1]

    def _widths(self, body: LoopBody, lane: UOp | None) -> range:
        """Return the counts of columns to try: fewer vectors where a window makes code long."""
        if lane is None:
            return range(1, 1 + _CHAINS)
        fitting = CODE_LIMIT // (body.window * max(1, self._written_out(body)))
        return range(
            1, 1 + max(1, min(_VECTORS_OF_ROW if streams(body, self.cache_bytes) else _CHAINS, fitting))
        )

    def _crossing(self, lane: UOp) -> tuple[AxisId, int] | None:
        """Return another axis and its lanes, contiguous where `lane` is not; all of a pair."""
        jumping = [p for p in self.places if p.moves(lane) and not p.is_contiguous(lane)]
        # sums along vectors cannot have these lanes too: all their steps would be written out
        repeated = {r for body in self.bodies if body.reduce in self.summed for r in body.loops}
        for r in (r for r in self.kernel.axes(AxisType.LOOP) if r not in repeated):
            side = self._fitting(r, 1, (_WAYS, _WAYS // 2) if constant_size(r) != 2 else (2,))
            if side and self.kernel.can_write_out(r) and any(p.is_contiguous(r) for p in jumping):
                return r.arg.ident, side[0]
        return None

    def _written_out(self, body: LoopBody) -> int:
        """Return the operations of one copy of a body, with separate loads of scattered lanes."""
        lane = self.summed.get(body.reduce, self.lane)
        if lane is None:
            return body.written_out
        apart = [p for p in body.places if not self._is_packed(p, lane)]
        return body.written_out + self._lanes(lane) * sum(p.written_out(lane) for p in apart)
