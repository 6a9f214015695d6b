"""Rates that a function gives."""

from collections.abc import Callable, Sequence
from typing import Any

from plugrad.errors import ArgumentError
from plugrad.nn.checks import NOT_NEGATIVE, check_counts, check_numbers
from plugrad.nn.optim import Optimizer, OptimizerGroup
from plugrad.nn.schedulers.rates import groups_of, list_of
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["LambdaLR"]


class LambdaLR(LRScheduler):
    """Multiply the rates by what a function gives for the number of the step.

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
