"""Checks of settings, for constructors of layers, optimizers and schedules."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, Literal, cast, get_args, get_origin

from plugrad._frozen import frozen
from plugrad.errors import ArgumentError, DtypeError, ShapeError, StateError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import Dim, as_flag, check_choice


@frozen
class Range:
    """Numbers that a setting may be.

    Attributes:
        words: what a message calls them.
        holds: whether a number is one of them; NaN never is.
    """

    words: str
    holds: Callable[[float], bool]


ANY_NUMBER = Range("a number", math.isfinite)
NOT_NEGATIVE = Range("a number that is 0 or more", lambda x: 0 <= x < math.inf)
ABOVE_ZERO = Range("a number above 0", lambda x: 0 < x < math.inf)
ABOVE_ONE = Range("a number above 1", lambda x: 1 < x < math.inf)
SHARE = Range("a number from 0 to 1", lambda x: 0 <= x <= 1)
BELOW_ONE = Range("a number from 0 to below 1", lambda x: 0 <= x < 1)
BETWEEN = Range("a number between 0 and 1", lambda x: 0 < x < 1)


def _name(owner: object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__


def check_numbers(owner: object, allowed: Range, **values: Any) -> None:
    """Raise ArgumentError for values that are no numbers in `allowed`; NaN never is.

    Args:
        owner: whose settings they are: an object, or the name of a function.
        allowed: the range.
        values: the settings by name.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not allowed.holds(float(value)):
            raise ArgumentError(f"{_name(owner)}: {name}={value!r:.60}: pass {allowed.words}.")


def check_counts(owner: object, least: int, **values: Any) -> None:
    """Raise ArgumentError unless values are integers of Python or NumPy from `least` on."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise ArgumentError(f"{_name(owner)}: {name}={value!r:.60}: pass an integer, {least} or more.")


def check_windows(layer: object, **sizes: Sequence[Dim]) -> None:
    """Raise ShapeError for windows of size or step below 1; symbolic ones pass."""
    if any(isinstance(size, int) and size < 1 for several in sizes.values() for size in several):
        given = ", ".join(f"{name}={tuple(several)}" for name, several in sizes.items())
        raise ShapeError(f"{_name(layer)}: {given}: pass 1 or more.")


def check_fields(owner: Any, ranges: Mapping[str, Any]) -> None:
    """Raise ArgumentError for a field of a dataclass that is out of range.

    Integers are 1 or more, and floats 0 or more, unless `ranges` has another least one or `Range` for them.
    """
    for field in fields(owner):
        named = {field.name: getattr(owner, field.name)}
        if field.type is int:
            check_counts(owner, ranges.get(field.name, 1), **named)
        elif field.type is float:
            check_numbers(owner, ranges.get(field.name, NOT_NEGATIVE), **named)
        elif field.type is bool:
            as_flag(named[field.name], f"{_name(owner)}: {field.name}")
        elif get_origin(field.type) is Literal:
            check_choice(named[field.name], get_args(field.type), f"{_name(owner)}: {field.name}")


def numbers_of(owner: object, count: int, allowed: Range, **values: Any) -> list[float]:
    """Return a number for each group, from one for all or a list.

    Raises:
        ArgumentError: there are others, or one is out of range.

    Example:
        >>> numbers_of("OneCycleLR", 2, ABOVE_ZERO, max_lr=0.5)
        [0.5, 0.5]
    """
    ((name, value),) = values.items()
    is_one = isinstance(value, str) or not isinstance(value, Iterable)
    several: list[Any] = [value] * count if is_one else list(cast("Iterable[Any]", value))
    if len(several) != count:
        raise ArgumentError(
            f"{_name(owner)}: {name}={value!r:.60} is of {len(several)} groups, and there are {count}. "
            "Pass a number, or one for each group."
        )
    for each in several:
        check_numbers(owner, allowed, **{name: each})
    return [float(each) for each in several]


def check_tensors(layer: object, **values: Any) -> None:
    """Raise DtypeError unless values are tensors."""
    for name, value in values.items():
        if not isinstance(value, Tensor):
            raise DtypeError(
                f"{_name(layer)}: {name} is {value!r:.60} ({type(value).__name__}), which is no "
                "tensor. Pass Tensor(...)."
            )


def check_state(owner: object, own: Mapping[str, Tensor], state: Any) -> None:
    """Raise StateError or ShapeError unless `state` has the names and shapes of `own`."""
    name_of_class = type(owner).__name__
    if not isinstance(state, Mapping):
        raise StateError(f"{name_of_class}: {state!r:.60} is no state. Pass what state_dict() gave.")
    given = cast("Mapping[str, Any]", state)
    if missing_or_other := sorted(map(str, own.keys() ^ given.keys())):
        raise StateError(
            f"the state does not fit this {name_of_class}: only one of both has "
            f"{', '.join(missing_or_other[:4])}{', ...' if len(missing_or_other) > 4 else ''}. Load it "
            "into one of the same class, options and groups."
        )
    for name, memory in own.items():
        if not isinstance(given[name], Tensor):
            raise StateError(f"{name_of_class}: {name!r} is {given[name]!r:.60} in the state, no tensor.")
        if memory.shape != given[name].shape:
            raise ShapeError(
                f"{name!r} has shape {given[name].shape} in the state and {memory.shape} here. "
                "Load it into one of the same parameters and groups."
            )


def copy_state(owner: object, own: Mapping[str, Tensor], state: Any) -> None:
    """Copy the values of `state` into the state of `owner`, if all of them fit."""
    check_state(owner, own, state)
    for name, memory in own.items():
        memory.assign(state[name].to(memory.device).cast(memory.dtype))
    Tensor.realize(*own.values())
