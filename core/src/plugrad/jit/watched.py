"""Watch whether tensors outside of a function still show the memory its steps use."""

import weakref
from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.engine import storage
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.uop import Ops, UOp


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
        self._is_prepared = False
        self._whole: list[tuple[weakref.ref[Tensor], Buffer]] = []
        self._others: list[Watched] = []

    def are_unchanged(self) -> bool:
        """Say whether each still shows its memory, and all memory is shown."""
        if not self._of_buffer:
            return True
        if (
            self._is_prepared
            and self._show_the_same()
            and all([each.is_unchanged() for each in self._others])
        ):
            return True
        for tensors in self._of_buffer.values():
            if all([each.tensor() is None for each in tensors]):
                return False
            if not all([each.is_unchanged() for each in tensors]):
                return False
        self._prepare()
        return True

    def _show_the_same(self) -> bool:
        for reference, memory in self._whole:
            tensor = reference()
            # no calls of Python: `tensor.uop` would make some for each
            if tensor is None or tensor._path or tensor._storage.uop.place is not memory:
                return False
        return True

    def _prepare(self) -> None:
        watched = [each for tensors in self._of_buffer.values() for each in tensors]
        alive = [(each, _whole_memory(each)) for each in watched if each.tensor() is not None]
        self._is_prepared = True
        self._whole = [(each.tensor, memory) for each, memory in alive if memory is not None]
        self._others = [each for each, memory in alive if memory is None]


def _whole_memory(watched: Watched) -> Buffer | None:
    """Return the memory that a tensor shows all of, and is watched for; else None."""
    tensor = watched.tensor()
    if tensor is None or tensor._path or watched.uop.op is not Ops.BUFFER:
        return None
    memory = watched.uop.place
    return memory if tensor._storage.uop.place is memory else None
