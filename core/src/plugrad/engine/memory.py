"""Name the contents of buffers for graphs; note their values and their owner.

A BUFFER keeps its `runtime.buffer.Buffer` in `UOp.place`, and the buffer what is noted here. Values that were
computed from what it held before are known by their graphs, and these mention the BUFFER of that time. A
graph that is written down after a write must not be taken for one of them: the contents get a new name.
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


def bind_buffer(uop: UOp, memory: Buffer) -> UOp:
    """Let the BUFFER `uop` name the present contents of a buffer; return it."""
    set_place(uop, memory)
    # weak, as all names hold the buffer
    memory.known_name = weakref.ref(uop)
    return uop


def name_of(memory: Buffer, former: UOp) -> UOp:
    """Return the BUFFER of the present contents; `former` is one of their names."""
    return memory.known_name() or renamed(memory, former)


def renamed(memory: Buffer, former: UOp) -> UOp:
    """Return a new BUFFER for the contents, like `former`."""
    new = UOp.new_buffer(former.arg.device, former.arg.shape, former.dtype, memory)
    memory.known_name = weakref.ref(new)
    return new


def owner_of(memory: Buffer) -> Storage | None:
    """Return the storage that writes to a buffer; equal values share it by their graph."""
    return None if memory.owner is None else memory.owner()


def claim(memory: Buffer, storage: Storage) -> bool:
    """Let `storage` own a buffer, if no other one does; say whether it owns it."""
    owner = weakref.ref(storage)  # nothing may be collected under the lock
    with _claiming:
        if memory.owner is None or memory.owner() is None:
            memory.owner = owner
        return memory.owner() is storage


def values_of(memory: Buffer) -> list[UOp]:
    """Return the values that were realized into a buffer and are still known to somebody."""
    memory.values = [ref for ref in memory.values or () if ref() is not None]
    return [value for ref in memory.values if (value := ref()) is not None]


def add_value(memory: Buffer, value: UOp) -> None:
    """Note that `value` was realized into a buffer."""
    if memory.values is None:
        memory.values = [weakref.ref(value)]
    else:
        memory.values.append(weakref.ref(value))


def find_buffer(uop: UOp) -> Buffer | None:
    """Return the buffer of a BUFFER; None: nobody gave it any, or `uop` is none."""
    return uop.place if uop.op is Ops.BUFFER else None


def set_place(uop: UOp, place: Buffer | dict[str, UOp]) -> None:
    """Let a node keep its memory, or where its value lies by device."""
    # nodes are frozen, but for what is no part of them
    object.__setattr__(uop, "place", place)
