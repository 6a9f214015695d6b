"""Check what the work-items of a group share: parts of reductions, behind barriers."""

import math

from plugrad.codegen.rebuild import ended_by, ranges_of_reduce
from plugrad.codegen.reduces import slots_of
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size


def check_groups(ast: UOp, capabilities: Capabilities) -> None:
    """Refuse what shared reductions cannot have: loops around barriers, too much local memory.

    Raises:
        KernelOptError: the kernel has that.
    """
    nbytes = 0
    for u in ast.toposort():
        if u.op is not Ops.REDUCE:
            continue
        groups = [r for r in ranges_of_reduce(u) if r.arg.kind is AxisType.GROUP_REDUCE]
        if not groups:
            continue
        looped = [r.arg.ident for r in u.ranges if r.arg.kind in (AxisType.LOOP, AxisType.REDUCE)]
        if looped:
            raise KernelOptError(f"a loop over {looped} is around the reduction: a group cannot wait inside.")
        places = [r for r in u.ranges if r.arg.kind is not AxisType.GLOBAL]
        parts, copies = (math.prod(constant_size(r) or 1 for r in ranges) for ranges in (groups, places))
        slots = slots_of(parts)
        nbytes += u.dtype.itemsize * copies * (parts if slots == parts else parts + slots)
    if nbytes > (most := capabilities.local_memory_bytes):
        raise KernelOptError(f"its groups would share {nbytes} bytes, and local memory has {most}.")


def check_joined(ast: UOp, r: UOp, items: UOp) -> None:
    """Refuse to give steps of `r` to work-items that step `items` in these loops.

    Raises:
        KernelOptError: `items` is no axis of a shared reduction, or a loop nest has both.
    """
    if items.arg.kind is not AxisType.GROUP_REDUCE:
        raise KernelOptError(f"axis {items.arg.ident} is {items.arg.kind.name}; JOIN takes one of GROUP.")
    pair = {r, items}
    both = (u for u in ast.toposort() if pair & {*ended_by(u)} and pair <= {*ended_by(u), *u.ranges})
    if next(both, None) is not None:
        raise KernelOptError("one nest of loops has both axes, and needs work-items for each.")
