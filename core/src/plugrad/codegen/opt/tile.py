"""The steps of output axes whose products accumulate in registers, side by side."""

import math
from collections.abc import Callable, Collection, Iterable

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import (
    GATHERED,
    SHUFFLED,
    LoopBody,
    MemoryAccess,
    element_time,
    lanes_along,
    nbytes_between,
    steps_of,
)
from plugrad.codegen.opt.opt_ops import AxisId
from plugrad.codegen.rebuild import ranges_of_reduce
from plugrad.target import LINE_BYTES, Capabilities
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

# Against one element, or a vector of a copy: a vector that lies across two lines.
_UNALIGNED = 2
# Against a vector: the load or store of one of its elements, and a line, often a page, of its own for it.
_SCATTERED = 1
_LINE = 4
# The time of each element of a copy of gathered lanes.
_COPIED = 2
# Time of a load that multiplications hide: it may miss the first cache.
_BESIDE = 1 / 8
# The same of a line that comes from beyond the caches, for one of its elements.
_FAR_LINE = 4
# Bytes from beyond the second cache in the time of a multiplication: a fifth of the rate of pages in order.
_STREAMED = 2
# Rows make the code of a tile as many times as long: they have to save a twentieth.
_ROWS = 1.05
# Steps of a whole reduction that are written out, and products in them: longer code outgrows its cache.
LONGEST_WINDOW = 32
BODY_LIMIT = 256
# The same of steps that rows share, whose vectors stay in registers.
_SHARED = 64
# Vectors shorter than this gain too little to leave a rest.
LANES_WITH_REST = 4
# Vectors of half as many lanes need more registers and loads: they have to save a seventh.
_LESS_REST = 6 / 7
# Cycles of an addition.
_LATENCY = 4
# What the windows of one axis share, rows of another one use again: registers hold that of short windows.
_SHORT_WINDOW = 9


