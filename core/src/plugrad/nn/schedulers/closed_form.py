"""Rates that are functions of the number of steps."""

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

from plugrad.errors import ArgumentError
from plugrad.nn.checks import NOT_NEGATIVE, SHARE, Range, check_counts, check_numbers
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.rates import counts_of, groups_of, list_of
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "PolynomialLR",
    "StepLR",
    "cosine",
]

_START = Range(0.0, False, 1.0, True, "a number above 0, up to 1")


def cosine(start: float, end: float, part: float) -> float:
    """Interpolate from `start` to `end` along half a cosine wave."""
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


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


class LinearLR(LRScheduler):
    """Go from one factor of the rates to another in equal steps, as a warm-up.

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


class CosineAnnealingLR(LRScheduler):
    """Lower the rates to `eta_min` along half a wave of a cosine, and back up.

    Args:
        optimizer: whose learning rates are set.
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

    def __init__(self, optimizer: Optimizer | OptimizerGroup, T_max: int, eta_min: float = 0.0) -> None:
        check_counts(self, 1, T_max=T_max)
        check_numbers(self, NOT_NEGATIVE, eta_min=eta_min)
        self._period = T_max
        self._lowest = eta_min
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return cosine(base, self._lowest, step / self._period)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rates to `eta_min` along a cosine, again and again from the top.

    Args:
        optimizer: whose learning rates are set.
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

    def __init__(
        self,
        optimizer: Optimizer | OptimizerGroup,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
    ) -> None:
        check_counts(self, 1, T_0=T_0, T_mult=T_mult)
        check_numbers(self, NOT_NEGATIVE, eta_min=eta_min)
        self._period = T_0
        self._growth = T_mult
        self._lowest = eta_min
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        period = self._period
        if self._growth == 1:
            step %= period
        while step >= period:
            step -= period
            period *= self._growth
        return cosine(base, self._lowest, step / period)


class LambdaLR(LRScheduler):
    """Multiply the rates by a function of the number of the step.

    Args:
        optimizer: whose learning rates are set.
        lr_lambda: the function, of all groups or of each. It is no part of the state.

    Raises:
        ArgumentError: there is not a function for each group, or one gives no number of 0 or more.

    Example:
        >>> schedule = LambdaLR(SGD([Tensor([1.0])], lr=1.0), lambda step: 1 / (1 + step))
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.3333333333333333]
    """

    def __init__(
        self,
        optimizer: Optimizer | OptimizerGroup,
        lr_lambda: "Callable[[int], float] | Sequence[Callable[[int], float]]",
    ) -> None:
        count = len(groups_of(self, optimizer))
        given: Any = lr_lambda
        self._factors = [given] * count if callable(given) else list_of(self, lr_lambda=given)
        if len(self._factors) != count or not all(map(callable, self._factors)):
            raise ArgumentError(
                f"{type(self).__name__}: lr_lambda={lr_lambda!r:.60}: pass a function, or {count} of them, "
                "one for each group."
            )
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Raises:
            ArgumentError: `step` is no integer of 0 or more, or a function gave no number of 0 or more.

        Example:
            >>> LambdaLR(SGD([Tensor([1.0])], lr=0.5), lambda step: 1 / (step + 1)).rates(1)
            [0.25]
        """
        check_counts(self, 0, step=step)
        factors: list[Any] = [factor(step) for factor in self._factors]
        check_numbers(self, NOT_NEGATIVE, **{f"lr_lambda[{i}]({step})": x for i, x in enumerate(factors)})
        return [base * factor for base, factor in zip(self._base_rates, factors, strict=True)]
