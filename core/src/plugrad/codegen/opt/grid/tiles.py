"""Choose tiles of products that a group computes from copies in its shared memory.

A group reads each element of its tile of a factor once, and its work-items read the copies: the larger the
tile, the less of memory is read. Tiles are as large as the results allow, with a group for every unit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import LoopBody, steps_of
from plugrad.codegen.opt.grid.windows import Side, window_tile
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, Opt, OptOps
from plugrad.codegen.rebuild import ranges_of_reduce, stores_of
from plugrad.errors import KernelOptError
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Neighbours along each output axis that a work-item computes: one wide access.
_BESIDE = 4
# Steps of all reduced axes from which barriers and copies pay.
_LEAST_STEPS = 64


@frozen
class GroupShape:
    """The results that a group computes together.

    Attributes:
        rows: along the axis of the rows.
        columns: along the axis of the columns.
        items: work-items, or warps, along both axes.
        rate: products in a unit of time, against the largest shape.
        ahead: copies that are begun while an earlier one is read.
    """

    rows: int
    columns: int
    items: tuple[int, int]
    rate: float
    ahead: int = 0

    def groups(self, rows: int, columns: int) -> int:
        """Return the groups that cover so many rows and columns."""
        return -(-rows // self.rows) * -(-columns // self.columns)


# Rates of float32 on an H100, 4096 and 1024 of each axis.
_SHAPES = (
    GroupShape(128, 128, (16, 16), 1.0),
    GroupShape(64, 128, (8, 16), 0.98),
    GroupShape(64, 64, (8, 16), 0.85),
)
_STEPS = 16
#: Copies that a group begins ahead where nothing else covers its waiting.
AHEAD = 2
# Groups for each unit from which it pays to give a unit to a group alone.
_LEAST_AHEAD = 0.75


def best_shape(
    kernel: KernelOpt, shapes: Sequence[GroupShape], columns: UOp, rows: UOp, inner: UOp, others: int
) -> GroupShape | None:
    """Return the shape whose busiest unit takes least time, none if some units have nothing.

    Args:
        kernel: whose capabilities say how many units there are.
        shapes: to choose from.
        columns: the axis of the columns.
        rows: the axis of the rows.
        inner: the reduced axis.
        others: results along all other axes.
    """
    can, sizes = kernel.capabilities, (steps_of([rows]), steps_of([columns]))

    def groups(shape: GroupShape) -> int:
        return shape.groups(*sizes) * others

    def time(shape: GroupShape) -> float:
        return -(-groups(shape) // can.compute_units) * shape.rows * shape.columns / shape.rate

    fitting: list[GroupShape] = []
    for shape in shapes:
        is_alone = groups(shape) <= can.compute_units
        ahead = AHEAD if is_alone and may_begin_ahead(kernel, shape, columns, rows, inner) else 0
        fits = kernel.fits_axis(sizes[0], shape.rows) and kernel.fits_axis(sizes[1], shape.columns)
        if fits and groups(shape) >= can.compute_units * (_LEAST_AHEAD if ahead else 1):
            fitting.append(replace(shape, ahead=ahead))
    return min(fitting, key=time, default=None)


def may_begin_ahead(kernel: KernelOpt, shape: GroupShape, columns: UOp, rows: UOp, inner: UOp) -> bool:
    """Say whether copies may go on beside products: not narrow ones, of ragged rows."""
    sizes = ((rows, shape.rows), (columns, shape.columns), (inner, _STEPS))
    return bool(kernel.capabilities.async_copy_bytes) and not any(steps_of([r]) % size for r, size in sizes)


def may_share(kernel: KernelOpt) -> bool:
    """Say whether this kernel's groups may share memory, and its size is known."""
    can = kernel.capabilities
    # elsewhere shared memory may be no faster than what it copies
    return bool(can.max_workgroup and can.unit_memory_bytes) and kernel.can_repeat()


def applies(kernel: KernelOpt, opts: Sequence[Opt]) -> bool:
    """Say whether a kernel takes a list of optimisations."""
    try:
        KernelOpt(kernel.ast, kernel.capabilities).apply_all(opts)
    except KernelOptError:
        return False
    return True


