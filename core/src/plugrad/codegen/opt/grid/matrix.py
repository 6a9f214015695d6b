"""Choose matrix instructions for a grid, and the tiles that a warp computes.

A warp with more tiles reads each operand less often; with too many, there are not enough warps.
"""

import math
from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.codegen.opt.grid.reduce import GROUPS_OF_A_UNIT
from plugrad.codegen.opt.grid.tiles import (
    AHEAD,
    GroupShape,
    applies,
    best_shape,
    may_begin_ahead,
    may_share,
    share_opts,
    tile_opts,
)
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, MatrixTile, Opt, OptOps
from plugrad.codegen.opt.tensor_core import products_of
from plugrad.target import REPEATED, TensorCore
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Tiles of a matrix instruction that one warp computes side by side along each axis, and warps of one group.
_TILES_OF_A_WARP = (4, 2, 1)
_WARPS_ALONG_AXIS = 2
# Warps for each compute unit below which a GPU has idle cores; with more, each takes more tiles.
_WARPS_OF_A_UNIT = 4
# Results of a group that shares copies, and its warps; bytes of copied rows, the best first; steps from which
# that pays; and copies that the memory of a unit has room for: two halves for each of two groups.
_SHAPES = (
    GroupShape(128, 128, (2, 2), 1.0),
    GroupShape(128, 64, (2, 2), 0.8),
    GroupShape(64, 64, (2, 2), 0.6),
)
_ROW_BYTES = (128, 64)
_LEAST_STEPS = 64
_COPIES_OF_A_UNIT = 4
# Results of a group of which a unit's registers hold two: these wait for copies unless some are begun ahead.
_LARGEST_RESULTS = 128 * 128


def matrix_plan(kernel: KernelOpt) -> list[Opt]:
    """Return the plan of a matrix product by matrix instructions, none if unfit."""
    cores = kernel.capabilities.tensor_cores
    # most kernels have no sum, and each kind of instruction would walk all of their graphs to find none
    if not cores or not any(u.op is Ops.REDUCE for u in kernel.ast.toposort()):
        return []
    for core in cores:
        for product in products_of(kernel.ast, core):
            columns, rows, inner = (
                next((r for r in axes if (constant_size(r) or 0) >= size), None)
                for axes, size in zip((product.columns, product.rows, product.inner), core.dims, strict=True)
            )
            if columns is None or rows is None or inner is None:
                continue
            if plan := _shared_opts(kernel, core, columns, rows, inner):
                return plan
            if plan := _matrix_tile_opts(kernel, core, columns, rows, inner):
                return plan
    return []


