"""Choose tiles of products whose factors depend on several axes, as in convolutions.

Lines and columns of an image are two axes, as windows overlap; so are those of a window in the gradient of
filters. A tile takes steps along all of them, some in registers and others by work-items. A model of the time
of a compute unit chooses among tiles.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import LoopBody, steps_of
from plugrad.codegen.opt.group_staging import bytes_of_copies
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.rebuild import ranges_of_reduce, stores_of
from plugrad.uop import UOp
from plugrad.uop.strides import coefficient, constant_size

# Work-items of a group; bytes of each one's results.
_IN_GROUP = 256
_BYTES_OF_RESULTS = 256
# Steps of a reduced axis that are copied at once: the first of these, or the most that divide it.
_STEPS = 16
_MOST_STEPS, _LEAST_STEPS = 24, 6
# Steps of a tile along its one axis of rows, rows of an item, and of one wide read.
_ROWS, _ROWS_OF_ITEM, _WIDE = (64, 32, 16), (8, 4), 4
# Neighbours in registers along an axis of columns.
_MOST_BESIDE = 8
# Times in multiplications of a warp, fitted to 32 tiles of five products on an H100. A read of a copy; the
# part of reads or products that the longer of both does not hide.
_READ, _BESIDE = 4, 1 / 4
# Cost of a read of one element, in wide reads: tiles with seven took 1.2 to 1.5 times as long as with two.
_SINGLE = 2
# An element that is copied, a sector of memory that is read for it, and the elements of one.
_COPY, _SECTOR, _IN_SECTOR = 8, 64, 8
# A barrier; what a group waits for memory while no other one computes.
_BARRIER, _WAIT = 200, 3000
# Schedulers of a unit, each with warps of its own.
_SCHEDULERS = 4
# Time of a multiplication whose factors are read from memory, against one whose factors are in registers. A
# convolution of every other place took 12, one of 7 x 7 maps 7.
_FROM_MEMORY = 7


@frozen
class Side:
    """An axis of a group's tile: `size` steps for `items`, with `beside` neighbours each."""

    axis: UOp
    size: int
    items: int
    beside: int

    @property
    def own(self) -> int:
        """Steps of one work-item."""
        return self.size // self.items


@frozen
class _Factor:
    """The copied part of a factor: sides along axes of the result, `steps` along `inner`."""

    sides: tuple[Side, ...]
    strides: Mapping[UOp, int]
    inner: UOp
    steps: int

    @property
    def results(self) -> int:
        """Steps along the axes of the result."""
        return math.prod(side.size for side in self.sides)

    @property
    def items(self) -> int:
        """Work-items along the axes of the result."""
        return math.prod(side.items for side in self.sides)

    @property
    def reads(self) -> float:
        """Reads of one work-item at a step."""
        is_wide = any(side.beside == _WIDE for side in self.sides)
        return self.results / self.items * (1 / _WIDE if is_wide else _SINGLE)

    @property
    def copying(self) -> float:
        """Time of copying all, in multiplications of a work-item; neighbours in memory share sectors."""
        sizes = [(side.axis, side.size) for side in self.sides] + [(self.inner, self.steps)]
        return self.results * self.steps * (_COPY + _sectors(self.strides, sizes))


