"""`Enum`: what `enum.Enum` makes of names alone, with members that are plain attributes.

To read a member of an `enum.Enum`, or its name, takes Python 3.11 four times as long as an attribute of
another class, and to make one takes 60 us. Whatever builds or rewrites a graph reads members of `Ops`.
"""

from collections.abc import Iterator
from enum import auto
from typing import Any

__all__ = ["Enum", "auto"]


class _EnumType(type):
    __members__: dict[str, Any]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.__members__.values())

    def __len__(cls) -> int:
        return len(cls.__members__)

    def __getitem__(cls, name: str) -> Any:
        return cls.__members__[name]


class Enum(metaclass=_EnumType):
    """Base of classes whose attributes are members, numbered from 1 on: each is `auto()`."""

    __slots__ = ("name", "value")

    def __init_subclass__(cls) -> None:
        names = [name for name, given in vars(cls).items() if isinstance(given, auto)]
        cls.__members__ = {}
        for value, name in enumerate(names, start=1):
            member = cls.__members__[name] = object.__new__(cls)
            member.name, member.value = name, value
            setattr(cls, name, member)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self) -> Any:
        return getattr, (type(self), self.name)
