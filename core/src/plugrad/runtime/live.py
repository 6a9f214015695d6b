"""Hold objects weakly, by identity: tensors, storages and buffers that are alive in this process."""

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Ref(weakref.ref[Any]):
    """A reference that compares by identity and never calls its referent."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class LiveSet(Generic[T]):
    """A weak set that never asks its members for equality (a tensor's `==` is elementwise).

    Iterating takes a snapshot, so that other threads may make tensors meanwhile. Members come in the order in
    which they were added: schedules follow it, and calls that do the same must make the same one.
    """

    def __init__(self) -> None:
        # a dict, which unlike a set is ordered
        self._refs: dict[_Ref, None] = {}
        # no code of Python runs when a member is added, or goes: one does with each result
        self._add = self._refs.setdefault
        self._forget = self._refs.pop

    def add(self, item: T) -> None:
        """Hold `item`, which is no member, as long as somebody else does."""
        self._add(_Ref(item, self._forget))

    def __iter__(self) -> Iterator[T]:
        for ref in list(self._refs):
            if (item := ref()) is not None:
                yield item

    def __len__(self) -> int:
        return len(self._refs)

    def __contains__(self, item: object) -> bool:
        return any(member is item for member in self)
