"""Rates multiplied by a factor, again and again."""

import bisect
from collections.abc import Sequence

from plugrad.nn.checks import NOT_NEGATIVE, check_counts, check_numbers
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.rates import counts_of
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["ExponentialLR", "MultiStepLR", "StepLR"]


class StepLR(LRScheduler):
    """Multiply the rates by `gamma` each `step_size` steps.

    Args:
        optimizer: whose learning rates are set.
        step_size: steps from one change to the next.
        gamma: the factor.

    Raises:
        ArgumentError: `step_size` is no integer above 0, `gamma` is negative, or there is no optimizer.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
        >>> schedule = StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(2):
        ...     schedule.step()
        >>> optimizer.lr.item()
        0.25
    """

    def __init__(self, optimizer: Optimizer | OptimizerGroup, step_size: int, gamma: float = 0.1) -> None:
        check_counts(self, 1, step_size=step_size)
        check_numbers(self, NOT_NEGATIVE, gamma=gamma)
        self._step_size = step_size
        self._gamma = gamma
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._gamma ** (step // self._step_size)


class MultiStepLR(LRScheduler):
    """Multiply the rates by `gamma` at each of some steps.

    Args:
        optimizer: whose learning rates are set.
        milestones: the steps; one that is there twice counts twice.
        gamma: the factor.

    Raises:
        ArgumentError: a milestone is no integer of 0 or more, `gamma` is negative, or there is no optimizer.

    Example:
        >>> schedule = MultiStepLR(SGD([Tensor([1.0])], lr=0.5), [2, 3], gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 0.25, 0.125]
    """

    def __init__(
        self, optimizer: Optimizer | OptimizerGroup, milestones: Sequence[int], gamma: float = 0.1
    ) -> None:
        check_numbers(self, NOT_NEGATIVE, gamma=gamma)
        self._milestones = sorted(counts_of(self, milestones=milestones))
        self._gamma = gamma
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._gamma ** bisect.bisect_right(self._milestones, step)


class ExponentialLR(LRScheduler):
    """Multiply the rates by `gamma` at each step.

    Args:
        optimizer: whose learning rates are set.
        gamma: the factor.

    Raises:
        ArgumentError: `gamma` is negative, or there is no optimizer.

    Example:
        >>> schedule = ExponentialLR(SGD([Tensor([1.0])], lr=1.0), gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer | OptimizerGroup, gamma: float) -> None:
        check_numbers(self, NOT_NEGATIVE, gamma=gamma)
        self._gamma = gamma
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._gamma**step
