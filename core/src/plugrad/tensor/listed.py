"""Tensors that are joined may come in a list, as PyTorch's and NumPy's do: `Tensor.cat([a, b], 1)`."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import TensorBase

__all__ = ["JOINS", "takes_lists"]

T = TypeVar("T")

JOINS = (
    "block_diag",
    "cartesian_prod",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "stack",
    "vstack",
)
# behind the list an axis may stand
_ALONG_AN_AXIS = frozenset({"cat", "concat", "concatenate", "stack"})


def takes_lists(cls: type[T]) -> type[T]:
    """Let the joining methods of a class, called as its functions, take one list or tuple of tensors.

    Raises:
        DtypeError: by the methods, where something in the list is no tensor.
        ShapeError: by the methods, where the list has no tensors.
        TypeError: by the methods, where the axis is given twice.
    """
    for base in cls.__mro__[:-1]:
        for name in JOINS:
            if name in vars(base):
                setattr(base, name, _taking_lists(vars(base)[name]))
    return cls


def _taking_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__

    @wraps(function)
    def joined(*args: Any, **keywords: Any) -> Any:
        if not args and "tensors" in keywords:
            args = (keywords.pop("tensors"),)
        if args and isinstance(args[0], (list, tuple)):
            tensors, *rest = args
            if name in _ALONG_AN_AXIS and len(rest) == 1 and not isinstance(rest[0], TensorBase):
                if not keywords.keys().isdisjoint(("axis", "dim")):
                    raise TypeError(f"{name}() got its axis by position and by name.")
                keywords["axis"] = rest.pop()
            if not tensors:
                raise ShapeError(f"{name} of an empty {type(tensors).__name__}. Pass one tensor or more.")
            _check_listed(tensors, name)
            args = (*tensors, *rest)
        return function(*args, **keywords)

    return joined


def _check_listed(tensors: Sequence[object], name: str) -> None:
    """Refuse a list in which something is no tensor: say which, the rest of it may be right."""
    for place, one in enumerate(tensors):
        if not isinstance(one, TensorBase):
            is_data = isinstance(one, (bool, int, float, list))
            text, kind = f"{one!r:.200}", type(tensors).__name__
            raise DtypeError(
                f"{name}: element {place} of the {kind}, {text} ({type(one).__name__}), is no "
                f"tensor. {f'Write Tensor({text}).' if is_data else 'Pass tensors.'}"
            )
