"""Rates that a function gives."""

from collections.abc import Callable, Sequence

from plugrad.nn.optim import Optimizer
from plugrad.nn.schedulers.rates import check
from plugrad.nn.schedulers.scheduler import LRScheduler

__all__ = ["LambdaLR"]


class LambdaLR(LRScheduler):
    """Multiply the rates by what a function gives for the number of the step.

    Args:
        optimizer: whose learning rates are set.
        lr_lambda: the function, of all groups or of each. It is no part of the state.

    Raises:
        ArgumentError: there is not a function for each group.

    Example:
        >>> schedule = LambdaLR(SGD([Tensor([1.0])], lr=1.0), lambda step: 1 / (1 + step))
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.3333333333333333]
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: "Callable[[int], float] | Sequence[Callable[[int], float]]"
    ) -> None:
        count = len(optimizer.param_groups)
        self._factors = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        check(len(self._factors) == count, f"{len(self._factors)} functions, for {count} groups")
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Example:
            >>> LambdaLR(SGD([Tensor([1.0])], lr=0.5), lambda step: 1 / (step + 1)).rates(1)
            [0.25]
        """
        return [base * factor(step) for base, factor in zip(self._base_rates, self._factors, strict=True)]
