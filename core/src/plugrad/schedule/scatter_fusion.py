"""Give sums by position kernels of their own, where loops run in order.

`sum over j of (x[j] if position[j] == i else 0)` for all `i` is one pass over the positions that writes where
each of them says, if nothing else is in its kernel. Inside of another one it would compare each with each.
"""

from plugrad.schedule.rangeify import FusedKernel, Rangeify
from plugrad.target import LEAST_SCATTERED
from plugrad.uop.ops import Ops
from plugrad.uop.range_elimination import scatter_of
from plugrad.uop.uop import UOp


def scattered(walk: Rangeify) -> set[UOp]:
    """Return the sums by position inside of kernels that loops could scatter."""
    found: set[UOp] = set()
    for u, selection in walk.selections.items():
        if selection.counter is None or u in walk.kernels:
            continue
        for access, use in walk.uses.get(u, {}).items():
            lowest, highest = access.idxs[selection.counter].bounds
            is_many = highest - lowest >= LEAST_SCATTERED - 1
            runs_loops = walk.cost[use.kernel.device].runs_loops
            if is_many and runs_loops and not _is_alone(use.kernel, walk.exprs[u, access]):
                found.add(u)
    return found


def _is_alone(kernel: FusedKernel, total: UOp) -> bool:
    """Say whether a kernel is a sum by position and nothing else."""
    is_all = kernel.ast is not None and kernel.ast.src[1] is total and total.op is Ops.REDUCE
    return is_all and scatter_of(total, kernel.ranges) is not None
