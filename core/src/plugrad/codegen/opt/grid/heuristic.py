"""Choose optimisations for targets that launch a grid of work-items.

Neighbouring work-items touch neighbouring elements; reductions that read much for each result are shared by a
group; tiles in registers where operands are reused; matrix instructions where there are some. Groups are as
many as keep all compute units busy, where there is so much work.
"""

from collections.abc import Iterator
from functools import partial

from plugrad.codegen.opt.analysis import LoopBody, MemoryAccess, steps_of
from plugrad.codegen.opt.grid.matrix import matrix_plan
from plugrad.codegen.opt.grid.reduce import (
    GROUPS_OF_A_UNIT,
    ITEMS_OF_A_UNIT,
    along,
    is_wide_along,
    shared_reduction,
    split,
)
from plugrad.codegen.opt.grid.rows import row_plan
from plugrad.codegen.opt.grid.tiles import shared_tile
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.tile import Tile
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

# Work-items of a group; smaller ones where that many would leave compute units without a group.
_IN_GROUP = (256, 128, 64)
# Items that stand idle or repeat work, for each that does not, for the sake of larger groups.
_UNUSED = 1.03
# Along an axis of a tile: groups that are as high as wide read less of both operands.
_ALONG_TILE = 16
# Steps from which a kernel has work for a tile in registers.
_TILE_FROM = 1 << 16
# Accumulators of a work-item: with operands and addresses they fill half of the registers it may have.
_ACCUMULATORS = 64
_REGISTERS_OF_AN_ACCUMULATOR = 2
# Against a load of one element: an element's share of a load that several neighbours come by.
_WIDE = 0.5
# What chooses all optimisations of kernels that it fits, in the order in which it is asked.
_PLANS = (row_plan, matrix_plan, shared_reduction, shared_tile)


def grid_opts(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield optimisations one by one; each is applied before the next is asked for."""
    can = kernel.capabilities
    if can.max_workgroup:
        for choose in _PLANS:
            if plan := choose(kernel):
                yield from plan
                return
    tile = _tile(kernel) if can.max_load_bits >= 128 else []
    for r, count in tile:
        yield from split(r.arg.ident, constant_size(r) or 1, count, OptOps.UPCAST)
    if can.max_workgroup:
        yield from _groups(kernel, _ALONG_TILE if len(tile) > 1 else max(_IN_GROUP))


def _tile(kernel: KernelOpt) -> list[tuple[UOp, int]]:
    """Return the output axes that have several steps in registers, with their numbers."""
    main = max(kernel.bodies, key=lambda b: b.steps)
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if (constant_size(r) or 1) > 1]
    if main.steps < _TILE_FROM or not axes:
        return []
    if main.reduce is None:
        return _lanes(kernel, main, axes)
    reused = [r for r in axes if r in main.loops and any(not p.moves(r) for p in main.moving)]
    most = min(_ACCUMULATORS, kernel.capabilities.thread_registers // _REGISTERS_OF_AN_ACCUMULATOR)
    tiles = [
        Tile(column, 1, count, ())
        for column in reused
        for count in (1, 2, 4, 8)
        if kernel.fits_axis(constant_size(column) or 1, count)
    ]
    for tile in list(tiles):
        rows = (r for r in reused if r is not tile.column)
        tiles += (
            tile.with_rows(row, count)
            for row in rows
            for count in (2, 4, 8)
            if tile.products * count <= most and kernel.fits_axis(constant_size(row) or 1, count)
        )
    best = min(tiles, key=partial(_cost, kernel, main, steps_of(axes)), default=None)
    if best is None:
        return []
    return [(r, count) for r, count in ((best.column, best.columns), *best.rows) if count > 1]


def _cost(kernel: KernelOpt, body: LoopBody, results: int, tile: Tile) -> float:
    """Return the loads for each product, times the units that have none to compute."""
    counts = dict(((tile.column, tile.columns), *tile.rows))

    def weight(place: MemoryAccess) -> float:
        is_wide = any(count % 4 == 0 and place.is_contiguous(r) for r, count in counts.items())
        return _WIDE if is_wide else 1

    loads = tile.loads(body, weight) / tile.products * tile.rest
    wanted = kernel.capabilities.compute_units * ITEMS_OF_A_UNIT
    return loads * max(1.0, wanted * tile.products / results)


def _lanes(kernel: KernelOpt, body: LoopBody, axes: list[UOp]) -> list[tuple[UOp, int]]:
    """Return the axis with most elements by wide loads and stores, and their number."""
    axes = [r for r in axes if kernel.can_write_out(r)]
    if not axes:
        return []
    r = max(axes, key=lambda r: along(body.places, r))
    wide = [p for p in body.places if p.is_contiguous(r)]
    if not wide:
        return []
    most = kernel.capabilities.max_load_bits // 8 // max(p.index.dtype.itemsize for p in wide)
    wanted = kernel.capabilities.compute_units * ITEMS_OF_A_UNIT
    fitting = (c for c in (8, 4, 2) if c <= most and c * wanted <= 2 * steps_of(axes))
    count = next((c for c in fitting if all(is_wide_along(p, r, c) for p in wide)), 1)
    return [(r, count)] if count > 1 else []


def _groups(kernel: KernelOpt, along_axis: int) -> Iterator[Opt]:
    can = kernel.capabilities
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]
    enough = steps_of(axes) // (GROUPS_OF_A_UNIT * can.compute_units)
    left = min(next((c for c in _IN_GROUP if c <= enough), min(_IN_GROUP)), can.max_workgroup)
    # elements side by side that one group updates take one access
    axes.sort(key=kernel.can_write_out)
    can_repeat = kernel.can_repeat()
    for r in reversed(axes):
        size, most = constant_size(r) or 1, min(left, along_axis)
        counts = [c for c in (256, 128, 64, 32, 16, 8, 4, 2) if c <= most and (size % c == 0 or can_repeat)]
        # items that a group lacks stand idle, which costs as much as work that is done twice
        idle = min(most, can.warp_size)
        work = {c: -(-size // c) * max(c, idle) for c in counts}
        least = min(work.values(), default=0)
        count = size if size <= most else next((c for c in counts if work[c] <= _UNUSED * least), 1)
        if count > 1:
            yield from split(r.arg.ident, size, count, OptOps.LOCAL)
            left //= count
