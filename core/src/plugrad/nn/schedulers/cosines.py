"""Rates along the wave of a cosine."""

import math

from plugrad.nn.checks import NOT_NEGATIVE, check_counts, check_numbers
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "cosine"]


def cosine(start: float, end: float, part: float) -> float:
    """Return what is `part` of the way from `start` to `end`, along half a wave."""
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


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
    """Lower the rates to `eta_min` along half a wave of a cosine, again and again from the top.

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
