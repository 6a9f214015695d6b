"""A kernel while rangeify decides about it, and the ways in which values are read."""

from dataclasses import dataclass, field

from plugrad._frozen import frozen
from plugrad.schedule.movement import Indices
from plugrad.uop import UOp


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
    ast: UOp | None = None
    after: set[UOp] = field(default_factory=set[UOp])
    """Values that are to be in memory before it runs."""
