"""Choose optimisations for targets that launch a grid of work-items.

Neighbouring work-items touch neighbouring elements; long reductions with few results are shared by a group;
tiles in registers where operands are reused.
"""

import math
from collections.abc import Iterator

from plugrad.codegen.opt.analysis import bodies_of, divisors
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.strides import constant_size
from plugrad.uop.ops import AxisType
from plugrad.uop.uop import UOp

# Below this many results a grid has idle cores, and a reduction is worth sharing.
_FEW_RESULTS = 4096
_LONG_REDUCTION = 256


def grid_opts(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield optimisations one by one; each is applied before the next is asked for."""
    can = kernel.capabilities
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]
    reduced = [r for r in kernel.axes(AxisType.REDUCE) if constant_size(r)]
    results = math.prod(constant_size(r) or 1 for r in axes)
    if can.max_workgroup and reduced and results < _FEW_RESULTS:
        longest = max(reduced, key=lambda r: constant_size(r) or 1)
        parts = divisors(constant_size(longest) or 1, (256, 128, 64, 32, 16))
        parts = [p for p in parts if p <= can.max_workgroup]
        if parts and (constant_size(longest) or 1) >= _LONG_REDUCTION:
            yield Opt(OptOps.GROUP, longest.arg.ident, parts[0])
            return
    if can.max_load_bits >= 128:
        yield from _tile(kernel, axes)
    if can.max_workgroup:
        yield from _groups(kernel)


def _tile(kernel: KernelOpt, axes: list[UOp]) -> Iterator[Opt]:
    bodies = bodies_of(kernel.ast)
    main = max(bodies, key=lambda b: b.steps)
    for r in axes:
        reused = main.reduce is not None and any(not p.moves(r) for p in main.places)
        wide = any(p.is_contiguous(r) for p in main.places)
        count = divisors(constant_size(r) or 1, (4, 2))
        if count and (reused or (main.reduce is None and wide)) and main.steps >= 1 << 16:
            yield Opt(OptOps.UPCAST, r.arg.ident, count[0])


def _groups(kernel: KernelOpt) -> Iterator[Opt]:
    taken = 1
    limit = min(256, kernel.capabilities.max_workgroup)
    for r in reversed([r for r in kernel.axes(AxisType.GLOBAL) if constant_size(r)]):
        fits = [d for d in divisors(constant_size(r) or 1, (64, 32, 16, 8, 4, 2)) if d * taken <= limit]
        if fits:
            yield Opt(OptOps.LOCAL, r.arg.ident, fits[0])
            taken *= fits[0]
