"""Methods that are called as functions of the class: `Tensor.sum(x)` says so where `x` is no tensor.

Calls on a tensor do not come by here: what the class shows as an attribute is a matter of its metaclass.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Any, NoReturn, TypeVar

from plugrad.errors import DtypeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.listed import JOINS
from plugrad.tensor.migration_hints import ADVICE, advice

__all__ = ["TensorType", "checks_calls_on_class"]

T = TypeVar("T")


class TensorType(type):
    """The type of the class of tensors: what its attributes are is written here, by name."""


def checks_calls_on_class(cls: type[T]) -> type[T]:
    """Let the public methods of a class, as attributes of it, be functions that take tensors only.

    Names of other libraries that it has not say what to write instead.

    Raises:
        DtypeError: by those functions, where the first argument is no tensor.
    """
    # no __getattr__: with one, every attribute of the class would take twice as long
    for name in ADVICE:
        setattr(TensorType, name, _Absent(name))
    # all bases at once, the most derived last: `dir` and looking each name up take five times as long
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base))
    for name, method in found.items():
        if not name.startswith("_") and type(method) is FunctionType:
            setattr(TensorType, name, _OnClass(name, method, cls))
    return cls


class _Absent:
    """What a class has not as an attribute, unless one that is made of it has."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, cls: type, _: object) -> NoReturn:
        name = self._name
        message = f"type object {cls.__name__!r} has no attribute {name!r}.{advice(name, cls)}"
        raise AttributeError(message, name=name, obj=cls)


class _OnClass:
    """What a class has as an attribute, in the place of its method.

    Whoever sets the attribute, or makes a class with a method of its own, gets that.
    """

    __slots__ = ("_checked", "_is_replaced", "_method", "_name", "_owner")

    def __init__(self, name: str, method: Callable[..., Any], owner: type) -> None:
        self._name = name
        self._method = method
        self._owner = owner
        self._is_replaced = False
        self._checked: Callable[..., Any] | None = None

    def __get__(self, cls: type, _: object) -> Any:
        if cls is not self._owner or self._is_replaced:
            found: Any = next(vars(base)[self._name] for base in cls.__mro__ if self._name in vars(base))
            if found is not self._method:
                return found.__get__(None, cls)
        # few are ever asked for
        if self._checked is None:
            self._checked = _checking(self._name, self._method)
        return self._checked

    def __set__(self, cls: type, value: object) -> None:
        with self._out_of_the_way():
            setattr(cls, self._name, value)
        self._is_replaced |= cls is self._owner

    def __delete__(self, cls: type) -> None:
        with self._out_of_the_way():
            delattr(cls, self._name)
        self._is_replaced &= cls is not self._owner

    @contextmanager
    def _out_of_the_way(self) -> Generator[None]:
        delattr(TensorType, self._name)
        try:
            yield
        finally:
            setattr(TensorType, self._name, self)


def _checking(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    # joining methods look at the list that they may take themselves
    others = (TensorBase, list, tuple) if name in JOINS else TensorBase

    @wraps(method)
    def checked(*args: Any, **keywords: Any) -> Any:
        if args and not isinstance(args[0], others):
            raise DtypeError(
                f"{name}: {args[0]!r:.60} ({type(args[0]).__name__}) is no tensor. Write "
                f"Tensor(data).{name}(...)."
            )
        return method(*args, **keywords)

    # pickles name where they find it
    checked.__module__, checked.__qualname__ = "plugrad.tensor.tensor", f"Tensor.{name}"
    return checked
