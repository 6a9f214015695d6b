"""Learning rates that follow the number of steps, or a loss.

A schedule sets the learning rate tensors of an optimizer's groups, which jitted steps read: call its `step()`
outside of the jitted function. Rates are computed from the step's number and the rates at the start, not from
those of the step before.
"""

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from plugrad.errors import ArgumentError, StateError
from plugrad.nn.optim import Optimizer, ParamGroup
from plugrad.tensor import Tensor

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

# state is the host's own, in numbers as wide as Python's
_HOST = "PYTHON"


class LRScheduler:
    """What schedules share: the count of steps, and setting the rates. The first rates are set at once.

    Args:
        optimizer: whose learning rates are set. The rates that it has when its first schedule is made are
            those that all of its schedules start from.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> schedule = StepLR(SGD([w], lr=0.5), step_size=1)
        >>> isinstance(schedule, LRScheduler), schedule.rates(1)
        (True, [0.05])
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._groups = optimizer.param_groups
        self._base_rates = [_initial_rate(group) for group in self._groups]
        self._step = 0
        self._set_rates()

    def step(self) -> None:
        """Count a step and set the learning rates.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> StepLR(optimizer, step_size=1, gamma=0.5).step()
            >>> optimizer.lr.item()
            0.25
        """
        self._step += 1
        self._set_rates()

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Example:
            >>> StepLR(SGD([Tensor([1.0])], lr=0.5), step_size=1, gamma=0.5).rates(2)
            [0.125]
        """
        return [self._rate(base, step) for base in self._base_rates]

    def _rate(self, base: float, step: int) -> float:
        """Return the learning rate after `step` steps of a group that started at `base`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """Return the learning rate of each group as it was set last.

        Example:
            >>> StepLR(SGD([Tensor([1.0])], lr=0.5), step_size=1).get_last_lr()
            [0.5]
        """
        return self.rates(self._step)

    def _set_rates(self) -> None:
        _set(self._groups, self.rates(self._step))

    def state_dict(self) -> dict[str, Tensor]:
        """Return the count and the rates at the start, for `safe_save`.

        Example:
            >>> list(StepLR(SGD([Tensor([1.0])]), step_size=1).state_dict())
            ['step', 'base_lrs']
        """
        return {
            "step": Tensor([self._step], dtype="int64", device=_HOST),
            "base_lrs": Tensor(self._base_rates, dtype="float64", device=_HOST),
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on where the schedule that `state` is from stood.

        Raises:
            StateError: the names are not those of `state_dict()`, or it has another number of groups.

        Example:
            >>> first, second = (StepLR(SGD([Tensor([1.0])], lr=0.5), 1, gamma=0.5) for _ in range(2))
            >>> first.step()
            >>> second.load_state_dict(first.state_dict())
            >>> second.get_last_lr()
            [0.25]
        """
        _check_state(self, state)
        self._step = int(state["step"].tolist()[0])
        self._base_rates = list(state["base_lrs"].tolist())
        self._set_rates()


def _initial_rate(group: ParamGroup) -> float:
    first = group.initial_rate
    if first is None:
        first = group.initial_rate = float(group.lr) if group.rate is None else group.rate
    return first


def _set(groups: Sequence[ParamGroup], rates: Sequence[float]) -> None:
    for group, rate in zip(groups, rates, strict=True):
        if group.rate != rate:
            group.lr = rate


def _check_state(schedule: "LRScheduler | ReduceLROnPlateau", state: Mapping[str, Tensor]) -> None:
    own = schedule.state_dict()
    if own.keys() != state.keys() or any(own[name].shape != state[name].shape for name in own):
        raise StateError(
            f"the state does not fit this {type(schedule).__name__}: it has {', '.join(state)}, not "
            f"{', '.join(own)}, or is that of another number of groups."
        )


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ArgumentError(f"a schedule with {what}.")


