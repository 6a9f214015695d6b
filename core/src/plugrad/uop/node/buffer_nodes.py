"""Hold BUFFERs weakly by their number; sweeps remove entries of dead ones."""

import weakref
from typing import TYPE_CHECKING, Any

from plugrad.uop.ops import BufferArg

if TYPE_CHECKING:
    from plugrad.dtype import DType
    from plugrad.uop.uop import UOp

_LEAST_ROOM = 1024


class BufferNodes:
    """The BUFFERs that `UOp.new_buffer` made, which takes no step in Python when one goes.

    Threads may use it at the same time.
    """

    def __init__(self) -> None:
        self._refs: dict[int, weakref.ref[UOp]] = {}
        self._room = _LEAST_ROOM

    def __len__(self) -> int:
        return len(self._refs)

    def add(self, number: int, node: "UOp") -> None:
        """Hold a new BUFFER as long as somebody else does."""
        self._refs[number] = weakref.ref(node)
        if len(self._refs) > self._room:
            self._sweep()

    def find(self, dtype: "DType", src: "tuple[UOp, ...]", arg: Any, tag: object) -> "UOp | None":
        """Return the BUFFER of these parts, if it is alive."""
        ref = self._refs.get(arg.ident) if isinstance(arg, BufferArg) else None
        found = None if ref is None else ref()
        if found is None or (found.dtype, found.src, found.arg, found.tag) != (dtype, src, arg, tag):
            return None
        return found

    def _sweep(self) -> None:
        # another thread may do the same
        for number, ref in list(self._refs.items()):
            if ref() is None:
                self._refs.pop(number, None)
        self._room = 2 * len(self._refs) + _LEAST_ROOM
