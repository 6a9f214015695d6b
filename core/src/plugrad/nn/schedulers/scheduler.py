"""The base of schedules, and one schedule after the other."""

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plugrad.errors import ArgumentError, StateError
from plugrad.nn.checks import NOT_NEGATIVE, check_counts, check_fields, check_numbers, check_state
from plugrad.nn.optim import Optimizer, OptimizerGroup, ParamGroup
from plugrad.tensor import Tensor

# state is the host's own, in numbers as wide as Python's
HOST = "PYTHON"


def initial_rate(group: ParamGroup) -> float:
    """Return the rate that all schedules of a group start from."""
    first = group.initial_rate
    if first is None:
        first = group.initial_rate = float(group.lr) if group.rate is None else group.rate
    return first


def set_rates(schedule: object, groups: Sequence[ParamGroup], rates: Sequence[float]) -> None:
    """Set the rate of each group, where it is another one.

    Raises:
        ArgumentError: a rate is negative or NaN.
        StateError: there are groups that `schedule` was not made for.
    """
    if len(groups) != len(rates):
        raise StateError(
            f"{type(schedule).__name__}: it was made for {len(rates)} groups of an optimizer that has "
            f"{len(groups)} now. Make schedules after add_param_group()."
        )
    for group, rate in zip(groups, rates, strict=True):
        if group.rate != rate:
            group.lr = rate


def counts_of(schedule: object, **values: Any) -> list[int]:
    """Return the items of a setting that is several integers of 0 and more."""
    ((name, value),) = values.items()
    for each in value:
        check_counts(schedule, 0, **{name: each})
    return list(value)


@dataclass(eq=False, repr=False)
class LRScheduler:
    """The base of schedules, which counts steps and sets the rates, the first at once.

    A subclass is a dataclass of its settings, and has the formula of the rate.

    Args:
        optimizer: whose learning rates are set. The rates that it has when its first schedule is made are
            those that all of its schedules start from. Its groups are those that it has then.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> schedule = StepLR(SGD([w], lr=0.5), step_size=1)
        >>> isinstance(schedule, LRScheduler), schedule.rates(1)
        (True, [0.05])
    """

    #: the least integer or the `Range` of settings, for `check_fields`
    ranges: ClassVar[Mapping[str, Any]] = {}

    optimizer: Optimizer | OptimizerGroup

    def __post_init__(self) -> None:
        """Check the settings and set the first rates."""
        check_fields(self, self.ranges)
        self._base_rates = [initial_rate(group) for group in self.groups]
        self._step = 0
        self._set_rates()

    @property
    def groups(self) -> list[ParamGroup]:
        """The groups whose rates are set.

        Example:
            >>> optimizer = SGD([Tensor([1.0])])
            >>> StepLR(optimizer, step_size=1).groups == optimizer.param_groups
            True
        """
        return self.optimizer.param_groups

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

        Raises:
            ArgumentError: `step` is no integer of 0 or more, or one that the schedule has no rate for.

        Example:
            >>> StepLR(SGD([Tensor([1.0])], lr=0.5), step_size=1, gamma=0.5).rates(2)
            [0.125]
        """
        check_counts(self, 0, step=step)
        return self._rates(step)

    def _rates(self, step: int) -> list[float]:
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
        set_rates(self, self.groups, self.rates(self._step))

    def state_dict(self) -> dict[str, Tensor]:
        """Return the count and the rates at the start, for `safe_save`.

        Example:
            >>> list(StepLR(SGD([Tensor([1.0])]), step_size=1).state_dict())
            ['step', 'base_lrs']
        """
        return {
            "step": Tensor([self._step], dtype="int64", device=HOST),
            "base_lrs": Tensor(self._base_rates, dtype="float64", device=HOST),
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on where the schedule that `state` is from stood.

        Raises:
            StateError: the names are not those of `state_dict()`.
            ShapeError: it has another number of groups.
            ArgumentError: the count or a rate in it is none.

        Example:
            >>> first, second = (StepLR(SGD([Tensor([1.0])], lr=0.5), 1, gamma=0.5) for _ in range(2))
            >>> first.step()
            >>> second.load_state_dict(first.state_dict())
            >>> second.get_last_lr()
            [0.25]
        """
        check_state(self, self.state_dict(), state)
        (step,) = state["step"].tolist()
        rates: list[float] = state["base_lrs"].tolist()
        check_counts(self, 0, step=step)
        check_numbers(self, NOT_NEGATIVE, **{f"base_lrs[{i}]": rate for i, rate in enumerate(rates)})
        self._step, self._base_rates = step, rates
        self._set_rates()


@dataclass(eq=False, repr=False)
class SequentialLR(LRScheduler):
    """Follow one schedule after the other.

    Args:
        schedulers: schedules of the same optimizer; each counts from 0 when its turn comes.
        milestones: the steps at which the second, third, ... takes over.

    Raises:
        ArgumentError: there is not one milestone fewer than schedules, they do not rise, or a schedule is
            that of another optimizer.

    Example:
        >>> optimizer = SGD([Tensor([1.0])], lr=1.0)
        >>> warmup, decay = LinearLR(optimizer, 0.5, total_iters=2), StepLR(optimizer, 1, 0.5)
        >>> schedule = SequentialLR(optimizer, [warmup, decay], [2])
        >>> [schedule.rates(step)[0] for step in range(5)]
        [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    schedulers: Sequence[LRScheduler]
    milestones: Sequence[int]

    def __post_init__(self) -> None:
        """Refuse schedules that cannot take turns."""
        self._milestones = counts_of(self, milestones=self.milestones)
        for each in self.schedulers:
            if each.groups != self.groups:
                raise ArgumentError(f"SequentialLR: {each!r:.60} sets the rates of another optimizer.")
        if len(self._milestones) != len(self.schedulers) - 1:
            raise ArgumentError(
                f"SequentialLR: milestones={self.milestones} for {len(self.schedulers)} schedules. Pass one "
                "fewer than schedules."
            )
        if self._milestones != sorted(set(self._milestones)):
            raise ArgumentError(f"SequentialLR: milestones={self.milestones}. Let them rise.")
        super().__post_init__()

    def _rates(self, step: int) -> list[float]:
        turn = bisect.bisect_right(self._milestones, step)
        return self.schedulers[turn].rates(step - (self._milestones[turn - 1] if turn else 0))
