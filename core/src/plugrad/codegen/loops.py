"""Give stores and reductions that cannot share a loop loops of their own.

Reductions over the same ranges run in one loop where they can. They cannot when one needs the result of the
other, or when different loops stand around them; then the graph needs a RANGE for each.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from plugrad.codegen.rebuild import all_ranges, at, ended_by, ranges_of_reduce, rebuild
from plugrad.uop import Axis, Ops, UOp
from plugrad.uop.node.ranges import find_ranges

# what decides whether two reductions can share: their ranges, the loops around, how many reductions they wait
# for
_Loop = tuple[tuple[UOp, ...], frozenset[UOp], int]


def separate_loops(sink: UOp, _: Any = None) -> UOp:
    """Copy the ranges of stores and reductions that cannot share one loop.

    before: REDUCE(x(k) * REDUCE(y(k), k), k)
    after:  REDUCE(x(m) * REDUCE(y(k), k), m), where m is a new range as long as k
    """
    numbers = _free_numbers(sink)
    sink = _separate_stores(sink, numbers)
    while crowded := _first_crowded(sink):
        ended = ranges_of_reduce(crowded[0])
        fresh = _fresh(ended, numbers)
        moved = (_over(u, fresh) for u in crowded)
        sink = rebuild(sink, dict(zip(crowded, moved, strict=True)).get)
    return sink


def _free_numbers(sink: UOp) -> Iterator[int]:
    """Yield numbers that no axis of `sink` has."""
    yield from itertools.count(max((r.arg.ident[0] for r in all_ranges(sink)), default=0) + 1)


def _fresh(ranges: tuple[UOp, ...], numbers: Iterator[int]) -> dict[UOp, UOp]:
    return {r: r.replace(arg=Axis((next(numbers),), r.arg.kind)) for r in ranges}


def _over(u: UOp, fresh: dict[UOp, UOp]) -> UOp:
    """Return a STORE or REDUCE over other ranges."""
    ended = ended_by(u)
    values = u.src[: len(u.src) - len(ended)]
    for r, own in fresh.items():
        values = tuple(at(value, r, own) for value in values)
    return u.replace(src=(*values, *(fresh.get(r, r) for r in ended)))


def _separate_stores(sink: UOp, numbers: Iterator[int]) -> UOp:
    """Copy ranges so that no store stands in a loop it does not end."""
    around: dict[UOp, tuple[UOp, ...]] = {}
    moves: dict[tuple[UOp, ...], dict[UOp, UOp]] = {}
    stores: list[UOp] = []
    for store in sink.src:
        ended = store.src[2:]
        if ended not in moves:
            fits = all(around.get(r, ended[:n]) == ended[:n] for n, r in enumerate(ended))
            moves[ended] = {} if fits else _fresh(ended, numbers)
            own = tuple(moves[ended].get(r, r) for r in ended)
            around.update((r, own[:n]) for n, r in enumerate(own))
        stores.append(_over(store, moves[ended]))
    return sink.replace(src=tuple(stores))


def _first_crowded(sink: UOp) -> list[UOp]:
    """Return reductions that share a loop, but not with all others over their ranges.

    Users come before what they use: copies of an outer reduction take copies of those inside of it along.
    """
    order = list(sink.toposort())
    find_ranges(order)
    reduces = [u for u in reversed(order) if u.op is Ops.REDUCE]
    waits = _waits(order) if reduces else {}
    store = Ops.STORE
    taken: dict[UOp, _Loop | None] = {r: None for u in order if u.op is store for r in u.src[2:]}
    crowded: tuple[_Loop, list[UOp]] | None = None
    for u in reduces:
        loop = (ranges_of_reduce(u), u.ranges, waits[u])
        if all(taken.setdefault(r, loop) == loop for r in loop[0]):
            continue
        if crowded is None:
            crowded = loop, []
        if crowded[0] == loop:
            crowded[1].append(u)
    return [] if crowded is None else crowded[1]


def _waits(order: list[UOp]) -> dict[UOp, int]:
    """Return the length of the longest chain of reductions before each node that has one."""
    waits: dict[UOp, int] = {}
    known = waits.keys()
    reduce = Ops.REDUCE
    for u in order:
        # most come before all reductions, or are used by none
        longest = 0 if known.isdisjoint(u.src) else max([waits.get(s, 0) for s in u.src])
        if u.op is reduce:
            longest += 1
        if longest:
            waits[u] = longest
    return waits
