"""A kernel while rangeify decides about it, and the ways in which values are read."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from plugrad._frozen import frozen
from plugrad.schedule.movement import Indices
from plugrad.uop import Ops, UOp


@frozen
class Access:
    """One way to read a value: its indices, and the gate of its existence."""

    idxs: Indices
    gate: UOp


@frozen
class Use:
    """The context of an access: its kernel, its count, and its place in reductions."""

    kernel: "FusedKernel"
    evaluations: int
    in_reduce: bool
    others: "frozenset[FusedKernel]" = frozenset()
    """Other kernels that read it in the same way: values without a shape have one access only."""


@dataclass(eq=False, slots=True)
class FusedKernel:
    """A value that gets memory, and the graph of its kernel."""

    root: UOp
    ranges: Indices
    device: str
    operations: int = 0
    has_contraction: bool = False
    """Whether its registers are taken by the tile of a contraction."""
    has_lanes: bool = True
    """Whether its loops can run on vectors: the steps of a sum by position come one by one."""
    reductions: list[tuple[frozenset[UOp], int]] = field(default_factory=list[tuple[frozenset[UOp], int]])
    """The loops around each of its reductions that has loops, and its steps."""
    ast: UOp | None = None
    after: set[UOp] = field(default_factory=set[UOp])
    """Values that are to be in memory before it runs."""

    def goes_along(self, rows: Collection[UOp], steps: int) -> bool:
        """Say whether all loops go along rows of `steps` elements, or have their results."""
        inner = math.prod(steps_of(r) for r in loops_in(self.ranges) if r not in rows)
        return inner in (1, steps) and all(
            own == frozenset(rows) and n == steps for own, n in self.reductions
        )


def loops_in(idxs: Indices) -> list[UOp]:
    """Return the indices that are loops."""
    return [r for r in idxs if r.op is Ops.RANGE]


def steps_of(idx: UOp) -> int:
    """Return the steps of a loop at most, 1 for any other index."""
    return int(idx.src[0].vmax) if idx.op is Ops.RANGE else 1
