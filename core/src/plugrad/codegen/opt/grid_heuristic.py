"""Choose optimisations for targets that launch a grid of work-items.

Neighbouring work-items touch neighbouring elements; long reductions with few results are shared by a group;
tiles in registers where operands are reused; matrix instructions where there are some.
"""

import math
from collections.abc import Iterator

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import bodies_of, divisors
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, MatrixTile, Opt, OptOps
from plugrad.codegen.opt.tensor_core import products_of
from plugrad.codegen.strides import constant_size
from plugrad.target import TensorCore
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

# Below this many results a grid has idle cores, and a reduction is worth sharing.
_FEW_RESULTS = 4096
_LONG_REDUCTION = 256
# Work-items of one group along one axis, and in all; a vendor's minimum for full use is 32 or 64.
_ALONG_AXIS = 64
_IN_GROUP = 256
_FULL = 32
# Work that may be done twice to have tiles of a round size.
_REPEATED = 1.125
# Tiles of a matrix instruction that one warp computes side by side along each axis, and warps of one group.
_TILES_OF_A_WARP = (4, 2, 1)
_WARPS_ALONG_AXIS = 2
# Warps below which a GPU has idle cores; with more, each takes more tiles and reads operands less often.
_MANY_WARPS = 512


def grid_opts(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield optimisations one by one; each is applied before the next is asked for."""
    can = kernel.capabilities
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]
    reduced = [r for r in kernel.axes(AxisType.REDUCE) if constant_size(r)]
    results = math.prod(constant_size(r) or 1 for r in axes)
    longest = max(reduced, key=lambda r: constant_size(r) or 1, default=None)
    if can.max_workgroup >= _FULL and longest is not None and results < _FEW_RESULTS:
        size = constant_size(longest) or 1
        if size >= _LONG_REDUCTION:
            yield from _share(longest.arg.ident, size, min(_IN_GROUP, can.max_workgroup))
            return
    if can.max_workgroup and (plan := _matrix_plan(kernel)):
        yield from plan
        return
    if can.max_load_bits >= 128:
        yield from _tile(kernel, axes)
    if can.max_workgroup:
        yield from _groups(kernel)


def _share(ident: AxisId, size: int, most: int) -> Iterator[Opt]:
    """Share a reduction among a group; a remainder is gated."""
    parts = [p for p in (256, 128, 64, 32) if p <= most]
    exact = divisors(size, parts)
    if not exact:
        yield Opt(OptOps.PADTO, ident, parts[0])
    yield Opt(OptOps.GROUP, ident, (exact or parts)[0])


def _tile(kernel: KernelOpt, axes: list[UOp]) -> Iterator[Opt]:
    bodies = bodies_of(kernel.ast)
    main = max(bodies, key=lambda b: b.steps)
    if main.steps < 1 << 16:
        return
    for r in axes:
        reused = main.reduce is not None and any(not p.moves(r) for p in main.places)
        wide = any(p.is_contiguous(r) for p in main.places)
        if reused or (main.reduce is None and wide):
            size = constant_size(r) or 1
            count = next((c for c in (4, 2) if _suits(kernel, size, c)), 1)
            if count > 1:
                yield from _split(r.arg.ident, size, count, OptOps.UPCAST)


def _groups(kernel: KernelOpt) -> Iterator[Opt]:
    left = min(_IN_GROUP, kernel.capabilities.max_workgroup)
    can_repeat = kernel.can_repeat()
    for r in reversed([r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]):
        size, most = constant_size(r) or 1, min(left, _ALONG_AXIS)
        counts = [c for c in (64, 32, 16, 8, 4, 2) if c <= most and (size % c == 0 or can_repeat)]
        # items that a group lacks stand idle, which costs as much as work that is done twice
        idle = min(most, _FULL)
        count = size if size <= most else min(counts, key=lambda c: -(-size // c) * max(c, idle), default=1)
        if count > 1:
            yield from _split(r.arg.ident, size, count, OptOps.LOCAL)
            left //= count


def _matrix_plan(kernel: KernelOpt) -> list[Opt]:
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
            if plan := _matrix_tile_opts(kernel, core, columns, rows, inner):
                return plan
    return []


def _matrix_tile_opts(kernel: KernelOpt, core: TensorCore, columns: UOp, rows: UOp, inner: UOp) -> list[Opt]:
    width, height, depth = core.dims
    depth_steps = constant_size(inner) or 0
    padded = -(-depth_steps // depth) * depth
    if padded > _REPEATED * depth_steps:
        return []
    axes = kernel.axes(AxisType.GLOBAL)
    warps = math.prod(constant_size(r) or 1 for r in axes if r not in (columns, rows))
    warps *= math.prod(-(-(constant_size(r) or 0) // size) for r, size in ((columns, width), (rows, height)))
    plans: list[_AlongAxis] = []
    for r, size in ((rows, height), (columns, width)):
        steps = constant_size(r) or 0
        wanted = (c for c in _TILES_OF_A_WARP if c == 1 or warps // c >= _MANY_WARPS)
        count = next((c for c in wanted if _suits(kernel, steps, size * c)), 0)
        if not count:
            return []
        warps //= count
        plans.append(_AlongAxis(r.arg.ident, steps, size, count))
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
class _AlongAxis:
    """Matrix instructions along an output axis: `count` tiles of `size` steps in each warp."""

    ident: AxisId
    steps: int
    size: int
    count: int

    @property
    def is_exact(self) -> bool:
        return self.steps % (self.size * self.count) == 0

    @property
    def tiled(self) -> AxisId:
        """The axis that the instruction splits."""
        return self.ident if self.is_exact else (*self.ident, 1)

    def shifted(self) -> list[Opt]:
        return [] if self.is_exact else [Opt(OptOps.SHIFTIN, self.ident, self.size * self.count)]

    def spread(self) -> list[Opt]:
        """Return the options that assign tiles to warps and warps to groups."""
        tiles = (*self.tiled, 0)
        out = [Opt(OptOps.UPCAST, tiles, self.count)] if self.count > 1 else []
        left = -(-self.steps // (self.size * self.count))
        if left > 1 and left % _WARPS_ALONG_AXIS == 0:
            inner = (*tiles, 0) if self.count > 1 else tiles
            out.append(Opt(OptOps.LOCAL, inner if self.is_exact else (*self.ident, 0), _WARPS_ALONG_AXIS))
        return out


def _suits(kernel: KernelOpt, size: int, count: int) -> bool:
    """Say whether tiles of `count` cover an axis with little repeated work."""
    if size % count == 0:
        return True
    return count < size and -(-size // count) * count <= _REPEATED * size and kernel.can_repeat()


def _split(ident: AxisId, size: int, count: int, op: OptOps) -> Iterator[Opt]:
    if size % count:
        yield Opt(OptOps.SHIFTIN, ident, count)
        ident = (*ident, 1)
    yield Opt(op, ident, count)
