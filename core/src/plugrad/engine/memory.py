"""The memory of realized values: a buffer, its version, and who owns it.

It lives as long as a graph mentions it, and knows its version (the BUFFER that names the present contents),
the values that lie there, and whether a write waits.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

from plugrad.runtime.buffer import Buffer
from plugrad.uop import Ops, UOp

if TYPE_CHECKING:
    from plugrad.engine.storage import Storage

# Held while a storage becomes the owner of memory, so that of two threads one does: for no longer.
_claiming = threading.Lock()


class Memory:
    """A buffer, under whatever BUFFER names its present contents.

    Values computed from what the memory held before are known by their graphs, and these mention the BUFFER
    of that time. A graph that is written down after a write must not be taken for one of them: the contents
    get a new name.

    Attributes:
        buffer: the memory.
        known_name: called, gives the BUFFER of the present contents, if somebody holds it.
        is_written: a write waits, and may be all that is left of who made it.
        is_frozen: a recorded call took the contents from Python, and a replay begins with them: who writes
            gets other memory.
        severed: the name of contents that were computed with a gradient, and no graph of it is kept.
    """

    __slots__ = (
        "__weakref__",
        "_owner",
        "_values",
        "buffer",
        "is_frozen",
        "is_written",
        "known_name",
        "severed",
    )

    def __init__(self, buffer: Buffer, name: UOp) -> None:
        self.buffer = buffer
        self.is_written = False
        self.is_frozen = False
        self.severed: weakref.ref[UOp] | None = None
        self._values: list[weakref.ref[UOp]] = []
        self._owner: weakref.ref[Storage] | None = None
        # weak, as all names hold this
        self.known_name = weakref.ref(name)
        buffer.memory = weakref.ref(self)

    def name(self, former: UOp) -> UOp:
        """Return the BUFFER of the present contents; `former` is one of their names."""
        return self.known_name() or self.renamed(former)

    def renamed(self, former: UOp) -> UOp:
        """Return a new BUFFER for the contents, like `former`."""
        new = UOp.new_buffer(former.arg.device, former.arg.shape, former.dtype)
        set_place(new, self)
        self.known_name = weakref.ref(new)
        return new

    def owner(self) -> Storage | None:
        """Return the storage that writes this memory; equal values share it by their graph."""
        return None if self._owner is None else self._owner()

    def belongs_to(self, storage: Storage) -> None:
        """Let `storage` own this, which no other one knows of."""
        self._owner = weakref.ref(storage)

    def claim(self, storage: Storage) -> bool:
        """Let `storage` own this, if no other one does; say whether it owns it."""
        claim = weakref.ref(storage)  # nothing may be collected under the lock
        with _claiming:
            if self.owner() is None:
                self._owner = claim
            return self.owner() is storage

    def values(self) -> list[UOp]:
        """Return the values that were realized here and are still known to somebody."""
        self._values = [ref for ref in self._values if ref() is not None]
        return [value for ref in self._values if (value := ref()) is not None]

    def add_value(self, value: UOp) -> None:
        """Note that `value` was realized here."""
        self._values.append(weakref.ref(value))


def memory_at(uop: UOp) -> Memory | None:
    """Return the memory of a BUFFER; None: nobody gave it any, or `uop` is none."""
    return uop.place if uop.op is Ops.BUFFER else None


def set_place(uop: UOp, place: Memory | dict[str, UOp]) -> None:
    """Let a node keep its memory, or where its value lies by device."""
    # nodes are frozen, but for what is no part of them
    object.__setattr__(uop, "place", place)
