"""The vocabulary of kernel optimisations: plain data that can be chosen, printed, cached and replayed."""

from typing import TYPE_CHECKING

from plugrad._frozen import frozen

if TYPE_CHECKING:
    from enum import Enum, auto
else:
    from plugrad._enum import Enum, auto


class OptOps(Enum):
    """The kinds of changes to an axis."""

    UPCAST = auto()  # unroll `arg` steps into registers; of a reduced axis, into separate accumulators
    UNROLL = auto()  # repeat the body of a reduction for `arg` steps of its axis
    LOCAL = auto()  # give `arg` steps to the work-items of one group
    GROUP = auto()  # share a reduction among `arg` work-items, each taking every arg-th step
    JOIN = auto()  # give steps of a reduced axis, or of a loop behind, to the work-items of the axis `arg`
    THREAD = auto()  # spread an output axis over `arg` pieces for CPU threads
    SWAP = auto()  # exchange the places of `axis` and the axis `arg` in the loop order
    PADTO = auto()  # round the axis up to a multiple of `arg`, with gates around what is beyond it
    SHIFTIN = (
        auto()
    )  # split an output axis into tiles of `arg` steps; the last one is moved in from beyond the end
    SPLIT_REMAINDER = (
        auto()
    )  # split a reduced axis into a multiple of `arg` steps, and the rest in a reduction of its own
    SPLIT = auto()  # split an output axis before step `arg`, into two loops
    STAGE = auto()  # copy what a loop over the axis only repeats into fast memory, once before the loop
    KEEP = auto()  # compute once, into fast memory, what a reduction and other loops compute alike
    BLOCK = auto()  # split a reduced axis into blocks of `arg` steps
    HOIST = auto()  # move a reduced axis outside of the loop `arg`; sums wait in fast memory
    SHARE = auto()  # copy factors of a reduction into memory of the group, some steps of the axis at a time
    TC = auto()  # compute a product of matrices with the matrix instruction that `arg` names


AxisId = tuple[int, ...]


@frozen
class MatrixTile:
    """The matrix instruction of a TC, and its axes besides the columns of B.

    Attributes:
        core: the name of one of the target's tensor cores.
        rows: the axis of the rows of A.
        inner: the reduced axis, of the columns of A and the rows of B.
    """

    core: str
    rows: AxisId
    inner: AxisId


@frozen
class GroupTile:
    """The steps of a SHARE, and the part of each factor that a group copies.

    Attributes:
        steps: of the reduced axis, between two barriers.
        axes: output axes whose steps are all in one group.
        in_memory_order: whether neighbours in memory are neighbours in the copy, or those along output axes.
        ahead: copies that are begun while an earlier one is read.
    """

    steps: int
    axes: tuple[AxisId, ...]
    in_memory_order: bool = False
    ahead: int = 0


@frozen
class Opt:
    """One optimisation of one axis.

    Axes keep their identity when others are split; splitting `(2,)` makes `(2, 0)` outside and `(2, 1)`
    inside.
    """

    op: OptOps
    axis: AxisId = ()
    arg: "int | AxisId | MatrixTile | GroupTile" = 0

    def __repr__(self) -> str:
        return f"Opt({self.op!r}, axis={self.axis}, arg={self.arg})"
