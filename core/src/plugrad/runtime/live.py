"""Hold objects weakly, by identity: tensors, storages and buffers that are alive in this process."""

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Ref(weakref.ref[Any]):
    """A reference that is equal to itself only, and asks what it refers to for nothing."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class LiveSet(Generic[T]):
    """A weak set that never asks its members for equality (a tensor's `==` is elementwise).

    Iterating takes a snapshot, so that other threads may make tensors meanwhile.
    """

    def __init__(self) -> None:
        self._refs: set[_Ref] = set()
        # no code of Python runs when a member is added, or goes: one does with each result
        self._add = self._refs.add
        self._forget = self._refs.discard

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