def tile_opts(r: UOp, count: int) -> tuple[list[Opt], AxisId]:
    """Return the split of an output axis into tiles, and the axis inside of one."""
    ident = r.arg.ident
    if constant_size(r) == count:
        return [], ident
    return [Opt(OptOps.SHIFTIN, ident, count)], (*ident, 1)


def share_opts(inner: UOp, tile: GroupTile) -> list[Opt]:
    """Return the options that copy factors, some steps of a reduced axis at a time."""
    ident, is_whole = inner.arg.ident, (constant_size(inner) or 0) % tile.steps == 0
    return [*([] if is_whole else [Opt(OptOps.PADTO, ident, tile.steps)]), Opt(OptOps.SHARE, ident, tile)]


def shared_tile(kernel: KernelOpt) -> list[Opt]:
    """Return the plan of a product whose groups share copies, none if unfit."""
    if not may_share(kernel) or len(stores_of(kernel.ast)) != 1:
        return []
    main = max(kernel.bodies, key=lambda b: b.steps)
    if main.reduce is None or main.reduce.arg != (Ops.ADD, 1):
        return []
    if steps_of(ranges_of_reduce(main.reduce)) < _LEAST_STEPS:
        return []
    axes = [r for r in reversed(stores_of(kernel.ast)[0].src[2:]) if r in kernel.axes(AxisType.GLOBAL)]
    places = main.moving
    of_one_factor = [r for r in axes if len({p.moves(r) for p in places}) > 1]
    choices = (_matrix, _window) if len(of_one_factor) == 2 else (_window, _matrix)
    for choose in choices:
        if (plan := choose(kernel, main, axes)) and applies(kernel, plan):
            return plan
    return []


def _window(kernel: KernelOpt, main: LoopBody, axes: Sequence[UOp]) -> list[Opt]:
    """Return the plan of a tile along all axes of both factors."""
    tile = window_tile(kernel, main, axes)
    return _plan(tile.inner, tile.sides, tile.steps) if tile else []


def _matrix(kernel: KernelOpt, main: LoopBody, axes: Sequence[UOp]) -> list[Opt]:
    """Return the plan of large tiles along two axes, none for few results."""
    assert main.reduce is not None, "the caller looks at reductions"
    of_all = (r for r in ranges_of_reduce(main.reduce) if all(p.moves(r) for p in main.moving))
    inner = max(of_all, key=lambda r: constant_size(r) or 0, default=None)
    if inner is None or not kernel.fits_axis(constant_size(inner) or 0, _STEPS):
        return []
    for columns, rows in _pairs(main, axes):
        others = steps_of(r for r in axes if r not in (columns, rows))
        if shape := best_shape(kernel, _SHAPES, columns, rows, inner, others):
            sizes = zip((rows, columns), (shape.rows, shape.columns), shape.items, strict=True)
            sides = [Side(r, size, items, _BESIDE) for r, size, items in sizes]
            plan, without = (_plan(inner, sides, _STEPS, ahead) for ahead in (shape.ahead, 0))
            return plan if applies(kernel, plan) else without
    return []


def _pairs(main: LoopBody, axes: Sequence[UOp]) -> Iterator[tuple[UOp, UOp]]:
    """Yield two output axes of which each factor moves along one, the faster one first."""
    places = main.moving
    for n, columns in enumerate(axes):
        for rows in axes[n + 1 :]:
            along = [(p.moves(columns), p.moves(rows)) for p in places]
            if set(along) == {(True, False), (False, True)}:
                yield columns, rows


def _plan(inner: UOp, sides: Sequence[Side], steps: int, ahead: int = 0) -> list[Opt]:
    tiles = [tile_opts(side.axis, side.size) for side in sides]
    out = [opt for opts, _ in tiles for opt in opts]
    out += share_opts(inner, GroupTile(steps, tuple(ident for _, ident in tiles), ahead=ahead))
    for side, (_, ident) in zip(sides, tiles, strict=True):
        left = side.size // side.beside
        if side.beside > 1:
            out.append(Opt(OptOps.UPCAST, ident, side.beside))
            ident = (*ident, 0) if left > 1 else ident
        if side.items > 1:
            out.append(Opt(OptOps.LOCAL, ident, side.items))
            ident = (*ident, 0)
        if left > side.items:
            out.append(Opt(OptOps.UPCAST, ident, left // side.items))
    return [*out, Opt(OptOps.UNROLL, (*inner.arg.ident, 1), steps)]
