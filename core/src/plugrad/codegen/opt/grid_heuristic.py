"""Choose optimisations for targets that launch a grid of work-items.

Neighbouring work-items touch neighbouring elements; long reductions with few results are shared by a group;
tiles in registers where operands are reused.
"""

import math
from collections.abc import Iterator

from plugrad.codegen.opt.analysis import bodies_of, divisors
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.strides import constant_size
from plugrad.uop.ops import AxisType
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
    if can.max_load_bits >= 128:
        yield from _tile(kernel, axes)
    if can.max_workgroup:
        yield from _groups(kernel)


def _share(ident: AxisId, size: int, most: int) -> Iterator[Opt]:
    """Share a reduction among a group; where no size divides it, the last steps of some items are gated."""
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
    for r in reversed([r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]):
        size, most = constant_size(r) or 1, min(left, _ALONG_AXIS)
        counts = [c for c in (64, 32, 16, 8, 4, 2) if c <= most and (size % c == 0 or kernel.can_repeat())]
        # items that a group lacks stand idle, which costs as much as work that is done twice
        idle = min(most, _FULL)
        count = size if size <= most else min(counts, key=lambda c: -(-size // c) * max(c, idle), default=1)
        if count > 1:
            yield from _split(r.arg.ident, size, count, OptOps.LOCAL)
            left //= count


def _suits(kernel: KernelOpt, size: int, count: int) -> bool:
    """Say whether tiles of `count` cover an axis, exactly or with little that is done twice."""
    if size % count == 0:
        return True
    return count < size and -(-size // count) * count <= _REPEATED * size and kernel.can_repeat()


def _split(ident: AxisId, size: int, count: int, op: OptOps) -> Iterator[Opt]:
    if size % count:
        yield Opt(OptOps.SHIFTIN, ident, count)
        ident = (*ident, 1)
    yield Opt(op, ident, count)
