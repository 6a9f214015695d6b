"""Parameters that are flags: what is neither true nor false is refused, in all methods alike.

Python takes almost everything for true. But an axis, a name or an array in the place of a flag is a parameter
of another library, and the answer would be another one in silence.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from plugrad.tensor.shapes import as_flag

__all__ = ["checks_flags"]

T = TypeVar("T")


def checks_flags(cls: type[T]) -> type[T]:
    """Let the public methods of a class and its bases refuse what is neither true nor false as a flag.

    A parameter is a flag where its default is True or False.

    Raises:
        ArgumentError: by the methods; it names the method, the parameter and the value.
    """
    for base in cls.__mro__[:-1]:
        members: dict[str, Any] = dict(vars(base))
        for name, member in members.items():
            if name.startswith("_"):
                continue
            # of a class method or a static one, what it wraps
            function = getattr(member, "__func__", member)
            if not hasattr(function, "__code__"):
                continue
            flags = _flags_of(function)
            if flags:
                checked = _checking(function, flags)
                setattr(base, name, checked if function is member else type(member)(checked))
    return cls


def _flags_of(function: Any) -> dict[str, int]:
    """Return the flags of a function with their places; those given by name only are out of reach."""
    code = function.__code__
    defaults: tuple[object, ...] = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    behind = len(names) - len(defaults)
    flags = {names[behind + i]: behind + i for i, value in enumerate(defaults) if isinstance(value, bool)}
    named: Mapping[str, object] = function.__kwdefaults__ or {}
    return flags | {name: _OUT_OF_REACH for name, value in named.items() if isinstance(value, bool)}


_OUT_OF_REACH = 1 << 31


def _checking(function: Callable[..., Any], flags: Mapping[str, int]) -> Callable[..., Any]:
    """Return a function that checks what is given for `flags`, by name or by place."""
    first = min(flags.values())

    @wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        if len(args) > first:
            for name, place in flags.items():
                if place < len(args):
                    _check(args[place], function, name)
        for name in keywords:
            if name in flags:
                _check(keywords[name], function, name)
        return function(*args, **keywords)

    return checked


def _check(value: object, function: Callable[..., Any], name: str) -> None:
    if value is not True and value is not False:
        as_flag(value, f"{function.__name__}: {name}")
