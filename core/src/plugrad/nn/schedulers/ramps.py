"""Rates that rise or fall for a number of steps, and stay then."""

from plugrad.nn.checks import NOT_NEGATIVE, SHARE, Range, check_counts, check_numbers
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["ConstantLR", "LinearLR", "PolynomialLR"]

_START = Range(0.0, False, 1.0, True, "a number above 0, up to 1")


class LinearLR(LRScheduler):
    """Go from one factor of the rates to another in equal steps: a warm-up, as the factors stand.

    Args:
        optimizer: whose learning rates are set.
        start_factor: of the rates at first.
        end_factor: of the rates from `total_iters` on.
        total_iters: how many steps that takes.

    Raises:
        ArgumentError: `start_factor` is not above 0 and up to 1, `end_factor` not from 0 to 1, or
            `total_iters` no integer above 0.

    Example:
        >>> schedule = LinearLR(SGD([Tensor([1.0])], lr=1.0), start_factor=0.25, total_iters=3)
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.25, 0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer | OptimizerGroup,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        check_numbers(self, _START, start_factor=start_factor)
        check_numbers(self, SHARE, end_factor=end_factor)
        check_counts(self, 1, total_iters=total_iters)
        self._start = start_factor
        self._end = end_factor
        self._total = total_iters
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        part = min(step, self._total) / self._total
        return base * (self._start + (self._end - self._start) * part)


class ConstantLR(LRScheduler):
    """Multiply the rates by a factor for the first steps.

    Args:
        optimizer: whose learning rates are set.
        factor: the factor.
        total_iters: for how many steps.

    Raises:
        ArgumentError: `factor` is not from 0 to 1, or `total_iters` no integer above 0.

    Example:
        >>> schedule = ConstantLR(SGD([Tensor([1.0])], lr=1.0), factor=0.5, total_iters=2)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer | OptimizerGroup, factor: float = 1 / 3, total_iters: int = 5
    ) -> None:
        check_numbers(self, SHARE, factor=factor)
        check_counts(self, 1, total_iters=total_iters)
        self._factor = factor
        self._total = total_iters
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._factor if step < self._total else base


class PolynomialLR(LRScheduler):
    """Lower the rates to 0 along a power of the steps that are left.

    Args:
        optimizer: whose learning rates are set.
        total_iters: how many steps that takes.
        power: the power; 1 is a straight line.

    Raises:
        ArgumentError: `total_iters` is no integer above 0, or `power` negative.

    Example:
        >>> schedule = PolynomialLR(SGD([Tensor([1.0])], lr=1.0), total_iters=4)
        >>> [schedule.rates(step)[0] for step in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(
        self, optimizer: Optimizer | OptimizerGroup, total_iters: int = 5, power: float = 1.0
    ) -> None:
        check_counts(self, 1, total_iters=total_iters)
        check_numbers(self, NOT_NEGATIVE, power=power)
        self._total = total_iters
        self._power = power
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * (1 - min(step, self._total) / self._total) ** self._power