def _shared_opts(kernel: KernelOpt, core: TensorCore, columns: UOp, rows: UOp, inner: UOp) -> list[Opt]:
    """Return the plan whose warps read copies that their group shares, none if unfit."""
    size = constant_size(inner) or 0
    if not may_share(kernel) or size < _LEAST_STEPS:
        return []
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if r not in (columns, rows)]
    shape = best_shape(kernel, _SHAPES, columns, rows, inner, math.prod(constant_size(r) or 1 for r in axes))
    if shape is None:
        return []
    for nbytes in _ROW_BYTES:
        steps = max(core.dims[2], nbytes // core.dtype_in.itemsize)
        copied = nbytes * (shape.rows + shape.columns)
        if (
            steps < size  # of a single step all fragments would be loaded first, into too many registers
            and -(-size // steps) * steps <= REPEATED * size
            and copied * _COPIES_OF_A_UNIT <= (memory := kernel.capabilities.unit_memory_bytes)
        ):
            is_large = shape.rows * shape.columns >= _LARGEST_RESULTS and size > (AHEAD + 1) * steps
            fits = is_large and copied * (AHEAD + 1) * GROUPS_OF_A_UNIT <= memory
            ahead = AHEAD if fits and may_begin_ahead(kernel, shape, columns, rows, inner) else shape.ahead
            plan = _shared_plan(core, replace(shape, ahead=ahead), columns, rows, inner, steps)
            if applies(kernel, plan):
                return plan
    return []


def _shared_plan(
    core: TensorCore, shape: GroupShape, columns: UOp, rows: UOp, inner: UOp, steps: int
) -> list[Opt]:
    width, height, depth = core.dims
    of_rows, row = tile_opts(rows, shape.rows)
    of_columns, column = tile_opts(columns, shape.columns)
    within = (*inner.arg.ident, 1)
    plan = [
        *of_rows,
        *of_columns,
        *share_opts(inner, GroupTile(steps, (row, column), in_memory_order=True, ahead=shape.ahead)),
        Opt(OptOps.TC, column, MatrixTile(core.name, row, within)),
    ]
    along = ((row, shape.rows // height, shape.items[0]), (column, shape.columns // width, shape.items[1]))
    for ident, tiles, warps in along:
        beside = tiles // warps
        plan += [Opt(OptOps.UPCAST, (*ident, 0), beside)] if beside > 1 else []
        if warps > 1:
            plan.append(Opt(OptOps.LOCAL, (*ident, 0, 0) if beside > 1 else (*ident, 0), warps))
    return [*plan, *([Opt(OptOps.UNROLL, (*within, 0), steps // depth)] if steps > depth else [])]


def _matrix_tile_opts(kernel: KernelOpt, core: TensorCore, columns: UOp, rows: UOp, inner: UOp) -> list[Opt]:
    width, height, depth = core.dims
    depth_steps = constant_size(inner) or 0
    padded = -(-depth_steps // depth) * depth
    if padded > REPEATED * depth_steps:
        return []
    axes = kernel.axes(AxisType.GLOBAL)
    warps = math.prod(constant_size(r) or 1 for r in axes if r not in (columns, rows))
    warps *= math.prod(-(-(constant_size(r) or 0) // size) for r, size in ((columns, width), (rows, height)))
    many = _WARPS_OF_A_UNIT * kernel.capabilities.compute_units
    plans: list[AlongAxis] = []
    for r, size in ((rows, height), (columns, width)):
        steps = constant_size(r) or 0
        wanted = (c for c in _TILES_OF_A_WARP if c == 1 or warps // c >= many)
        count = next((c for c in wanted if kernel.fits_axis(steps, size * c)), 0)
        if not count:
            return []
        warps //= count
        plans.append(AlongAxis(r.arg.ident, steps, size, count))
    of_rows, of_columns = plans
    tile = MatrixTile(core.name, rows=of_rows.tiled, inner=inner.arg.ident)
    return [
        *([] if padded == depth_steps else [Opt(OptOps.PADTO, inner.arg.ident, depth)]),
        *of_rows.shifted(),
        *of_columns.shifted(),
        Opt(OptOps.TC, of_columns.tiled, tile),
        *of_rows.spread(),
        *of_columns.spread(),
    ]


@frozen
class AlongAxis:
    """Matrix instructions along an output axis: `count` tiles of `size` steps in each warp."""

    ident: AxisId
    steps: int
    size: int
    count: int

    @property
    def is_exact(self) -> bool:
        """Whether the tiles end with the axis."""
        return self.steps % (self.size * self.count) == 0

    @property
    def tiled(self) -> AxisId:
        """The axis that the instruction splits."""
        return self.ident if self.is_exact else (*self.ident, 1)

    def shifted(self) -> list[Opt]:
        """Return the option by which the last tiles begin before the others end."""
        return [] if self.is_exact else [Opt(OptOps.SHIFTIN, self.ident, self.size * self.count)]

    def upcast(self) -> list[Opt]:
        """Return the option by which one warp computes its tiles side by side."""
        return [Opt(OptOps.UPCAST, (*self.tiled, 0), self.count)] if self.count > 1 else []

    def spread(self) -> list[Opt]:
        """Return the options that assign tiles to warps and warps to groups."""
        tiles, out = (*self.tiled, 0), self.upcast()
        left = -(-self.steps // (self.size * self.count))
        if left > 1 and left % _WARPS_ALONG_AXIS == 0:
            inner = (*tiles, 0) if self.count > 1 else tiles
            out.append(Opt(OptOps.LOCAL, inner if self.is_exact else (*self.ident, 0), _WARPS_ALONG_AXIS))
        return out
