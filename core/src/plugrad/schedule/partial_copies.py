"""Copy no more than is read of what lies on a device that only stores: of a file, often a few rows.

The tensors of a file of weights are copies of all that lies there. Where only slices of such a copy are used,
each slice is copied alone, and the whole never exists.
"""

from collections import defaultdict
from collections.abc import Container

from plugrad.schedule.versions import slice_of
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.uop import UOp


def slice_before_copy(part: UOp, computing: Container[str]) -> UOp | None:
    """Return the copy of a slice for the slice of a copy, if it is from a device that only stores.

    before: BUFFER(9, device=DISK).copy_to_device(CPU).shrink(((5, 9),))
    after:  BUFFER(9, device=DISK).shrink(((5, 9),)).copy_to_device(CPU)

    Args:
        part: a movement.
        computing: the devices that compute.
    """
    moves, copy = [part], part.src[0]
    while copy.op in MOVEMENT:
        moves.append(copy)
        copy = copy.src[0]
    if copy.op is not Ops.COPY or not _is_stored(copy, computing):
        return None
    stored = copy.src[0]
    for m in reversed(moves):
        stored = UOp(m.op, m.dtype, (stored, *m.src[1:]), m.arg)
    return None if slice_of(stored) is None else stored.copy_to_device(copy.arg)


def copied_in_part(sink: UOp, computing: Container[str]) -> set[UOp]:
    """Return the copies from devices that only store of which nothing but slices is used."""
    copies = [u for u in sink.toposort() if u.op is Ops.COPY and _is_stored(u, computing)]
    if not copies:
        return set()
    users: defaultdict[UOp, list[UOp]] = defaultdict(list)
    for u in sink.toposort():
        for source in u.src:
            users[source].append(u)
    return {copy for copy in copies if _only_slices(copy, users, computing)}


def _is_stored(copy: UOp, computing: Container[str]) -> bool:
    device = copy.src[0].device
    return device is not None and device not in computing


def _only_slices(u: UOp, users: defaultdict[UOp, list[UOp]], computing: Container[str]) -> bool:
    return all(
        user.op in MOVEMENT
        and (
            slice_before_copy(user, computing) is not None
            if user.op is Ops.SHRINK
            else _only_slices(user, users, computing)
        )
        for user in users[u]
    )
