"""The tensors that are alive in this process, by identity."""

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Ref(weakref.ref[Any]):
    __slots__ = ("number",)
    number: int


class LiveSet(Generic[T]):
    """A weak set that never asks its members for equality (a tensor's `==` is elementwise).

    Iterating takes a snapshot, so that other threads may make tensors meanwhile.
    """

    def __init__(self) -> None:
        self._refs: dict[int, _Ref] = {}

    def add(self, item: T) -> None:
        """Hold `item` as long as somebody else does."""
        ref = _Ref(item, self._forget)
        ref.number = id(item)
        self._refs[ref.number] = ref

    def _forget(self, ref: Any) -> None:
        if self._refs.get(ref.number) is ref:
            del self._refs[ref.number]

    def __iter__(self) -> Iterator[T]:
        for ref in list(self._refs.values()):
            if (item := ref()) is not None:
                yield item

    def __len__(self) -> int:
        return len(self._refs)

    def __contains__(self, item: object) -> bool:
        ref = self._refs.get(id(item))
        return ref is not None and ref() is item