@frozen
class WindowTile:
    """The tile of a group: copies of both factors, one reduced axis at a time."""

    rows: _Factor
    columns: _Factor
    out: Mapping[UOp, int]

    @property
    def inner(self) -> UOp:
        """The reduced axis of which some steps are copied at once."""
        return self.rows.inner

    @property
    def steps(self) -> int:
        """Steps that are copied at once."""
        return self.rows.steps

    @property
    def sides(self) -> tuple[Side, ...]:
        """Its axes of the result."""
        return (*self.rows.sides, *self.columns.sides)

    def time(self, units: int, results: int, steps: int) -> float:
        """Return the time of the busiest unit, in multiplications of a warp.

        Args:
            units: that compute groups at the same time.
            results: of the kernel.
            steps: of all reduced axes, for each result.
        """
        items, own = self.rows.items * self.columns.items, self.rows.results * self.columns.results
        groups = -(-results // own)
        of_unit = -(-groups // units)
        warps = -(-items // 32)
        busy = -(-of_unit * warps // _SCHEDULERS) * _SCHEDULERS
        products, reads = own // items, _READ * (self.rows.reads + self.columns.reads)
        each = self.steps * (max(products, reads) + _BESIDE * min(products, reads))
        each += (self.rows.copying + self.columns.copying) / items
        stored = own * _sectors(self.out, [(side.axis, side.size) for side in self.sides]) / items
        # while a group waits, others compute; only a group that is alone stands still
        copies = -(-steps // self.steps) * max(busy * each + of_unit * _BARRIER, warps * each + _WAIT)
        return copies + busy * stored


def window_tile(kernel: KernelOpt, main: LoopBody, axes: Sequence[UOp]) -> WindowTile | None:
    """Return the tile of least time; None where reading both factors from memory takes less.

    Args:
        kernel: of the product.
        main: its reduction.
        axes: of the result, the fastest first.
    """
    assert main.reduce is not None, "the caller looks at reductions"
    units, results = kernel.capabilities.compute_units, steps_of(axes)
    steps = steps_of(ranges_of_reduce(main.reduce))
    timed = [(tile.time(units, results, steps), n, tile) for n, tile in enumerate(_tiles(kernel, main, axes))]
    least, _, best = min(timed, default=(math.inf, 0, None))
    of_unit = -(-results // (32 * units)) * steps
    return best if least < _FROM_MEMORY * of_unit else None


def _tiles(kernel: KernelOpt, main: LoopBody, axes: Sequence[UOp]) -> Iterator[WindowTile]:
    """Yield tiles along the axes that one factor depends on and the other does not."""
    places = main.moving
    along: dict[tuple[bool, ...], list[UOp]] = {}
    for r in axes:
        moves = tuple(p.moves(r) for p in places)
        if not all(moves) and any(moves):
            along.setdefault(moves, []).append(r)
    if len(along) != 2 or any(tuple(not moved for moved in moves) not in along for moves in along):
        return
    order = [*axes, *ranges_of_reduce(main.reduce)] if main.reduce is not None else axes
    factors = [(_strides(places[moves.index(True)].index, order), of) for moves, of in along.items()]
    out = _strides(stores_of(kernel.ast)[0].src[0], axes)
    itemsize = max(p.index.dtype.itemsize for p in main.places)
    most = kernel.capabilities.local_memory_bytes // 2
    for inner, steps in _inner(kernel, main):
        for (of_rows, few), (of_columns, many) in (factors, factors[::-1]):
            for row in _rows(kernel, few):
                rows = _Factor((row,), of_rows, inner, steps)
                for sides in _columns(main, many, row):
                    columns = _Factor(sides, of_columns, inner, steps)
                    if bytes_of_copies(steps, (rows.results, columns.results), itemsize) <= most:
                        yield WindowTile(rows, columns, out)


def _sectors(strides: Mapping[UOp, int], sizes: Sequence[tuple[UOp, int]]) -> float:
    """Return the time to read an element's memory sectors, with axes of these sizes."""
    run = 1
    for step, size in sorted((strides[r], size) for r, size in sizes):
        run += (size - 1) * step if step <= run else 0
    return _SECTOR / min(run, _IN_SECTOR)


def _strides(place: UOp, axes: Sequence[UOp]) -> dict[UOp, int]:
    """Return the stride of each axis in elements; a varying one counts as very long."""
    return {r: abs(coefficient(place.src[1], r) or 1 << 30) for r in axes}


def _inner(kernel: KernelOpt, main: LoopBody) -> Iterator[tuple[UOp, int]]:
    """Yield the reduced axes that both factors depend on, with steps of a copy."""
    assert main.reduce is not None, "the caller looks at reductions"
    for r in ranges_of_reduce(main.reduce):
        size = constant_size(r) or 0
        if all(p.moves(r) for p in main.moving):
            whole = (n for n in range(_MOST_STEPS, _LEAST_STEPS - 1, -1) if size % n == 0)
            if steps := next((n for n in (_STEPS, *whole) if kernel.fits_axis(size, n)), 0):
                yield r, steps


def _rows(kernel: KernelOpt, axes: Sequence[UOp]) -> Iterator[Side]:
    for r in axes:
        for count in _ROWS:
            if kernel.fits_axis(constant_size(r) or 1, count):
                yield from (Side(r, count, count // own, _WIDE) for own in _ROWS_OF_ITEM)


def _columns(main: LoopBody, axes: Sequence[UOp], row: Side) -> Iterator[tuple[Side, ...]]:
    """Yield sides along all axes: registers along one, items along the fastest ones."""
    assert main.reduce is not None, "the caller looks at reductions"
    most = _BYTES_OF_RESULTS // main.reduce.dtype.itemsize // row.own
    for r in axes:
        size = constant_size(r) or 1
        for beside in (n for n in range(min(most, _MOST_BESIDE), 1, -1) if size % n == 0):
            yield from _spread(axes, {r: beside}, _IN_GROUP // row.items)
        for other in (s for s in axes if s is not r and (constant_size(s) or 1) % 2 == 0):
            if size % _WIDE == 0 and 2 * _WIDE <= most:
                yield from _spread(axes, {r: _WIDE, other: 2}, _IN_GROUP // row.items)


def _spread(axes: Sequence[UOp], registers: Mapping[UOp, int], most: int) -> Iterator[tuple[Side, ...]]:
    """Yield sides whose work-items take whole fast axes, and a part of the next."""
    whole: list[Side] = []
    for n, s in enumerate(axes):
        own = registers.get(s, 1)
        left = (constant_size(s) or 1) // own
        further = [Side(r, registers[r], 1, registers[r]) for r in axes[n + 1 :] if r in registers]
        for count in (c for c in range(min(left, most), 0, -1) if left % c == 0):
            yield (*whole, Side(s, own * count, count, own), *further)
        if left > most:
            return
        whole.append(Side(s, own * left, left, own))
        most //= left