@frozen
class Tile:
    """Steps of output axes that share registers: `columns` vectors of `unit` lanes, times the rows."""

    column: UOp
    unit: int
    columns: int
    rows: tuple[tuple[UOp, int], ...]

    def with_rows(self, row: UOp, count: int) -> "Tile":
        """Return the tile with `count` steps of one more axis."""
        return Tile(self.column, self.unit, self.columns, (*self.rows, (row, count)))

    @property
    def products(self) -> int:
        """Vectors that accumulate side by side."""
        return math.prod((self.columns, *(count for _, count in self.rows)))

    def fits(self, registers: int, picked: float) -> bool:
        """Say whether registers hold products, sources of picked lanes, and a step's factors.

        Rows share all vectors of the columns; of the other factor one is loaded at a time.
        """
        factors, products = 1 + self.columns if self.rows else 1, self.products
        return products + picked <= registers * 3 // 4 and products + factors <= registers

    def loads(self, body: LoopBody, weight: Callable[[MemoryAccess], float] = lambda _: 1) -> float:
        """Return the weighted loads of one reduction step for all products."""
        shares = self.is_written_out(body)
        return sum(self._steps_at(p, shares=shares) * weight(p) for p in body.moving)

    def _steps_at(self, place: MemoryAccess, *, shares: bool) -> float:
        """Return the steps of the tile at a place, of which rows may share some."""
        columns = self.columns if place.moves(self.column) else 1
        rows = ((r, count) for r, count in self.rows if place.moves(r))
        return math.prod((columns, *(place.windows(r, count) if shares else count for r, count in rows)))

    def _is_for_one_product(self, place: MemoryAccess) -> bool:
        """Say whether what a place holds is a factor of one product."""
        return self.columns == 1 and all(place.moves(r) and not place.overlaps(r) for r, _ in self.rows)

    def shared_axes(self, body: LoopBody) -> list[UOp]:
        """Return the reduced axes along which windows of the rows overlap.

        There are none where lanes are picked, rows have several vectors, or the reduction is more than a
        window. Steps of the other axes load what no other product has: they need not be written out.
        """
        if not self.rows or self.columns > 1 or body.reduce is None:
            return []
        if steps_of(ranges_of_reduce(body.reduce)) > body.window:
            return []
        wide = [p for p in body.moving if p.moves(self.column)]
        if not all(p.is_contiguous(self.column) for p in wide):
            return []
        found = (p.window_axis(r)[0] for p in wide for r, _ in self.rows)
        return [r for r in found if r is not None]

    def is_written_out(self, body: LoopBody) -> bool:
        """Say whether all products of the reduction are written out, with vectors that windows share."""
        steps = steps_of(ranges_of_reduce(body.reduce)) if body.reduce is not None else 1
        longest = LONGEST_WINDOW if len(self.rows) < 2 else _SHORT_WINDOW
        if steps <= longest and steps * self.products <= BODY_LIMIT:
            return True
        shared = self.shared_axes(body) if len(self.rows) == 1 else []
        return bool(shared) and steps_of(shared) * self.products <= _SHARED

    def nbytes(self, body: LoopBody) -> int:
        """Return the bytes that a reduction loads for all products and other tiles share."""
        factors = ((self.column, self.columns * self.unit), *self.rows)
        return sum(
            math.prod(count for r, count in factors if p.moves(r))
            * steps_of(frozenset(ranges_of_reduce(body.reduce)) & frozenset(p.index.ranges))
            * p.index.dtype.itemsize
            for p in body.moving
            if body.reduce is not None and not p.loops <= p.index.ranges
        )

    def shared_load(self, place: MemoryAccess, cached_bytes: int) -> float:
        """Return the time of a load at `place` for all lanes.

        It is more where its line is far, see `_FAR_LINE`. Lines of a whole reduction are near if the caches
        hold them until the next tile comes.
        """
        inner = (
            [r for r in ranges_of_reduce(place.reduce) if place.moves(r)] if place.reduce is not None else []
        )
        step = min([abs(place.step(r) or 0) for r in inner], default=0)
        of_a_line = min(1.0, step * place.index.dtype.itemsize / LINE_BYTES)
        apart = math.prod(n for r, n in self.rows if place.moves(r) and not place.is_contiguous(r))
        is_near = steps_of(inner) * of_a_line * apart * LINE_BYTES <= cached_bytes
        return 1 if is_near else 1 + _FAR_LINE * of_a_line

    @property
    def rest(self) -> float:
        """Return the computed products for each wanted one; those beyond an axis are unwanted."""
        sizes = ((self.column, self.columns * self.unit), *self.rows)
        return math.prod(_with_rest(r, count) for r, count in sizes)

    def neighbours(self, place: MemoryAccess) -> int:
        """Return the steps of the rows that are side by side at `place`."""
        return math.prod(count for r, count in self.rows if place.is_contiguous(r))

    def steps(self, body: LoopBody, weight: Callable[[MemoryAccess], float], product: float = 1) -> float:
        """Return the time of all steps of `body`, in multiplications of whole vectors.

        A core loads, each place times its weight, while it multiplies, as often in a cycle or more often. A
        `product` of shorter vectors may take less.
        """
        loads, products = self.loads(body, weight), self.products
        each = (max(products * product, loads) + _BESIDE * loads) / (products * self.unit)
        return body.steps * each * self.rest

    def time(
        self,
        body: LoopBody,
        results: Iterable[MemoryAccess],
        packed: Collection[MemoryAccess],
        reread_bytes: int,
        capabilities: Capabilities,
    ) -> float:
        """Return the time of steps and results, in multiplications of whole vectors.

        Lanes that memory holds apart are written, and read after the reduction, one by one. Neighbours along
        the tile's rows share their lines.

        Args:
            body: the reduction.
            results: places outside of reductions.
            packed: places whose lanes are copied before.
            reread_bytes: what each tile of lanes reads again from memory.
            capabilities: of the target.
        """
        lane, cached_bytes = self.column, capabilities.cache_bytes[-1]
        # sums along vectors have columns of one lane
        element = element_time(capabilities) if self.unit > 1 else 1
        lanes = capabilities.lanes(body.reduce.dtype) if body.reduce is not None else 1
        product = max(element, self.unit / lanes) if self.unit > 1 else 1

        def weight(p: MemoryAccess) -> float:
            if not p.moves(lane):
                # one product takes it from memory itself; several share it in a register
                is_alone = self._is_for_one_product(p) and nbytes_between(p.index) < cached_bytes
                return (element if is_alone else 1) * self.shared_load(p, cached_bytes)
            if p.is_contiguous(lane) or p in packed:
                return product * (1 if p in packed else _UNALIGNED)
            return product * SHUFFLED if p.is_shuffled(lane) else GATHERED * element * self.unit

        def scattered(p: MemoryAccess) -> float:
            return steps_of(p.loops) * (element * _SCATTERED + _LINE / self.neighbours(p))

        outside = (p for p in results if p.moves(lane) and not p.is_contiguous(lane))
        copied = [p for p in packed if not p.is_contiguous(lane)]
        beside = sum(_COPIED * element * steps_of(p.index.ranges) for p in copied)
        beside += sum(map(scattered, outside)) if self.unit > 1 else 0
        return max(self.steps(body, weight, product), self.streamed(reread_bytes)) + beside

    def streamed(self, reread_bytes: int) -> float:
        """Return the time in which memory gives what each tile of lanes reads again."""
        tiles = -(-(constant_size(self.column) or 1) // (self.columns * self.unit))
        return (tiles - 1) * reread_bytes / _STREAMED

    @property
    def penalty(self) -> float:
        """Return the factor by which the tile has to be faster than a shorter one."""
        return _ROWS if self.rows else 1.0

    def opts(self) -> list[tuple[AxisId, int]]:
        """Return the steps of each axis, the columns first."""
        return [(self.column.arg.ident, self.columns * self.unit), *((r.arg.ident, n) for r, n in self.rows)]


def _with_rest(r: UOp, count: int) -> float:
    """Return the steps of whole tiles of `count`, for each step of the axis."""
    size = constant_size(r) or 1
    return -(-size // count) * count / size


def reread_bytes(column: UOp, places: Iterable[MemoryAccess], batch: list[UOp], cached_bytes: int) -> int:
    """Return the bytes beyond the cache that each tile along `column` reads again.

    A batch of products is outside of all tiles: they read one step of it.
    """
    one = {r: r.const_like(0) for r in batch}
    again = [p for p in places if not p.moves(column)]
    large = [p for p in again if nbytes_between(p.index.substitute(one)) > cached_bytes]
    return sum(nbytes_between(p.index) for p in large)


def vector_steps(r: UOp, lanes: int) -> int:
    """Return the steps that lanes take along `r`."""
    size = constant_size(r) or 1
    return size // lanes + size % lanes if r.arg.kind is AxisType.REDUCE else -(-size // lanes)


def lanes_of_axis(r: UOp, bodies: Iterable[LoopBody], capabilities: Capabilities, *, rest: bool) -> int:
    """Return the lanes that fit along `r`, or fewer where no `rest` may be left."""
    size, places = constant_size(r) or 1, [p for body in bodies for p in body.places]
    reduces = [body.reduce for body in bodies if body.reduce is not None]
    most = lanes_along(places, r, capabilities)
    # each lane has an accumulator, which may be wider than what is loaded
    most = min([most, *(capabilities.lanes(u.dtype) for u in reduces if r in ranges_of_reduce(u))])
    exact = min(most, size & -size)
    if most < LANES_WITH_REST or not rest:
        return exact
    if reduces:
        whole = min((capabilities.lanes(p.index.dtype) for p in places if p.moves(r)), default=most)
        most = _halved_lanes(r, most, whole, element_time(capabilities))
    return most if vector_steps(r, most) < size // exact else exact


def _halved_lanes(r: UOp, lanes: int, whole: int, element: float) -> int:
    """Return the lanes, or half of them where steps along `r` then take clearly less.

    Args:
        r: the axis; a reduction's rest has vectors of its own.
        lanes: that fit.
        whole: lanes of a whole vector.
        element: the least time of a vector, against a whole one's.
    """
    if r.arg.kind is AxisType.REDUCE:
        return lanes
    time, halved = (vector_steps(r, n) * max(element, n / whole) for n in (lanes, lanes // 2))
    return lanes // 2 if halved < _LESS_REST * time else lanes


def lanes_of_rest(rest: int, lanes: int) -> int:
    """Return the lanes of vectors for what those of `lanes` leave of a reduction.

    Shorter ones leave nothing, or less than the shortest vector.

    Example:
        >>> [lanes_of_rest(rest, 16) for rest in (3, 7, 9, 14, 20)]
        [1, 4, 8, 4, 16]
    """
    whole = rest // LANES_WITH_REST * LANES_WITH_REST
    return min(lanes, whole & -whole if rest < lanes else lanes) if whole else 1


def chains_of(size: int, lanes: int, most: int) -> int:
    """Return the number of vectors of a row that are added up side by side.

    A step waits for the one before. What is left of whole steps has vectors of its own.

    Example:
        >>> [chains_of(size, 16, 4) for size in (20, 49, 100, 1001)]
        [1, 3, 3, 4]
    """
    fitting = [c for c in (most, 3, 2, 1) if c <= most and c * lanes <= size]
    if lanes < LANES_WITH_REST:
        return fitting[0]

    def cycles(chains: int) -> int:
        steps, rest = divmod(size, lanes * chains)
        return steps * _LATENCY + (rest // lanes * _LATENCY + lanes_added(lanes) if rest >= lanes else 0)

    return min(fitting, key=cycles)


def lanes_added(lanes: int) -> int:
    """Return the time in which the lanes of a vector are added up."""
    return 2 * (lanes.bit_length() - 1)
