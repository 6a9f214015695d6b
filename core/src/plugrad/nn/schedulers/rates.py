"""Learning rates of groups, and checks of the settings of their schedules."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from plugrad.errors import ArgumentError, StateError
from plugrad.nn.checks import check_counts
from plugrad.nn.optim import Optimizer, OptimizerGroup, ParamGroup

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


def groups_of(schedule: object, optimizer: Any) -> list[ParamGroup]:
    """Return the groups of an optimizer, or of several."""
    if not isinstance(optimizer, (Optimizer, OptimizerGroup)):
        raise ArgumentError(
            f"{type(schedule).__name__}: optimizer={optimizer!r:.60} ({type(optimizer).__name__}) is none. "
            "Pass one first, such as SGD(get_parameters(model))."
        )
    return optimizer.param_groups


def list_of(schedule: object, **values: Any) -> list[Any]:
    """Return the items of a setting that is several."""
    ((name, value),) = values.items()
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise ArgumentError(f"{type(schedule).__name__}: {name}={value!r:.60}: pass a list.")
    return list(cast("Iterable[Any]", value))


def counts_of(schedule: object, **values: Any) -> list[int]:
    """Return the items of a setting that is several integers of 0 and more."""
    ((name, _),) = values.items()
    found = list_of(schedule, **values)
    for each in found:
        check_counts(schedule, 0, **{name: each})
    return found
