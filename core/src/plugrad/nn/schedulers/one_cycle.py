"""Rates that rise once and fall once, with the momentum against them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from plugrad.errors import ArgumentError
from plugrad.nn.checks import (
    ABOVE_ZERO,
    BELOW_ONE,
    NOT_NEGATIVE,
    SHARE,
    check_counts,
    check_fields,
    numbers_of,
)
from plugrad.nn.schedulers.closed_form import cosine
from plugrad.nn.schedulers.scheduler import LRScheduler

_NAME = "OneCycleLR"


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        check_counts(_NAME, 1, total_steps=total_steps)
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ArgumentError(
            f"{_NAME}: no total_steps. Pass how many there are, or epochs and steps_per_epoch."
        )
    check_counts(_NAME, 1, epochs=epochs, steps_per_epoch=steps_per_epoch)
    return epochs * steps_per_epoch


def _line(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


# a step, the factor of the rate there, and how far the momentum is from the highest to the lowest
_Corner = tuple[float, float, float]


@dataclass(eq=False, repr=False)
class OneCycleLR(LRScheduler):
    """Raise the rates to `max_lr` and lower them, in a fixed number of steps.

    The momentum (the first of Adam's betas) goes the other way: from high to low and back. Make the schedule
    before a jitted step is recorded, so that the step reads it.

    Args:
        max_lr: the highest rate, of all groups or of each.
        total_steps: how many steps there will be; or
        epochs: how many epochs, with
        steps_per_epoch: how many steps each has.
        pct_start: part of them that rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: move the momentum as well.
        base_momentum: the lowest momentum, of all groups or of each.
        max_momentum: the highest momentum, of all groups or of each.
        div_factor: the first rate is `max_lr` divided by this.
        final_div_factor: the last rate is the first divided by this.
        three_phase: go back to the first rate as slowly as up, and then to the last one.

    Raises:
        ArgumentError: a number is out of range, or the optimizer has no momentum to cycle; in `step()` and
            `rates()`: there are fewer steps.

    Source: Smith and Topin 2018, "Super-Convergence", in the form that `torch.optim.lr_scheduler.OneCycleLR`
    documents. A loop of `total_steps` batches may end each with `step()`; the last of them changes nothing,
    where torch goes a step beyond the last rate.

    Example:
        >>> schedule = OneCycleLR(SGD([Tensor([1.0])]), 1.0, total_steps=5, pct_start=0.6)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [0.04, 0.52, 1.0, 0.5, 0.0]
    """

    ranges: ClassVar = {"pct_start": SHARE, "div_factor": ABOVE_ZERO, "final_div_factor": ABOVE_ZERO}

    max_lr: float | Sequence[float]
    total_steps: int | None = None
    epochs: int | None = None
    steps_per_epoch: int | None = None
    pct_start: float = 0.3
    anneal_strategy: Literal["cos", "linear"] = "cos"
    cycle_momentum: bool = True
    base_momentum: float | Sequence[float] = 0.85
    max_momentum: float | Sequence[float] = 0.95
    div_factor: float = 25.0
    final_div_factor: float = 1e4
    three_phase: bool = False

    def __post_init__(self) -> None:
        """Divide the steps into phases."""
        check_fields(self, self.ranges)
        count = len(self.groups)
        self._total = _total(self.total_steps, self.epochs, self.steps_per_epoch)
        self._highest = numbers_of(self, count, NOT_NEGATIVE, max_lr=self.max_lr)
        lowest = numbers_of(self, count, BELOW_ONE, base_momentum=self.base_momentum)
        highest = numbers_of(self, count, BELOW_ONE, max_momentum=self.max_momentum)
        self._momenta = list(zip(lowest, highest, strict=True)) if self.cycle_momentum else []
        for low, high in self._momenta:
            if low > high:
                raise ArgumentError(f"{_NAME}: base_momentum={low} is above max_momentum={high}.")
        if self.cycle_momentum:
            self.optimizer.vary_momentum()
        self._between = cosine if self.anneal_strategy == "cos" else _line
        # from each of these steps to the next, a phase: the factors of the highest rate there, and how far
        # the momentum is from the highest to the lowest
        first = 1 / self.div_factor
        last, rising = first / self.final_div_factor, self.pct_start * self._total
        back = [(2 * rising - 2, first, 0.0)] if self.three_phase else []
        self._phases = [(0.0, first, 0.0), (rising - 1, 1.0, 1.0), *back, (self._total - 1, last, 0.0)]
        super().__post_init__()

    def _rates(self, step: int) -> list[float]:
        # after the last batch there may be a step as after all others
        if step > self._total:
            raise ArgumentError(
                f"{_NAME}: step {step} of a cycle of {self._total}. Pass a larger total_steps."
            )
        return [self._rate(highest, step) for highest in self._highest]

    def _rate(self, base: float, step: int) -> float:
        (_, start, _), (_, target, _), part = self._phase(step)
        return base * self._between(start, target, part)

    def momenta(self, step: int) -> list[float]:
        """Return the momentum of each group after `step` steps; nothing if it is not cycled.

        Example:
            >>> schedule = OneCycleLR(SGD([Tensor([1.0])]), 1.0, total_steps=5, pct_start=0.6)
            >>> [round(schedule.momenta(step)[0], 3) for step in range(5)]
            [0.95, 0.9, 0.85, 0.9, 0.95]
        """
        (_, _, start), (_, _, target), part = self._phase(step)
        return [
            self._between(high + (low - high) * start, high + (low - high) * target, part)
            for low, high in self._momenta
        ]

    def _phase(self, step: int) -> tuple[_Corner, _Corner, float]:
        """Return both ends of a step's phase, and the part of it that has passed."""
        step = min(step, self._total - 1)
        for begin, end in zip(self._phases, self._phases[1:], strict=False):
            if step <= end[0]:
                return begin, end, (step - begin[0]) / (end[0] - begin[0]) if end[0] > begin[0] else 1.0
        return self._phases[-1], self._phases[-1], 1.0

    def _set_rates(self) -> None:
        super()._set_rates()
        for group, momentum in zip(self.groups, self.momenta(self._step), strict=False):
            if "betas" in group.options:
                group["betas"] = (momentum, group.options["betas"][1])
            else:
                group["momentum"] = momentum
