"""Rates that fall when a measure has not become better for a while."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from plugrad.errors import ArgumentError
from plugrad.nn.checks import BELOW_ONE, NOT_NEGATIVE, check_fields, check_state, numbers_of
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.scheduler import HOST, initial_rate, set_rates
from plugrad.tensor import Tensor


def _measure(metrics: Any) -> float:
    is_tensor = isinstance(metrics, Tensor) and metrics.numel() == 1
    if is_tensor or (not isinstance(metrics, bool) and isinstance(metrics, Real)):
        return float(metrics)
    raise ArgumentError(f"ReduceLROnPlateau.step: metrics={metrics!r:.60}: pass a number.")


@dataclass(eq=False, repr=False)
class ReduceLROnPlateau:
    """Multiply the rates by `factor` when a measure has not become better for a while.

    Args:
        mode: "min" where lower is better, "max" where higher is.
        factor: the factor, below 1.
        patience: how many steps without an improvement are waited for.
        threshold: how much better is better.
        threshold_mode: "rel" for `threshold` as part of the best, "abs" for a difference. Of a negative best
            as well: PyTorch then takes measures that are as good, or slightly worse, for better ones.
        cooldown: steps after a change that do not count.
        min_lr: the lowest rate, of all groups or of each.
        eps: changes of less than this are not made.

    Raises:
        ArgumentError: a number or a mode is out of range.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
        >>> schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        >>> for loss in (3.0, 2.0, 2.0, 2.0):
        ...     schedule.step(loss)
        >>> optimizer.lr.item()
        0.25
    """

    optimizer: Optimizer | OptimizerGroup
    mode: Literal["min", "max"] = "min"
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    threshold_mode: Literal["rel", "abs"] = "rel"
    cooldown: int = 0
    min_lr: float | Sequence[float] = 0.0
    eps: float = 1e-8

    def __post_init__(self) -> None:
        """Check the settings; there is no best measure yet."""
        check_fields(self, {"factor": BELOW_ONE, "patience": 0, "cooldown": 0})
        groups = self.optimizer.param_groups
        self._lowest = numbers_of(self, len(groups), NOT_NEGATIVE, min_lr=self.min_lr)
        self._rates = [initial_rate(group) for group in groups]
        self._sign = 1 if self.mode == "min" else -1
        self._best = self._sign * math.inf
        self._bad_steps = 0
        self._resting = 0

    def step(self, metrics: float | Tensor) -> None:
        """Take note of the measure of one more step, and set the learning rates.

        Raises:
            ArgumentError: `metrics` is neither a number nor a tensor of one element.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
            >>> schedule.step(3.0)
            >>> schedule.step(3.0)
            >>> optimizer.lr.item()
            0.25
        """
        measure = _measure(metrics)
        if self._is_better(measure):
            self._best, self._bad_steps = measure, 0
        else:
            self._bad_steps += 1
        if self._resting:
            self._resting -= 1
            self._bad_steps = 0
        if self._bad_steps > self.patience:
            self._reduce()
            self._resting, self._bad_steps = self.cooldown, 0

    def _is_better(self, measure: float) -> bool:
        # the sign turns what is to grow into what is to shrink
        best, found = self._sign * self._best, self._sign * measure
        if math.isinf(best):
            return found < best
        return found < best - self.threshold * (abs(best) if self.threshold_mode == "rel" else 1)

    def _reduce(self) -> None:
        for index, rate in enumerate(self._rates):
            new = max(rate * self.factor, self._lowest[index])
            if rate - new > self.eps:
                self._rates[index] = new
        set_rates(self, self.optimizer.param_groups, self._rates)

    def get_last_lr(self) -> list[float]:
        """Return the learning rate of each group as it was set last.

        Example:
            >>> ReduceLROnPlateau(SGD([Tensor([1.0])], lr=0.5)).get_last_lr()
            [0.5]
        """
        return list(self._rates)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the rates, the best measure and the counts, for `safe_save`.

        Example:
            >>> schedule = ReduceLROnPlateau(SGD([Tensor([1.0])]))
            >>> schedule.step(3.0)
            >>> schedule.state_dict()["best"].item()
            3.0
        """
        return {
            "lrs": Tensor(self._rates, dtype="float64", device=HOST),
            "best": Tensor([self._best], dtype="float64", device=HOST),
            "counts": Tensor([self._bad_steps, self._resting], dtype="int64", device=HOST),
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on where the schedule that `state` is from stood.

        Raises:
            StateError: the names are not those of `state_dict()`.
            ShapeError: it has another number of groups.
            ArgumentError: a rate in it is none.

        Example:
            >>> first, second = (ReduceLROnPlateau(SGD([Tensor([1.0])])) for _ in range(2))
            >>> first.step(3.0)
            >>> second.load_state_dict(first.state_dict())
            >>> second.state_dict()["best"].item()
            3.0
        """
        check_state(self, self.state_dict(), state)
        rates: list[float] = state["lrs"].tolist()
        ((best,), counts) = state["best"].tolist(), state["counts"].tolist()
        set_rates(self, self.optimizer.param_groups, rates)
        self._rates, self._best = rates, best
        self._bad_steps, self._resting = map(int, counts)
