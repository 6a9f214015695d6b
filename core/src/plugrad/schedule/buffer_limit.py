"""Cut kernels that take more buffers than their device allows."""

from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.rangeify import Rangeify
from plugrad.uop import ELEMENTWISE, Ops, UOp


def split_for_buffer_limit(kernel: FusedKernel, walk: Rangeify) -> set[UOp]:
    """Return values that must have memory, to keep `kernel` within its device's buffers.

    From inputs to result, whenever a value would read too much, the source that reads most is cut.
    """
    most = walk.cost[kernel.device].max_buffers if kernel.device in walk.cost else 0
    if not most or kernel.ast is None or len(_buffers(kernel, walk)) <= most:
        return set()
    cuts: set[UOp] = set()
    # for each value, the memory that computing it reads; one place is for the output
    below: dict[UOp, frozenset[UOp]] = {}
    for u in kernel.root.toposort(lambda u: u is kernel.root or not _is_memory(u, walk)):
        reads = [
            below[s] if s in below else frozenset({walk.storage_of(s)} if _is_memory(s, walk) else ())
            for s in u.src
        ]
        while len(frozenset[UOp]().union(*reads)) > most - 1:
            largest = max(range(len(reads)), key=lambda i: len(reads[i]))
            cut = u.src[largest].base
            if len(reads[largest]) < 2 or cut.op not in ELEMENTWISE | {Ops.REDUCE_AXIS}:
                break
            cuts.add(cut)
            reads[largest] = frozenset((cut,))
        below[u] = frozenset[UOp]().union(*reads)
    return cuts


def _buffers(kernel: FusedKernel, walk: Rangeify) -> set[UOp]:
    assert kernel.ast is not None, "a COPY has no kernel"
    return {walk.storage_of(walk.memory_of(u)) for u in kernel.ast.toposort() if u.op is Ops.PARAM}


def _is_memory(u: UOp, walk: Rangeify) -> bool:
    return u in walk.kernels or u.op in (Ops.BUFFER, Ops.AFTER)
