"""Let values that are not alive at the same time share memory.

First fit by decreasing size: the biggest value takes the lowest offset that no value alive with it holds.
"""

from collections.abc import Sequence

from plugrad._frozen import frozen

#: Cache lines and the widest vectors are 64 bytes.
ALIGNMENT = 64


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
    placed: list[int] = []
    total = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: -lifetimes[i].nbytes):
        life = lifetimes[i]
        neighbours = sorted(
            (offsets[j], lifetimes[j].nbytes)
            for j in placed
            if lifetimes[j].first <= life.last and life.first <= lifetimes[j].last
        )
        offset = 0
        for start, nbytes in neighbours:
            if offset + life.nbytes <= start:
                break
            offset = max(offset, _aligned(start + nbytes))
        offsets[i] = offset
        placed.append(i)
        total = max(total, offset + life.nbytes)
    return MemoryPlan(tuple(offsets), _aligned(total))


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
