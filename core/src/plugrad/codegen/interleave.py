"""Order long calculations that do not need each other so that they take turns.

Each step of a long calculation waits for the one before. A processor looks a few hundred instructions ahead:
a second calculation that begins behind the end of the first one is out of its sight.
"""

from collections.abc import Sequence
from itertools import zip_longest

from plugrad.uop import ALU, Ops, UOp

# Nodes of a calculation from which a processor does not see the next one begin.
_LONG = 100


def interleaved(stores: Sequence[UOp], order: Sequence[UOp], registers: int) -> list[UOp]:
    """Return an order in which the calculations of stores take turns.

    Empty where they are short, or where their results do not fit the registers.

    before: a0 a1 a2 b0 b1 b2
    after:  a0 b0 a1 b1 a2 b2
    """
    # a node belongs to one calculation, or to none
    is_long = len(order) >= _LONG * len(stores)
    if len(stores) < 2 or not is_long or any(u.op is Ops.REDUCE for u in order):
        return []
    owner: dict[UOp, int | None] = {}
    for number, store in enumerate(stores):
        for u in store.toposort():
            owner[u] = None if u in owner else number
    apart: list[list[UOp]] = [[] for _ in stores]
    for u in order:
        if (number := owner.get(u)) is not None:
            apart[number].append(u)
    if min(map(len, apart)) < _LONG:
        return []
    # copies may begin differently, with addresses of their own
    turns = zip_longest(*(nodes[::-1] for nodes in apart))
    merged = [u for turn in turns for u in turn[::-1] if u is not None]
    out = [*(u for u in order if u in owner and owner[u] is None), *merged[::-1]]
    return out if _most_alive(out) <= registers else []


def _most_alive(order: Sequence[UOp]) -> int:
    """Return the greatest number of results of arithmetic alive at once."""
    last = {s: at for at, u in enumerate(order) for s in u.src}
    ended = [0] * (len(order) + 1)
    alive = most = 0
    for at, u in enumerate(order):
        alive -= ended[at]
        if u.op in ALU and u in last:
            alive += 1
            ended[last[u]] += 1
            most = max(most, alive)
    return most
