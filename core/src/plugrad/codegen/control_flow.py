"""Find a kernel's loop nest: the parent of each loop, the loop of each value.

A value is computed in the innermost loop among the ranges it depends on, so whatever does not change with a
loop stands before it. A loop stands inside the loops that its user depends on: a STORE's ranges nest in the
order it names them; a REDUCE's loops nest inside every range that its result still depends on.
"""

from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.codegen.rebuild import ended_by
from plugrad.errors import VerifyError
from plugrad.uop import Ops, UOp


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
