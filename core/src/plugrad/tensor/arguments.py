"""Check arguments: integers, numbers, tensors."""

from typing import Any, TypeVar

from plugrad._util import is_long
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.shapes import show
from plugrad.uop.uop import UOp

T = TypeVar("T")


def whole(value: Any, name: str) -> int:
    """Return an integer, which may be one of NumPy's, but not symbolic.

    Args:
        value: what was passed.
        name: the parameter.

    Raises:
        ArgumentError: it is none, or far too long.

    Example:
        >>> whole(3, "groups")
        3
    """
    number = _index(value)
    if isinstance(value, UOp):
        raise ArgumentError(f"{name}={show((value,))[1:-2]} is symbolic. Pass a number.")
    if number is None:
        raise ArgumentError(f"{name}={value!r:.60} ({type(value).__name__}) is no integer. Pass one.")
    if is_long(number):
        raise ArgumentError(f"{name} has {number.bit_length()} bits. Pass an integer of at most 64.")
    return number


def _index(value: Any) -> int | None:
    if type(value) is int:
        return value
    try:
        return None if isinstance(value, TensorBase) else int(value.__index__())
    except (AttributeError, TypeError):
        return None


def several(value: Any) -> tuple[Any, ...] | None:
    """Return a list or tuple as a tuple, and None for a single value.

    Example:
        >>> several([1, 2]), several(1)
        ((1, 2), None)
    """
    given: Any = value
    return tuple(given) if isinstance(value, (list, tuple)) else None


def real(value: T, name: str) -> T:
    """Return a number as it is.

    Args:
        value: what was passed.
        name: the parameter.

    Raises:
        ArgumentError: it is none.

    Example:
        >>> real(0.5, "eps")
        0.5
    """
    if isinstance(value, (int, float)):
        return value
    # what a number of NumPy holds: neither an array, nor a number of dates
    number: Any = getattr(value, "item", None) if not hasattr(value, "__len__") else None
    if callable(number) and not isinstance(value, type) and isinstance(number := number(), (int, float)):
        return number  # pyright: ignore[reportReturnType]
    raise ArgumentError(f"{name}={value!r:.60} ({type(value).__name__}) is no number. Pass one.")


def tensors(**given: Any) -> None:
    """Raise DtypeError for arguments that are no tensors, naming their parameters.

    Raises:
        DtypeError: something is none.
    """
    for name, value in given.items():
        if not isinstance(value, TensorBase):
            raise DtypeError(f"{name}={value!r:.60} ({type(value).__name__}) is no tensor. Pass one.")


def tensors_or_none(**given: Any) -> None:
    """Raise DtypeError for arguments that are neither tensors nor None.

    Raises:
        DtypeError: something is neither.
    """
    tensors(**{name: value for name, value in given.items() if value is not None})
