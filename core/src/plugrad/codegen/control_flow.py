"""Find a kernel's loop nest: the parent of each loop, the loop of each value.

A value is computed in the innermost loop among the ranges it depends on, so whatever does not change with a
loop stands before it. A loop stands inside the loops that its user depends on: a STORE's ranges nest in the
order it names them; a REDUCE's loops nest inside every range that its result still depends on.
"""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.codegen.rebuild import ended_by, reads_versions
from plugrad.errors import VerifyError
from plugrad.uop import AxisType, Ops, UOp


@frozen
class LoopNest:
    """The loops around each loop, outermost first (itself excluded)."""

    around: dict[UOp, tuple[UOp, ...]]

    def innermost(self, ranges: Iterable[UOp]) -> UOp | None:
        """Return the innermost loop among `ranges`; None for no loop."""
        return max(ranges, key=lambda r: len(self.around[r]), default=None)

    def blocks_of(self, order: Iterable[UOp]) -> "dict[UOp, UOp | None]":
        """Return the loop in which each node is computed; None for outside of all."""
        # most nodes share their ranges with others
        known: dict[frozenset[UOp], UOp | None] = {}
        blocks: dict[UOp, UOp | None] = {}
        for u in order:
            ranges = (
                u.ranges if u.op is not Ops.STORE else frozenset(u.src[2:]).union(*(s.ranges for s in u.src))
            )
            if ranges not in known:
                known[ranges] = self.innermost(ranges)
            blocks[u] = known[ranges]
        return blocks

    def path(self, block: UOp | None) -> tuple[UOp | None, ...]:
        """Return the blocks from the outside of all loops down to `block`."""
        return (None,) if block is None else (None, *self.around[block], block)


def find_loops(sink: UOp) -> LoopNest:
    """Return the loop nest of `sink`."""
    outside: dict[UOp, set[UOp]] = {}
    for u in sink.toposort():
        if u.op is Ops.RANGE:
            outside.setdefault(u, set()).update(u.src[0].ranges)
        elif ended := ended_by(u):
            _nest(ended, u.ranges, outside)
    _close(outside)
    around: dict[UOp, tuple[UOp, ...]] = {}
    for r in sorted(outside, key=lambda r: len(outside[r])):
        chain = tuple(sorted(outside[r], key=lambda o: len(outside[o])))
        for depth, outer in enumerate(chain):
            if len(outside[outer]) != depth:
                idents = ", ".join(str(ident) for ident in sorted(o.arg.ident for o in chain))
                raise VerifyError(
                    f"axis {r.arg.ident} is inside of axes that are not in each other: {idents}."
                )
        around[r] = chain
    return LoopNest(around)


def _nest(ended: tuple[UOp, ...], kept: frozenset[UOp], outside: dict[UOp, set[UOp]]) -> None:
    inside_of = set(kept)
    for r in ended:
        outside.setdefault(r, set()).update(inside_of - {r})
        inside_of.add(r)


def _close(outside: dict[UOp, set[UOp]]) -> None:
    changed = True
    while changed:
        changed = False
        for outer in outside.values():
            more = set[UOp]().union(*(outside[o] for o in outer)) - outer
            if more:
                outer |= more
                changed = True


def ordered_accesses(stores: Sequence[UOp], order: Sequence[UOp]) -> list[tuple[UOp, UOp]]:
    """Return pairs of accesses to memory, the second of which comes later.

    Args:
        stores: of a kernel.
        order: all nodes of the kernel.
    """
    if reads_versions(order):
        return [*itertools.pairwise(stores), *_loads_of_versions(stores)]
    return [
        (before, store)
        for i, store in enumerate(stores)
        if _is_ordered(store)
        for before in stores[:i]
        # its ordered steps read the memory that `before` fills
        if not _is_ordered(before) and store.src[0].src[0] is before.src[0].src[0]
    ]


def _loads_of_versions(stores: Sequence[UOp]) -> Iterator[tuple[UOp, UOp]]:
    """Keep each LOAD of a version between the STOREs around it.

    Stores that one was written out as have one number: what they read is not what the others write.
    """
    numbers: list[Any] = [store.tag for store in stores]
    known: set[UOp] = set()
    for user, store in enumerate(stores):
        for u in store.toposort(lambda u: u not in known):
            known.add(u)
            version = u.src[0].src[0] if u.op is Ops.LOAD else u
            if version is u or version.op is not Ops.AFTER or version.arg is None:
                continue
            first = bisect.bisect_left(numbers, version.arg)
            if first:
                yield stores[first - 1], u
            overwriting = (s for s in stores[first:user] if s.src[0].src[0] is version.src[0])
            if (later := next(overwriting, None)) is not None and later.tag < store.tag:
                yield u, later


def _is_ordered(store: UOp) -> bool:
    return any(r.op is Ops.RANGE and r.arg.kind is AxisType.ORDERED for r in store.src[2:])
