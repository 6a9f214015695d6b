"""Learning rates of groups: where they start, how they are set, and what schedules of them refuse."""

from collections.abc import Mapping, Sequence

from plugrad.errors import ArgumentError, StateError
from plugrad.nn.optim import ParamGroup
from plugrad.tensor import Tensor

# state is the host's own, in numbers as wide as Python's
HOST = "PYTHON"

__all__ = ["HOST", "check", "check_state", "initial_rate", "of_each", "set_rates"]


def initial_rate(group: ParamGroup) -> float:
    """Return the rate that all schedules of a group start from."""
    first = group.initial_rate
    if first is None:
        first = group.initial_rate = float(group.lr) if group.rate is None else group.rate
    return first


def set_rates(groups: Sequence[ParamGroup], rates: Sequence[float]) -> None:
    """Set the rate of each group, where it is another one."""
    for group, rate in zip(groups, rates, strict=True):
        if group.rate != rate:
            group.lr = rate


def check_state(schedule: object, own: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    """Do nothing if `state` has the names and shapes of `own`, the state of `schedule`.

    Raises:
        StateError: it has others.
    """
    if own.keys() != state.keys() or any(own[name].shape != state[name].shape for name in own):
        raise StateError(
            f"the state does not fit this {type(schedule).__name__}: it has {', '.join(state)}, not "
            f"{', '.join(own)}, or is that of another number of groups."
        )


def check(is_right: bool, what: str) -> None:
    """Raise ArgumentError about `what` unless it is right."""
    if not is_right:
        raise ArgumentError(f"a schedule with {what}.")


def of_each(value: float | Sequence[float], count: int, what: str) -> list[float]:
    """Return a number for each of `count` groups, from one or as many."""
    found = [float(value)] * count if isinstance(value, (int, float)) else list(value)
    check(len(found) == count, f"{len(found)} {what}, for {count} groups")
    return found
