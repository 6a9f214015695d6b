"""What constructors of layers refuse before they compute with it."""

from typing import Any

from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor

__all__ = ["check_probability", "check_sizes", "check_tensors"]


def check_sizes(layer: object, **sizes: Any) -> None:
    """Do nothing for integers of 0 and more.

    Raises:
        ArgumentError: one is something else.

    Example:
        >>> check_sizes(Tensor, in_features=3)
    """
    for name, size in sizes.items():
        if not isinstance(size, int) or size < 0:
            raise ArgumentError(
                f"{type(layer).__name__}: {name}={size!r:.60} is no size. Pass an integer, 0 or more."
            )


def check_probability(layer: object, **values: Any) -> None:
    """Do nothing for numbers from 0 to 1.

    Raises:
        ArgumentError: one is something else.

    Example:
        >>> check_probability(Tensor, p=0.5)
    """
    for name, value in values.items():
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ArgumentError(
                f"{type(layer).__name__}: {name}={value!r:.60} lies outside of 0..1. It is the share "
                "of elements that is dropped."
            )


def check_tensors(layer: object, **values: Any) -> None:
    """Do nothing for tensors and None.

    Raises:
        DtypeError: one is something else.

    Example:
        >>> check_tensors(Tensor, x=Tensor([1.0]), bias=None)
    """
    for name, value in values.items():
        if value is not None and not isinstance(value, Tensor):
            raise DtypeError(
                f"{type(layer).__name__}: {name} is {value!r:.60} ({type(value).__name__}), which is no "
                "tensor. Pass Tensor(...)."
            )
