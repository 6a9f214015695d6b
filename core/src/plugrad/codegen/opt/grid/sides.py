"""The part of a group's tile along one axis."""

from plugrad._frozen import frozen
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.target import REPEATED
from plugrad.uop import UOp


@frozen
class Side:
    """An axis of a group's tile: `size` steps for `items`, with `beside` neighbours each."""

    axis: UOp
    size: int
    items: int
    beside: int

    @property
    def own(self) -> int:
        """Steps of one work-item."""
        return self.size // self.items


def fits_axis(kernel: KernelOpt, size: int, count: int) -> bool:
    """Say whether tiles of `count` cover an axis with little repeated work."""
    if size % count == 0:
        return True
    return count < size and -(-size // count) * count <= REPEATED * size and kernel.can_repeat()
