"""Let values that are not alive at the same time share memory.

First fit by decreasing size: the biggest value takes the lowest offset that no value alive with it holds.
"""

from bisect import insort
from collections.abc import Sequence

from plugrad._frozen import frozen

#: Cache lines and the widest vectors are 64 bytes.
ALIGNMENT = 64
# Lines so many bytes apart share one set of the first cache.
_SAME_SET = 4096


@frozen
class Lifetime:
    """The steps from the write of a value to its last read, both included."""

    first: int
    last: int
    nbytes: int


@frozen
class MemoryPlan:
    """The offset in bytes of each value in one arena, and the arena's size."""

    offsets: tuple[int, ...]
    nbytes: int


def plan_memory(lifetimes: Sequence[Lifetime]) -> MemoryPlan:
    """Return the offset of each value in one arena."""
    offsets = [0] * len(lifetimes)
    # (offset, size, first step, last step), the lowest first: most values fit below the end of the list
    placed: list[tuple[int, int, int, int]] = []
    total = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: -lifetimes[i].nbytes):
        life = lifetimes[i]
        first, last, nbytes = life.first, life.last, _without_crowding(life.nbytes)
        offset = 0
        for start, size, begin, end in placed:
            if begin <= last and first <= end:
                if offset + nbytes <= start:
                    break
                offset = max(offset, _aligned(start + size))
        offsets[i] = offset
        insort(placed, (offset, nbytes, first, last))
        total = max(total, offset + nbytes)
    return MemoryPlan(tuple(offsets), _aligned(total))


def _without_crowding(nbytes: int) -> int:
    """Return the bytes to take for a value.

    Its neighbour begins in another set of the caches: kernels read many values side by side, each at
    the same index.
    """
    return nbytes + ALIGNMENT if nbytes and nbytes % _SAME_SET == 0 else nbytes


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
