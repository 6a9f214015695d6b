"""One schedule after the other."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from plugrad.errors import ArgumentError
from plugrad.nn.checks import check_counts
from plugrad.nn.schedulers.scheduler import LRScheduler, counts_of

_NAME = "SequentialLR"


@dataclass(eq=False, repr=False)
class SequentialLR(LRScheduler):
    """Follow one schedule after the other.

    Args:
        optimizer: whose learning rates are set.
        schedulers: schedules of the same optimizer; each counts from 0 when its turn comes.
        milestones: the steps at which the second, third, ... takes over.

    Raises:
        ArgumentError: there is not one milestone fewer than schedules, they do not rise, or a schedule is
            that of another optimizer.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
        >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
        >>> schedule = SequentialLR(optimizer, [warmup, decay], [2])
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    schedulers: Sequence[LRScheduler]
    milestones: Sequence[int]

    def __post_init__(self) -> None:
        """Refuse schedules that cannot take turns."""
        self._milestones = counts_of(self, milestones=self.milestones)
        for each in self.schedulers:
            if each.groups != self.groups:
                raise ArgumentError(f"{_NAME}: {each!r:.60} sets the rates of another optimizer.")
        if len(self._milestones) != len(self.schedulers) - 1:
            raise ArgumentError(
                f"{_NAME}: milestones={self.milestones} for {len(self.schedulers)} schedules. Pass one fewer "
                "than schedules."
            )
        if self._milestones != sorted(set(self._milestones)):
            raise ArgumentError(f"{_NAME}: milestones={self.milestones}. Let them rise.")
        super().__post_init__()

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Raises:
            ArgumentError: `step` is no integer of 0 or more.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
            >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
            >>> SequentialLR(optimizer, [warmup, decay], [2]).rates(3)
            [0.5]
        """
        check_counts(self, 0, step=step)
        turn = bisect.bisect_right(self._milestones, step)
        return self.schedulers[turn].rates(step - (self._milestones[turn - 1] if turn else 0))
