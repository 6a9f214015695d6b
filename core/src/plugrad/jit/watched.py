"""Watch whether tensors outside of a function still show the memory its steps use."""

import weakref
from collections.abc import Iterable
from operator import attrgetter
from operator import call as call_it
from typing import Any

from plugrad._frozen import frozen
from plugrad.engine import storage
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.uop import Ops, UOp

# The memory of a tensor that shows all of it, as `storage.Memory`, and the empty path.
_WHOLE_MEMORY = attrgetter("_storage.uop.place", "_path")


@frozen
class Watched:
    """A tensor outside of the function, and the memory it shows that the steps use.

    Attributes:
        tensor: the tensor.
        uop: what it shows.
        buffer: the memory.
        was_used: the function used this tensor; else the memory only, by another one.
    """

    tensor: "weakref.ref[Tensor]"
    uop: UOp
    buffer: Buffer
    was_used: bool

    def is_unchanged(self) -> bool:
        """Say whether the tensor still shows that memory, after any assign to it that waits.

        Where the function had used a tensor that is no more, it would use another one by now.
        """
        tensor = self.tensor()
        if tensor is None:
            return not self.was_used
        return self._shows(tensor.uop) or self._shows(tensor.realize().uop)

    def _shows(self, uop: UOp) -> bool:
        if uop is self.uop:
            return True
        # the same memory goes by another name once it was overwritten
        base = storage.viewed(uop)
        if base.op is not Ops.BUFFER or storage.buffer_of(base) is not self.buffer:
            return False
        return uop.substitute({base: storage.viewed(self.uop)}) is self.uop


class WatchedTensors:
    """All tensors that a trace watches.

    Most show all of some memory, under whatever name that goes by. These are compared in one go, since a
    model has hundreds; as soon as one differs, each is asked.

    Args:
        watched: the tensors.
    """

    def __init__(self, watched: Iterable[Watched]) -> None:
        self._of_buffer: dict[Buffer, list[Watched]] = {}
        for each in watched:
            self._of_buffer.setdefault(each.buffer, []).append(each)
        # the first time, each is asked
        self._whole: list[weakref.ref[Tensor]] = []
        self._expected: list[Any] = [None]
        self._others: list[Watched] = []

    def are_unchanged(self) -> bool:
        """Say whether each still shows its memory, and all memory is shown."""
        if not self._of_buffer:
            return True
        try:
            found = list(map(_WHOLE_MEMORY, map(call_it, self._whole)))
            if found == self._expected and all([each.is_unchanged() for each in self._others]):
                return True
        except AttributeError:
            pass  # a tensor is no more
        for tensors in self._of_buffer.values():
            if all([each.tensor() is None for each in tensors]):
                return False
            if not all([each.is_unchanged() for each in tensors]):
                return False
        self._prepare()
        return True

    def _prepare(self) -> None:
        watched = [each for tensors in self._of_buffer.values() for each in tensors]
        alive = [(each, _whole_memory(each)) for each in watched if each.tensor() is not None]
        self._whole = [each.tensor for each, memory in alive if memory is not None]
        self._expected = [(memory, ()) for _, memory in alive if memory is not None]
        self._others = [each for each, memory in alive if memory is None]


def _whole_memory(watched: Watched) -> Any:
    """Return the memory that a tensor shows all of, and is watched for; else None."""
    tensor = watched.tensor()
    if tensor is None or tensor._path or watched.uop.op is not Ops.BUFFER:
        return None
    memory = watched.uop.place
    return memory if tensor._storage.uop.place is memory else None
