"""Rates that fall when a measure has not become better for a while."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from plugrad.nn.optim import Optimizer
from plugrad.nn.schedulers.rates import HOST, check, check_state, initial_rate, of_each, set_rates
from plugrad.tensor import Tensor

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau:
    """Multiply the rates by `factor` when a measure has not become better for a while.

    Args:
        optimizer: whose learning rates are set.
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

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        check(mode in ("min", "max"), f"mode={mode!r}: pass 'min' or 'max'")
        check(0 <= factor < 1, f"factor={factor}: pass a number below 1")
        check(threshold_mode in ("rel", "abs"), f"threshold_mode={threshold_mode!r}: pass 'rel' or 'abs'")
        self._groups = optimizer.param_groups
        count = len(self._groups)
        self._lowest = of_each(min_lr, count, "rates in min_lr")
        self._rates = [initial_rate(group) for group in self._groups]
        self._sign = 1 if mode == "min" else -1
        self._factor = factor
        self._patience = patience
        self._threshold = threshold
        self._is_relative = threshold_mode == "rel"
        self._cooldown = cooldown
        self._eps = eps
        self._best = self._sign * math.inf
        self._bad_steps = 0
        self._resting = 0

    def step(self, metrics: float | Tensor) -> None:
        """Take note of the measure of one more step, and set the learning rates.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
            >>> schedule.step(3.0)
            >>> schedule.step(3.0)
            >>> optimizer.lr.item()
            0.25
        """
        measure = float(metrics)
        if self._is_better(measure):
            self._best, self._bad_steps = measure, 0
        else:
            self._bad_steps += 1
        if self._resting:
            self._resting -= 1
            self._bad_steps = 0
        if self._bad_steps > self._patience:
            self._reduce()
            self._resting, self._bad_steps = self._cooldown, 0

    def _is_better(self, measure: float) -> bool:
        # the sign turns what is to grow into what is to shrink
        best, found = self._sign * self._best, self._sign * measure
        if math.isinf(best):
            return found < best
        return found < best - self._threshold * (abs(best) if self._is_relative else 1)

    def _reduce(self) -> None:
        for index, rate in enumerate(self._rates):
            new = max(rate * self._factor, self._lowest[index])
            if rate - new > self._eps:
                self._rates[index] = new
        set_rates(self._groups, self._rates)

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
            StateError: the names are not those of `state_dict()`, or it has another number of groups.

        Example:
            >>> first, second = (ReduceLROnPlateau(SGD([Tensor([1.0])])) for _ in range(2))
            >>> first.step(3.0)
            >>> second.load_state_dict(first.state_dict())
            >>> second.state_dict()["best"].item()
            3.0
        """
        check_state(self, self.state_dict(), state)
        self._rates = list(state["lrs"].tolist())
        (self._best,) = state["best"].tolist()
        self._bad_steps, self._resting = state["counts"].tolist()
        set_rates(self._groups, self._rates)
