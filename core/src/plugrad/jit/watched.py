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
    """All tensors that a trace watches."""

    def __init__(self, watched: Iterable[Watched]) -> None:
        self._watched = [
            (each.tensor, each.buffer if each.uop.op is Ops.BUFFER else _NO_MEMORY, each) for each in watched
        ]
        self._buffers = len({each.buffer for _, _, each in self._watched})

    def are_unchanged(self) -> bool:
        """Say whether each still shows its memory, and all memory is shown."""
        some_are_gone = False
        for reference, memory, each in self._watched:
            tensor = reference()
            # a model has hundreds, and most show all of some memory, under whatever name that goes by: this
            # asks without calls of Python, which `tensor.uop` would make
            if tensor is None or tensor._path or tensor._storage.uop.place is not memory:
                if not each.is_unchanged():
                    return False
                some_are_gone |= tensor is None
        if some_are_gone:
            alive = [each for each in self._watched if each[0]() is not None]
            if len({each.buffer for _, _, each in alive}) < self._buffers:
                return False
            self._watched = alive
        return True


# no memory that a tensor shows
_NO_MEMORY = object()
