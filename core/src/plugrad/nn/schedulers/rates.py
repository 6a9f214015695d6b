"""Learning rates of groups, and checks of the settings of their schedules."""

from collections.abc import Sequence
from typing import Any

from plugrad.errors import StateError
from plugrad.nn.checks import check_counts
from plugrad.nn.optim import ParamGroup

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