class StepLR(LRScheduler):
    """Multiply the rates by `gamma` each `step_size` steps.

    Args:
        optimizer: whose learning rates are set.
        step_size: steps from one change to the next.
        gamma: the factor.

    Raises:
        ArgumentError: `step_size` is not above 0.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
        >>> schedule = StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(2):
        ...     schedule.step()
        >>> optimizer.lr.item()
        0.25
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        _check(step_size > 0, f"step_size={step_size}: pass a number above 0")
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

    Example:
        >>> schedule = MultiStepLR(SGD([Tensor([1.0])], lr=0.5), [2, 3], gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self._milestones = sorted(milestones)
        self._gamma = gamma
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._gamma ** bisect.bisect_right(self._milestones, step)


class LinearLR(LRScheduler):
    """Go from one factor of the rates to another in equal steps: a warm-up, as the factors stand.

    Args:
        optimizer: whose learning rates are set.
        start_factor: of the rates at first.
        end_factor: of the rates from `total_iters` on.
        total_iters: how many steps that takes.

    Raises:
        ArgumentError: `start_factor` is not above 0 and up to 1, `end_factor` not from 0 to 1, or
            `total_iters` not above 0.

    Example:
        >>> schedule = LinearLR(SGD([Tensor([1.0])], lr=1.0), start_factor=0.25, total_iters=3)
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.25, 0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        _check(0 < start_factor <= 1, f"start_factor={start_factor}: pass a number above 0, up to 1")
        _check(0 <= end_factor <= 1, f"end_factor={end_factor}: pass a number from 0 to 1")
        _check(total_iters > 0, f"total_iters={total_iters}: pass a number above 0")
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
        ArgumentError: `factor` is not from 0 to 1, or `total_iters` not above 0.

    Example:
        >>> schedule = ConstantLR(SGD([Tensor([1.0])], lr=1.0), factor=0.5, total_iters=2)
        >>> [schedule.rates(step)[0] for step in range(4)]
        [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5) -> None:
        _check(0 <= factor <= 1, f"factor={factor}: pass a number from 0 to 1")
        _check(total_iters > 0, f"total_iters={total_iters}: pass a number above 0")
        self._factor = factor
        self._total = total_iters
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._factor if step < self._total else base


class ExponentialLR(LRScheduler):
    """Multiply the rates by `gamma` at each step.

    Args:
        optimizer: whose learning rates are set.
        gamma: the factor.

    Example:
        >>> schedule = ExponentialLR(SGD([Tensor([1.0])], lr=1.0), gamma=0.5)
        >>> [schedule.rates(step)[0] for step in range(3)]
        [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self._gamma = gamma
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * self._gamma**step


class PolynomialLR(LRScheduler):
    """Lower the rates to 0 along a power of the steps that are left.

    Args:
        optimizer: whose learning rates are set.
        total_iters: how many steps that takes.
        power: the power; 1 is a straight line.

    Raises:
        ArgumentError: `total_iters` is not above 0.

    Example:
        >>> schedule = PolynomialLR(SGD([Tensor([1.0])], lr=1.0), total_iters=4)
        >>> [schedule.rates(step)[0] for step in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0) -> None:
        _check(total_iters > 0, f"total_iters={total_iters}: pass a number above 0")
        self._total = total_iters
        self._power = power
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return base * (1 - min(step, self._total) / self._total) ** self._power


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
        _check(len(self._factors) == count, f"{len(self._factors)} functions, for {count} groups")
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Example:
            >>> LambdaLR(SGD([Tensor([1.0])], lr=0.5), lambda step: 1 / (step + 1)).rates(1)
            [0.25]
        """
        return [base * factor(step) for base, factor in zip(self._base_rates, self._factors, strict=True)]


def _cosine(start: float, end: float, part: float) -> float:
    """Return what is `part` of the way from `start` to `end`, along half a wave."""
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


def _line(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


class CosineAnnealingLR(LRScheduler):
    """Lower the rates to `eta_min` along half a wave of a cosine, and back up.

    Args:
        optimizer: whose learning rates are set.
        T_max: steps of half a wave.
        eta_min: the lowest rate.

    Raises:
        ArgumentError: `T_max` is not above 0.

    Source: Loshchilov and Hutter 2017, "SGDR", equation 5, without restarts.

    Example:
        >>> schedule = CosineAnnealingLR(SGD([Tensor([1.0])], lr=1.0), T_max=4)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [1.0, 0.854, 0.5, 0.146, 0.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        _check(T_max > 0, f"T_max={T_max}: pass a number above 0")
        self._period = T_max
        self._lowest = eta_min
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        return _cosine(base, self._lowest, step / self._period)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rates to `eta_min` along half a wave of a cosine, again and again from the top.

    Args:
        optimizer: whose learning rates are set.
        T_0: steps until the first restart.
        T_mult: each period is this many times as long as the one before.
        eta_min: the lowest rate.

    Raises:
        ArgumentError: `T_0` or `T_mult` is below 1.

    Source: Loshchilov and Hutter 2017, "SGDR", equation 5.

    Example:
        >>> schedule = CosineAnnealingWarmRestarts(SGD([Tensor([1.0])], lr=1.0), T_0=2)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
    ) -> None:
        _check(T_0 >= 1, f"T_0={T_0}: pass a number that is 1 or more")
        _check(T_mult >= 1, f"T_mult={T_mult}: pass a number that is 1 or more")
        self._period = T_0
        self._growth = T_mult
        self._lowest = eta_min
        super().__init__(optimizer)

    def _rate(self, base: float, step: int) -> float:
        period = self._period
        while step >= period:
            step -= period
            period *= self._growth
        return _cosine(base, self._lowest, step / period)


