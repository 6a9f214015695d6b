"""Share the loops of a kernel among cores."""

from plugrad.codegen.opt.analysis import are_worth_threads, divisors, steps_of, work_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.uop import AxisType, Ops
from plugrad.uop.strides import constant_size

# Pieces for each core where they are that much work: a core that comes late, or is taken away, does fewer.
_PIECES_PER_CORE = 8
_PIECE_FROM = 1 << 18
# Steps for each core from which repeating some of them for equal shares is cheap.
_STEPS_TO_SHARE = 4
# The part of all steps that a reduction may have for each thread to repeat it.
_REPEATED = 1 / 256


def add_threads(kernel: KernelOpt) -> None:
    """Split the best balanced axis among the cores, where several have work."""
    cores = kernel.capabilities.threads
    bodies = kernel.bodies
    work = work_of(bodies)
    if not are_worth_threads(work, cores):
        return
    wanted = cores * max(1, min(_PIECES_PER_CORE, work // (cores * _PIECE_FROM)))
    # the biggest axis balances best; reductions and copies must be inside, or every thread would repeat them
    copies = [u.ranges for u in kernel.ast.toposort() if u.op is Ops.BARRIER]
    few = _REPEATED * max((b.steps for b in bodies), default=0) / cores
    inside = [b.loops for b in bodies if b.reduce is not None and b.steps > few] + copies
    shared = kernel.ended_by_all_stores()
    axes = [r for r in kernel.axes(AxisType.LOOP) if r in shared and all(r in loops for loops in inside)]
    options = [
        (pieces % cores == 0, -abs(pieces - wanted), steps_of([r]), pieces, r)
        for r in axes
        for pieces in divisors(constant_size(r) or 1, range(2, 8 * cores + 1))
    ]
    even = max(options, key=lambda o: o[:3], default=None)
    if even is not None and even[0]:
        kernel.apply(Opt(OptOps.THREAD, even[4].arg.ident, even[3]))
        return
    # as many tiles as cores, or fewer of whole steps; the last one repeats a few of the one before
    longest = max(axes, key=lambda r: constant_size(r) or 1, default=None)
    size = (constant_size(longest) or 1) if longest is not None else 1
    if longest is not None and size >= _STEPS_TO_SHARE * cores and kernel.can_repeat() and not copies:
        share = -(-size // cores)
        kernel.apply(Opt(OptOps.SHIFTIN, longest.arg.ident, share))
        kernel.apply(Opt(OptOps.THREAD, (*longest.arg.ident, 0), -(-size // share)))
    elif even is not None:
        kernel.apply(Opt(OptOps.THREAD, even[4].arg.ident, even[3]))
