"""One schedule after the other."""

import bisect
from collections.abc import Sequence

from plugrad.nn.optim import Optimizer
from plugrad.nn.schedulers.rates import check
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["SequentialLR"]


class SequentialLR(LRScheduler):
    """Follow one schedule after the other.

    Args:
        optimizer: whose learning rates are set.
        schedulers: schedules of the same optimizer; each counts from 0 when its turn comes.
        milestones: the steps at which the second, third, ... takes over.

    Raises:
        ArgumentError: there is not one milestone fewer than schedules, or they do not rise.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
        >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
        >>> schedule = SequentialLR(optimizer, [warmup, decay], [2])
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]
    ) -> None:
        check(
            len(milestones) == len(schedulers) - 1,
            f"{len(milestones)} milestones for {len(schedulers)} schedules: pass one fewer than schedules",
        )
        check(list(milestones) == sorted(set(milestones)), f"milestones={list(milestones)}: let them rise")
        self._schedules = list(schedulers)
        self._milestones = list(milestones)
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
            >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
            >>> SequentialLR(optimizer, [warmup, decay], [2]).rates(3)
            [0.5]
        """
        turn = bisect.bisect_right(self._milestones, step)
        return self._schedules[turn].rates(step - (self._milestones[turn - 1] if turn else 0))
