"""Rates that are functions of the number of steps."""

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plugrad.errors import ArgumentError
from plugrad.nn.checks import NOT_NEGATIVE, SHARE, Range, check_numbers
from plugrad.nn.schedulers.scheduler import LRScheduler, counts_of

_START = Range("a number above 0, up to 1", lambda x: 0 < x <= 1)


def cosine(start: float, end: float, part: float) -> float:
    """Interpolate from `start` to `end` along half a cosine wave."""
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


@dataclass(eq=False, repr=False)
class StepLR(LRScheduler):
    """Multiply the rates by `gamma` each `step_size` steps.

    Args:
        step_size: steps from one change to the next.
        gamma: the factor.

    Raises:
        ArgumentError: `step_size` is no integer above 0, or `gamma` is negative.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
        >>> schedule = StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(2):
        ...     schedule.step()
        >>> optimizer.lr.item()
        0.25
    """

    step_size: int
    gamma: float = 0.1

    def _rate(self, base: float, step: int) -> float:
        return base * self.gamma ** (step // self.step_size)


@dataclass(eq=False, repr=False)
class MultiStepLR(LRScheduler):
    """Multiply the rates by `gamma` at each of some steps.

    Args:
        milestones: the steps; one that is there twice counts twice.
        gamma: the factor.

    Raises:
        ArgumentError: a milestone is no integer of 0 or more, or `gamma` is negative.

    Example:
        >>> schedule = MultiStepLR(SGD([Tensor([1.0])], lr=0.5), [2, 3], gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 0.25, 0.125]
    """

    milestones: Sequence[int]
    gamma: float = 0.1

    def __post_init__(self) -> None:
        """Sort the milestones."""
        self.milestones = sorted(counts_of(self, milestones=self.milestones))
        super().__post_init__()

    def _rate(self, base: float, step: int) -> float:
        return base * self.gamma ** bisect.bisect_right(self.milestones, step)


@dataclass(eq=False, repr=False)
class ExponentialLR(LRScheduler):
    """Multiply the rates by `gamma` at each step.

    Args:
        gamma: the factor.

    Raises:
        ArgumentError: `gamma` is negative.

    Example:
        >>> schedule = ExponentialLR(SGD([Tensor([1.0])], lr=1.0), gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.25]
    """

    gamma: float

    def _rate(self, base: float, step: int) -> float:
        return base * self.gamma**step


@dataclass(eq=False, repr=False)
class LinearLR(LRScheduler):
    """Go from one factor of the rates to another in equal steps, as a warm-up.

    Args:
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

    ranges: ClassVar = {"start_factor": _START, "end_factor": SHARE}

    start_factor: float = 1 / 3
    end_factor: float = 1.0
    total_iters: int = 5

    def _rate(self, base: float, step: int) -> float:
        part = min(step, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * part)


@dataclass(eq=False, repr=False)
class ConstantLR(LRScheduler):
    """Multiply the rates by a factor for the first steps.

    Args:
        factor: the factor.
        total_iters: for how many steps.

    Raises:
        ArgumentError: `factor` is not from 0 to 1, or `total_iters` no integer above 0.

    Example:
        >>> schedule = ConstantLR(SGD([Tensor([1.0])], lr=1.0), factor=0.5, total_iters=2)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 1.0, 1.0]
    """

    ranges: ClassVar = {"factor": SHARE}

    factor: float = 1 / 3
    total_iters: int = 5

    def _rate(self, base: float, step: int) -> float:
        return base * self.factor if step < self.total_iters else base


@dataclass(eq=False, repr=False)
class PolynomialLR(LRScheduler):
    """Lower the rates to 0 along a power of the steps that are left.

    Args:
        total_iters: how many steps that takes.
        power: the power; 1 is a straight line.

    Raises:
        ArgumentError: `total_iters` is no integer above 0, or `power` negative.

    Example:
        >>> schedule = PolynomialLR(SGD([Tensor([1.0])], lr=1.0), total_iters=4)
        >>> [schedule.rates(step)[0] for step in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    total_iters: int = 5
    power: float = 1.0

    def _rate(self, base: float, step: int) -> float:
        return base * (1 - min(step, self.total_iters) / self.total_iters) ** self.power


@dataclass(eq=False, repr=False)
class CosineAnnealingLR(LRScheduler):
    """Lower the rates to `eta_min` along half a wave of a cosine, and back up.

    Args:
        T_max: steps of half a wave.
        eta_min: the lowest rate.

    Raises:
        ArgumentError: `T_max` is no integer above 0, or `eta_min` negative.

    Source: Loshchilov and Hutter 2017, "SGDR", equation 5, without restarts.

    Example:
        >>> schedule = CosineAnnealingLR(SGD([Tensor([1.0])], lr=1.0), T_max=4)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [1.0, 0.854, 0.5, 0.146, 0.0]
    """

    T_max: int
    eta_min: float = 0.0

    def _rate(self, base: float, step: int) -> float:
        return cosine(base, self.eta_min, step / self.T_max)


@dataclass(eq=False, repr=False)
class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rates to `eta_min` along a cosine, again and again from the top.

    Args:
        T_0: steps until the first restart.
        T_mult: each period is this many times as long as the one before.
        eta_min: the lowest rate.

    Raises:
        ArgumentError: `T_0` or `T_mult` is no integer above 0, or `eta_min` negative.

    Source: Loshchilov and Hutter 2017, "SGDR", equation 5.

    Example:
        >>> schedule = CosineAnnealingWarmRestarts(SGD([Tensor([1.0])], lr=1.0), T_0=2)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    T_0: int
    T_mult: int = 1
    eta_min: float = 0.0

    def _rate(self, base: float, step: int) -> float:
        period = self.T_0
        if self.T_mult == 1:
            step %= period
        while step >= period:
            step -= period
            period *= self.T_mult
        return cosine(base, self.eta_min, step / period)


@dataclass(eq=False, repr=False)
class LambdaLR(LRScheduler):
    """Multiply the rates by a function of the number of the step.

    Args:
        lr_lambda: the function, of all groups or of each. It is no part of the state.

    Raises:
        ArgumentError: there is not a function for each group, or one gives no number of 0 or more.

    Example:
        >>> schedule = LambdaLR(SGD([Tensor([1.0])], lr=1.0), lambda step: 1 / (1 + step))
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.3333333333333333]
    """

    lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]

    def __post_init__(self) -> None:
        """Find a function for each group."""
        count = len(self.groups)
        given: Any = self.lr_lambda
        self._factors = [given] * count if callable(given) else list(given)
        if len(self._factors) != count or not all(map(callable, self._factors)):
            raise ArgumentError(
                f"{type(self).__name__}: lr_lambda={given!r:.60}: pass a function, or {count} of them, "
                "one for each group."
            )
        super().__post_init__()

    def _rates(self, step: int) -> list[float]:
        factors: list[Any] = [factor(step) for factor in self._factors]
        check_numbers(self, NOT_NEGATIVE, **{f"lr_lambda[{i}]({step})": x for i, x in enumerate(factors)})
        return [base * factor for base, factor in zip(self._base_rates, factors, strict=True)]
