"""Load only the requested slice of a file, such as rows of a table.

Tensors of a file are copies of all that lies there. Where a program computes with one, or with slices of it,
the whole is copied, once, and stays; where nothing but slices is read, only these are copied.
"""

from collections.abc import Container

from plugrad.schedule.versions import slice_of
from plugrad.uop import Ops, UOp


def loaded_parts(sink: UOp, computing: Container[str]) -> dict[UOp, UOp]:
    """Return slices of files, where `sink` needs no more, each with its own copy.

    before: BUFFER(9, device=DISK).copy_to_device(CPU).shrink(((5, 9),))
    after:  BUFFER(9, device=DISK).shrink(((5, 9),)).copy_to_device(CPU)

    Args:
        sink: SINK of the values that are asked for.
        computing: the devices that compute.
    """
    found = {u: moved for u in sink.src if (moved := _slice_before_copy(u, computing)) is not None}
    if not found:
        return {}
    used = UOp.sink(*(u for u in sink.src if u not in found)).toposort()
    return {u: part for u, (copy, part) in found.items() if copy not in used}


def _slice_before_copy(u: UOp, computing: Container[str]) -> tuple[UOp, UOp] | None:
    """Return the copy below the slice `u`, from a storage device, and the slice's copy."""
    view = u.src[0] if u.op is Ops.CONTIGUOUS else u
    copy = view.base
    if copy.op is not Ops.COPY or not any(m.op is Ops.SHRINK for m in view.toposort(lambda m: m is not copy)):
        return None
    device = copy.src[0].device
    if device is None or device in computing:
        return None
    stored = view.substitute({copy: copy.src[0]})
    found = slice_of(stored)
    is_there = found is not None and found[0].op is Ops.BUFFER
    return (copy, stored.copy_to_device(copy.arg)) if is_there else None
