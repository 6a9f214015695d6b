"""The versions of memory that is assigned to.

A BUFFER is the first version of its memory; each ASSIGN (or AFTER) is a later one. Movement ops on a
version show part of the same memory.
"""

import math
from collections.abc import Callable
from typing import Any

from plugrad.schedule.movement import ALWAYS, flatten, source_indices
from plugrad.uop import MOVEMENT, Ops, UOp, simplify

# Ops whose memory is that of their first source.
IN_PLACE = frozenset({Ops.ASSIGN, Ops.AFTER})
# Ops that are a version of some memory.
VERSIONS = IN_PLACE | {Ops.BUFFER}
# Marks parts of memory.
_PART = "part"


class Descent:
    """A memoized walk down first sources while a condition holds.

    Chains of versions get long: each of many assigns that wait is written on top of the one before.

    Args:
        goes_on: whether to go to the first source of a node; must not change its mind.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (2, 3), dtypes.int32)
        >>> Descent(lambda u: u.op in MOVEMENT)(x.permute((1, 0)).flip((0,))) is x
        True
    """

    def __init__(self, goes_on: Callable[[UOp], bool]) -> None:
        self._goes_on = goes_on
        self._ends: dict[UOp, UOp] = {}

    def __call__(self, u: UOp) -> UOp:
        """Return the node at which the way down from `u` ends."""
        passed: list[UOp] = []
        while u not in self._ends and self._goes_on(u):
            passed.append(u)
            u = u.src[0]
        end = self._ends.get(u, u)
        for node in passed:
            self._ends[node] = end
        return end


def owners() -> Descent:
    """Return a function from nodes to their memory's owners: `memory_of`, for many nodes."""
    return Descent(_shows_memory_below)


def _shows_memory_below(u: UOp) -> bool:
    return u.op in IN_PLACE or u.op in MOVEMENT


def device_of(u: UOp) -> str | None:
    """Return the device that `u` is computed on; None where any will do."""
    return u.device or u.tag


def memory_of(u: UOp) -> UOp:
    """Return the owner of the memory of `u`, below movement ops and versions."""
    while _shows_memory_below(u):
        u = u.src[0]
    return u


def outputs_of_kernel(kernel: UOp) -> list[UOp]:
    """Return the versions of memory that a KERNEL writes, one a buffer.

    before: KERNEL(b, c), which stores to the buffers 0 and 1
    after:  [AFTER(b, KERNEL), AFTER(c, KERNEL)]
    """
    if kernel.arg.op is Ops.COPY:
        return [kernel.src[0].after(kernel)]
    slots: list[int] = sorted({store.src[0].src[0].arg[0] for store in kernel.arg.src})
    return [kernel.src[slot].after(kernel) for slot in slots]


def slice_of(u: UOp) -> tuple[UOp, int] | None:
    """Return the memory and the first element of `u`, if it is a consecutive slice.

    before: BUFFER(4, 6).shrink(((1, 3), (0, 6)))
    after:  (BUFFER(4, 6), 6)
    """
    shape: Any = u.shape
    if not all(isinstance(size, int) for size in shape):
        return None
    ranges = tuple(UOp.range(size, axis) for axis, size in enumerate(shape))
    idxs, view = ranges, u
    while view.op in IN_PLACE or view.op in MOVEMENT:
        if view.op in MOVEMENT:
            idxs, inside = source_indices(view, idxs)
            if inside is not ALWAYS:
                return None
        view = view.src[0]
    if view.op not in (Ops.BUFFER, Ops.CONTIGUOUS, Ops.COPY) or 0 in shape:
        return None
    offset = simplify(flatten(idxs, view.shape) - flatten(ranges, shape))
    return (view, offset.arg) if offset.op is Ops.CONST else None


def part_of(memory: UOp, offset: int, numel: int) -> UOp:
    """Return `numel` elements of `memory` from `offset` on; `memory` itself if those are all.

    It is marked: a view of the same elements may be a value that has memory of its own.
    """
    total: Any = math.prod(memory.shape)
    if numel == total:
        return memory
    flat = memory.reshape((total,))
    flat = flat if flat is memory else flat.rtag(_PART)
    return flat.shrink(((offset, offset + numel),)).rtag(_PART)


def owner_of(memory: UOp) -> UOp:
    """Return the memory that `memory` is a part of; itself if it is none."""
    while memory.tag == _PART:
        memory = memory.src[0]
    return memory
