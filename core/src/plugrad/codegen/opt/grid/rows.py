"""Give rows to groups: all reductions of a row, and what is computed from them.

Each work-item takes the same elements in every loop along a row. Few are written out: then they are loaded
once, and what several loops compute of them is computed once and stays in registers.
"""

from collections.abc import Iterator

from plugrad.codegen.opt.analysis import MemoryAccess, steps_of
from plugrad.codegen.opt.grid.reduce import (
    GROUPS_OF_A_UNIT,
    bytes_of_parts,
    is_wide_along,
    split,
    steps_along,
)
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.rebuild import ranges_of_reduce
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Elements of a row that a work-item takes where a larger group could take more.
_ELEMENTS = 16
# Elements that are written out, and stay in registers.
_IN_REGISTERS = 32
# Work-items of a row, and of a group of several rows.
_IN_ROW = (1, 8, 16, 32, 64, 128, 256, 512, 1024)
_IN_GROUP = 256


def row_plan(kernel: KernelOpt) -> list[Opt]:
    """Return options that give rows to groups, none where results lie across the rows."""
    reduces = [u for u in kernel.ast.toposort() if u.op is Ops.REDUCE]
    loops = kernel.axes(AxisType.LOOP)
    is_chain = any(s.op is Ops.REDUCE for u in reduces for s in UOp.sink(*u.src).toposort())
    around = {r.arg.kind for u in reduces for r in u.ranges}
    if not reduces or not (loops or is_chain) or not around <= {AxisType.GLOBAL}:
        return []
    axes = list(dict.fromkeys([ranges_of_reduce(u)[-1] for u in reduces] + loops[-1:]))
    if not all(map(constant_size, axes)) or not {*loops[-1:]} <= {*kernel.ended_by_all_stores()}:
        return []
    places = [place for body in kernel.bodies for place in body.places]
    lanes = next((c for c in (4, 2) if all(_is_wide(kernel, places, r, c) for r in axes)), 1)
    steps = max(map(steps_along, axes)) // lanes
    can = kernel.capabilities
    most = min(can.max_workgroup, can.local_memory_bytes // bytes_of_parts(kernel))
    fitting = [c for c in _IN_ROW if c <= most]
    if not fitting:
        return []
    items = next((c for c in fitting if -(-steps // c) * lanes <= _ELEMENTS), fitting[-1])
    out: list[Opt] = []
    group: AxisId | None = None
    for r in axes:
        own, group = _along(r, lanes, items, group)
        out += own
    if not loops and (blocks := _blocks_of_rows(reduces, min(_IN_GROUP, most) // items)):
        return [*out, *blocks]
    return [*out, *_rows_beside(kernel, items, most)]


def _blocks_of_rows(reduces: list[UOp], most: int) -> list[Opt]:
    """Return the options that give further work-items steps along a batch of rows."""
    axes = list(dict.fromkeys(r for u in reduces for r in ranges_of_reduce(u)[-2:-1]))
    sizes = {constant_size(r) or 1 for r in axes}
    count = next((c for c in (16, 8, 4, 2) if c <= most and len(sizes) == 1 and min(sizes) % c == 0), 1)
    if count < 2 or any(len(ranges_of_reduce(u)) < 2 for u in reduces):
        return []
    first, *others = axes
    items = (*first.arg.ident, 1) if count < min(sizes) else first.arg.ident
    joined = [Opt(OptOps.JOIN, r.arg.ident, items) for r in others]
    return [Opt(OptOps.GROUP, first.arg.ident, count), *joined]


def _is_wide(kernel: KernelOpt, places: list[MemoryAccess], r: UOp, count: int) -> bool:
    """Say whether `count` neighbours along a row are one access, in reads and writes."""
    read = [p for p in places if p.moves(r)]
    widest = max((p.index.dtype.itemsize for p in read), default=1)
    most = kernel.capabilities.max_load_bits // 8 // widest
    return count <= most and steps_along(r) % count == 0 and all(is_wide_along(p, r, count) for p in read)


def _along(r: UOp, lanes: int, items: int, group: AxisId | None) -> tuple[list[Opt], AxisId | None]:
    """Return the options of one loop along a row, and the axis of its work-items."""
    if items > 1 and lanes == steps_along(r):
        lanes = 1  # the items need steps to share
    ident, steps = r.arg.ident, steps_along(r) // lanes
    out = [Opt(OptOps.UPCAST, ident, lanes)] if lanes > 1 else []
    ident = (*ident, 0) if 1 < lanes < steps_along(r) else ident
    if items > 1:
        if steps % items:
            out.append(Opt(OptOps.PADTO, ident, items))
        out.append(Opt(OptOps.GROUP, ident, items) if group is None else Opt(OptOps.JOIN, ident, group))
        steps = -(-steps // items)
        group = group or ((*ident, 1) if steps > 1 else ident)
        ident = (*ident, 0)
    if 1 < steps <= _IN_REGISTERS // lanes:
        written_out = OptOps.UNROLL if r.arg.kind is AxisType.REDUCE else OptOps.UPCAST
        out.append(Opt(written_out, ident, steps))
    return out, group


def _rows_beside(kernel: KernelOpt, items: int, most: int) -> Iterator[Opt]:
    """Yield what gives a group several short rows."""
    rows = [r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]
    if not rows:
        return
    last, can = rows[-1], kernel.capabilities
    size, can_repeat = steps_along(last), kernel.can_repeat()
    for count in (c for c in (256, 128, 64, 32, 16, 8, 4, 2) if c <= size and (size % c == 0 or can_repeat)):
        groups = steps_of(rows) // count
        is_spread = items * count <= can.warp_size or groups >= GROUPS_OF_A_UNIT * can.compute_units
        if is_spread and items * count <= min(_IN_GROUP, most):
            yield from split(last.arg.ident, size, count, OptOps.LOCAL)
            return
