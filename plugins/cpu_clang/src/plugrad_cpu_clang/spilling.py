"""Choose accumulators to spill to memory while an inner loop needs the registers.

A sum of pieces keeps what the pieces before gave while it adds up the next one. Compilers do not always see
that these values can stay on the stack meanwhile: gcc 12 keeps them in registers and moves those of the inner
loop to memory and back at every step (a tile of 6 x 4 vectors: 54 instead of 101 GFLOP/s).
"""

from collections.abc import Iterator, Sequence

from plugrad.uop import Ops, UOp

# What a step of the inner loop holds beside its sums: two vectors of one factor, a few of the other.
_FACTORS = 4


def spilled_accumulators(uops: Sequence[UOp], registers: int) -> frozenset[UOp]:
    """Return the DEFINE_ACCs of a linear program that are better kept in memory.

    Args:
        uops: the program.
        registers: vectors that the machine holds in registers.
    """
    first = {u: i for i, u in enumerate(uops) if u.op is Ops.DEFINE_ACC}
    if len(first) + _FACTORS <= registers:
        return frozenset()
    last = {_register(s): i for i, u in enumerate(uops) for s in u.src if _register(s) in first}
    out: set[UOp] = set()
    for begin, end, changed in _loops(uops):
        idle = {a for a, i in first.items() if i < begin and last.get(a, i) > end and a not in changed}
        if changed and len(changed) + len(idle) + _FACTORS > registers:
            out |= idle
    return frozenset(out)


def _register(u: UOp) -> UOp:
    return u.src[0] if u.op is Ops.ACCUMULATE else u


def _loops(uops: Sequence[UOp]) -> Iterator[tuple[int, int, set[UOp]]]:
    """Yield start and end of each loop, and the accumulators that change in it.

    Those of inner loops count too.
    """
    around: list[tuple[int, set[UOp]]] = []
    for i, u in enumerate(uops):
        if u.op is Ops.ACCUMULATE:
            for _, changed in around:
                changed.add(u.src[0])
        elif u.op is Ops.RANGE:
            around.append((i, set()))
        elif u.op is Ops.END:
            begin, changed = around.pop()
            yield begin, i, changed
