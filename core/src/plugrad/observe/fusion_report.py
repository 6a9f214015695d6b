"""Report on fusion: the operations of each kernel, and the reason it ends.

Made of the draft that the last pass of the scheduler gives to observers, so that nothing is kept where
nobody listens.
"""

from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.create import ScheduleDraft
from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.fusion import Boundary
from plugrad.schedule.scheduled_part import ScheduledPart
from plugrad.uop import MOVEMENT, Ops, UOp

#: the pipeline and the pass whose result holds the decisions
DECIDED = ("schedule", "fuse_horizontally")
_WRITTEN = Boundary("the kernel was written by hand")
_NOTHING_DONE = MOVEMENT | {Ops.BUFFER, Ops.CONST, Ops.AFTER, Ops.DEFINE_VAR, Ops.BIND, Ops.CONTIGUOUS}


@frozen
class KernelReport:
    """One value of a schedule that has memory.

    Attributes:
        call: the kernel of this value alone.
        kernel: the kernel that runs, which may have other results as well.
        boundary: why its value has memory.
        fused: the operations that it computes, sources first.
        operations: estimated for each element of its result.
    """

    call: KernelCall
    kernel: KernelCall
    boundary: Boundary
    fused: tuple[UOp, ...]
    operations: int

    @property
    def computed(self) -> tuple[UOp, ...]:
        """The operations that compute something: no views, constants or memory."""
        return tuple(u for u in self.fused if u.op not in _NOTHING_DONE)


def fusion_report(draft: ScheduleDraft) -> list[KernelReport]:
    """Return a report for each result of a kernel and each copy, in order."""
    reports: dict[UOp, KernelReport] = {}
    placed = {own.root: (own, call) for call in draft.calls or () for own in (call, *call.others)}
    for part, scheduled in draft.parts or ():
        for report in _reports(part.sink, scheduled):
            call, kernel = placed[part.nodes[report.call.root]]
            fused = tuple(map(part.version, report.fused))
            reports[call.root] = replace(report, call=call, kernel=kernel, fused=fused)
    return [reports[root] for root in placed]


def _reports(sink: UOp, part: ScheduledPart) -> list[KernelReport]:
    walk = part.walk
    if walk is None:
        return []
    fused: dict[FusedKernel, dict[UOp, None]] = {kernel: {} for kernel in walk.kernels.values()}
    for u in sink.toposort():
        if u in walk.kernels:
            fused[walk.kernels[u]][u] = None
            continue
        for use in walk.uses.get(u, {}).values():
            for kernel in (use.kernel, *use.others):
                fused[kernel][u] = None
    return [_report(call, walk.kernels.get(call.root), walk.boundaries, fused) for call in part.calls or ()]


def _report(
    call: KernelCall,
    kernel: FusedKernel | None,
    boundaries: dict[UOp, Boundary],
    fused: dict[FusedKernel, dict[UOp, None]],
) -> KernelReport:
    if kernel is None:
        return KernelReport(call, call, _WRITTEN, (call.root,), 0)
    return KernelReport(call, call, boundaries[call.root], tuple(fused[kernel]), kernel.operations)