def _of_each(value: float | Sequence[float], count: int, what: str) -> list[float]:
    found = [float(value)] * count if isinstance(value, (int, float)) else list(value)
    _check(len(found) == count, f"{len(found)} {what}, for {count} groups")
    return found


# a step, the factor of the rate there, and how far the momentum is from the highest to the lowest
_Corner = tuple[float, float, float]


class OneCycleLR(LRScheduler):
    """Raise the rates from low to `max_lr` and lower them to far below, in a fixed number of steps.

    The momentum (the first of Adam's betas) goes the other way: from high to low and back. Make the schedule
    before a jitted step is recorded, so that the step reads it.

    Args:
        optimizer: whose learning rates are set.
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
        ArgumentError: a number is out of range, or the optimizer has no momentum to cycle; in `step()`: there
            were `total_steps` before.

    Source: Smith and Topin 2018, "Super-Convergence", in the form that `torch.optim.lr_scheduler.OneCycleLR`
    documents.

    Example:
        >>> schedule = OneCycleLR(SGD([Tensor([1.0])]), 1.0, total_steps=5, pct_start=0.6)
        >>> [round(schedule.rates(step)[0], 3) for step in range(5)]
        [0.04, 0.52, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        if total_steps is None:
            _check(
                epochs is not None and steps_per_epoch is not None, "no total_steps: pass how many there are"
            )
            total_steps = (epochs or 0) * (steps_per_epoch or 0)
        _check(total_steps > 0, f"total_steps={total_steps}: pass a number above 0")
        _check(0 <= pct_start <= 1, f"pct_start={pct_start}: pass a number from 0 to 1")
        _check(
            anneal_strategy in ("cos", "linear"),
            f"anneal_strategy={anneal_strategy!r}: pass 'cos' or 'linear'",
        )
        _check(div_factor > 0, f"div_factor={div_factor}: pass a number above 0")
        _check(final_div_factor > 0, f"final_div_factor={final_div_factor}: pass a number above 0")
        count = len(optimizer.param_groups)
        self._highest = _of_each(max_lr, count, "rates in max_lr")
        lowest = _of_each(base_momentum, count, "numbers in base_momentum")
        highest = _of_each(max_momentum, count, "numbers in max_momentum")
        self._momenta = list(zip(lowest, highest, strict=True)) if cycle_momentum else []
        if cycle_momentum:
            for low, high in self._momenta:
                _check(0 <= low <= high < 1, f"momentum from {low} to {high}: pass numbers from 0 to below 1")
            optimizer.vary_momentum()
        self._total = total_steps
        self._between = _cosine if anneal_strategy == "cos" else _line
        # from each of these steps to the next, a phase: the factors of the highest rate there, and how far
        # the momentum is from the highest to the lowest
        first, last = 1 / div_factor, 1 / div_factor / final_div_factor
        rising = pct_start * total_steps
        back = [(2 * rising - 2, first, 0.0)] if three_phase else []
        self._phases = [(0.0, first, 0.0), (rising - 1, 1.0, 1.0), *back, (total_steps - 1, last, 0.0)]
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Raises:
            ArgumentError: there are fewer steps in all.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], momentum=0.9)
            >>> OneCycleLR(optimizer, max_lr=0.5, total_steps=10, pct_start=0.4).rates(3)
            [0.5]
        """
        if step >= self._total:
            raise ArgumentError(
                f"step {step} of a cycle of {self._total}, counted from 0. Pass a larger total_steps."
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
        """Return where the phase of a step begins and ends, and what part of it has passed."""
        for begin, end in zip(self._phases, self._phases[1:], strict=False):
            if step <= end[0]:
                return begin, end, (step - begin[0]) / (end[0] - begin[0]) if end[0] > begin[0] else 1.0
        return self._phases[-1], self._phases[-1], 1.0

    def _set_rates(self) -> None:
        super()._set_rates()
        for group, momentum in zip(self._groups, self.momenta(self._step), strict=False):
            if "betas" in group.options:
                group["betas"] = (momentum, group.options["betas"][1])
            else:
                group["momentum"] = momentum


class SequentialLR(LRScheduler):
    """Follow one schedule after the other.

    Args:
        optimizer: whose learning rates are set.
        schedulers: schedules of the same optimizer; each counts from 0 when its turn comes.
        milestones: the steps at which the second, third, ... takes over.

    Raises:
        ArgumentError: there is not one milestone fewer than schedules, or they do not rise.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
        >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
        >>> schedule = SequentialLR(optimizer, [warmup, decay], [2])
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]
    ) -> None:
        _check(
            len(milestones) == len(schedulers) - 1,
            f"{len(milestones)} milestones for {len(schedulers)} schedules: pass one fewer than schedules",
        )
        _check(list(milestones) == sorted(set(milestones)), f"milestones={list(milestones)}: let them rise")
        self._schedules = list(schedulers)
        self._milestones = list(milestones)
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """Return the learning rate of each group after `step` steps.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
            >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
            >>> SequentialLR(optimizer, [warmup, decay], [2]).rates(3)
            [0.5]
        """
        turn = bisect.bisect_right(self._milestones, step)
        return self._schedules[turn].rates(step - (self._milestones[turn - 1] if turn else 0))


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
        _check(mode in ("min", "max"), f"mode={mode!r}: pass 'min' or 'max'")
        _check(0 <= factor < 1, f"factor={factor}: pass a number below 1")
        _check(threshold_mode in ("rel", "abs"), f"threshold_mode={threshold_mode!r}: pass 'rel' or 'abs'")
        self._groups = optimizer.param_groups
        count = len(self._groups)
        self._lowest = _of_each(min_lr, count, "rates in min_lr")
        self._rates = [_initial_rate(group) for group in self._groups]
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
        _set(self._groups, self._rates)

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
            "lrs": Tensor(self._rates, dtype="float64", device=_HOST),
            "best": Tensor([self._best], dtype="float64", device=_HOST),
            "counts": Tensor([self._bad_steps, self._resting], dtype="int64", device=_HOST),
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
        _check_state(self, state)
        self._rates = list(state["lrs"].tolist())
        (self._best,) = state["best"].tolist()
        self._bad_steps, self._resting = state["counts"].tolist()
        _set(self._groups, self._rates)
