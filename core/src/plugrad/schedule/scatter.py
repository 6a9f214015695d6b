"""Choose how scattered sums run: in kernels of their own, ordered or atomic.

`sum over j of (x[j] if position[j] == i else 0)` for all `i` is one pass over the positions that writes where
each of them says, if nothing else is in its kernel. Inside of another one it would compare each with each.

Loops run in order. Work-items of a grid do not: there one kernel fills memory, and another one updates the
elements that the positions name, where that costs less than the comparisons. What codegen makes of both is in
`plugrad.codegen.prepare.lower_scatter`.
"""

import math
from collections.abc import Collection
from typing import Any

from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.rangeify import Rangeify
from plugrad.schedule.selection import Selection, selection_of
from plugrad.schedule.versions import IN_PLACE
from plugrad.target import LEAST_SCATTERED
from plugrad.uop import Ops, UOp
from plugrad.uop.range_elimination import overwriting, scatter_of
from plugrad.uop.running_sum import running_sum_of

# Operations of an element that each step may do again.
_LITTLE = 32


def scattered(walk: Rangeify) -> set[UOp]:
    """Return the sums by position inside of kernels that loops could scatter."""
    found: set[UOp] = set()
    for u, selection in walk.selections.items():
        if selection.counter is None or u in walk.kernels:
            continue
        uses = walk.uses.get(u, {})
        readers = {k for use in uses.values() for k in (use.kernel, *use.others)}
        for access, use in uses.items():
            lowest, highest = access.idxs[selection.counter].bounds
            is_many = highest - lowest >= LEAST_SCATTERED - 1
            runs_loops = walk.cost[use.kernel.device].runs_loops
            is_alone = _runs_alone if selection.is_running else _is_alone
            if is_many and runs_loops and not is_alone(use.kernel, walk.exprs[u, access], len(readers)):
                found.add(u)
    return found


def _is_alone(kernel: FusedKernel, total: UOp, readers: int) -> bool:
    """Say whether a kernel does nothing beside its sum by position.

    It may add the sum to something, or write what the last steps decide.
    """
    if kernel.ast is None or total.op is not Ops.REDUCE:
        return False
    value = kernel.ast.src[1]
    found = scatter_of(total, kernel.ranges)
    if found is None or overwriting(value, total, found) is None:
        return False
    # an assignment may read what it writes
    is_only = kernel.root.op is not Ops.ASSIGN and not any(
        u.op is Ops.REDUCE and u is not total for u in value.toposort()
    )
    # a sum that starts at something is no one else's
    is_short = kernel.operations <= _LITTLE if found.overwrites else readers == 1
    return value is total or (is_only and is_short)


def _runs_alone(kernel: FusedKernel, total: UOp, _readers: int) -> bool:
    """Say whether a running sum is its kernel's only reduction, whose loop it follows."""
    if kernel.ast is None or running_sum_of(total, kernel.ranges) is None:
        return False
    return not any(u.op is Ops.REDUCE and u is not total for u in kernel.ast.toposort())


def atomic_selection(reduced: UOp, model: CostModel) -> Selection | None:
    """Return the selection of a REDUCE_AXIS where atomic updates are cheapest, else None."""
    op: Ops = reduced.arg[0]
    sizes: Any = reduced.src[0].shape
    if not model.is_atomic(op, reduced.dtype) or not all(isinstance(size, int) for size in sizes):
        return None
    selection = selection_of(reduced)
    if selection is None or selection.counter is None or selection.is_running:
        return None
    results: Any = math.prod(reduced.shape)
    steps = math.prod(sizes)
    pays = model.pays_to_update(steps, steps // sizes[selection.counter], results, reduced.dtype.itemsize)
    return selection if pays else None


def is_updated(value: UOp, inputs: Collection[UOp], model: CostModel) -> bool:
    """Say whether all sums between `inputs` and a value are atomic updates."""
    if model.runs_loops or not model.atomic_ops:
        return False
    found = False
    for u in value.toposort(lambda u: u not in inputs and u.op not in IN_PLACE):
        if u.op is Ops.REDUCE_AXIS and not _gathers(u):
            if atomic_selection(u, model) is None:
                return False
            found = True
    return found


def _gathers(reduced: UOp) -> bool:
    """Say whether a REDUCE_AXIS runs no loop, as a condition picks each element."""
    selection = selection_of(reduced)
    return selection is not None and selection.axes.issuperset(reduced.arg[1])


def update_atomically(sink: UOp, devices: Devices) -> tuple[UOp, dict[UOp, UOp]]:
    """Replace sums by position by updates of filled memory; return the graph, and its nodes.

    before: REDUCE_AXIS(ADD, WHERE(position == i, x, 0))
    after:  ASSIGN(CONTIGUOUS(0), REDUCE_AXIS(ADD, WHERE(position == i, x, 0))) with arg ADD
    """
    new: dict[UOp, UOp] = {}
    for number, u in enumerate(sink.toposort()):
        src = tuple([new[s] for s in u.src])
        new[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
        device = u.device or devices.default
        if u.op is not Ops.REDUCE_AXIS or device not in devices.cost:
            continue
        if (selection := atomic_selection(u, devices.cost[device])) is not None:
            # the number keeps the memory of sums of one shape apart
            start = selection.neutral.reshape((1,) * len(u.shape)).rtag(number)
            new[u] = start.expand(u.shape).contiguous().rtag(device).assign(new[u], u.arg[0])
    return new[sink], new
