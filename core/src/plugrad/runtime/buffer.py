"""Hold typed memory on a device: allocated when first needed, freed with the last reference.

A view is a buffer with a `base`: it shares the base's memory and keeps it alive. `handle` is what a runner is
launched with; it is a plain attribute because it is read at every launch.

Memory that somebody else looks at (`share`, or read-only memory of others in `import_host`) is never written:
whoever is about to write calls `own` before, and the buffer moves to other memory if it has to. Those that
keep a handle for later call `pin`: from then on the buffer stays where it is, and is not shared.
"""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

from plugrad import events
from plugrad.dtype import DType
from plugrad.errors import AxisError, DeviceOutOfMemory, ShapeError
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.live import LiveSet
from plugrad.runtime.loan import Loan
from plugrad.runtime.memory_report import explain_out_of_memory
from plugrad.runtime.origin import Origin
from plugrad.uop import UOp

_allocating = threading.RLock()  # reentrant: allocating may collect garbage, and with it other buffers
_live: "LiveSet[Buffer]" = LiveSet()
# Below, copying is cheaper than sharing.
_SHARED_FROM_BYTES = 16 << 10


class Buffer:
    """`size` elements of `dtype` on a device.

    Args:
        device: name of the device, for messages.
        size: number of elements.
        dtype: their type.
        allocator: the device's memory.
        base: the buffer whose memory this one is part of.
        offset: first byte of this buffer in `base`.
        label: what an out-of-memory message says of it: some words, or the line that it was made for.

    Attributes:
        handle: the device's name for the memory; None until `ensure_allocated`.
        nbytes: `size` in bytes.

    What graphs know of the contents is kept for `plugrad.engine.memory`, and read by nobody else:

    Attributes:
        known_name: called, gives the BUFFER of the present contents, if somebody holds it.
        owner: called, gives the storage that writes here, if a tensor holds it; None: there was none.
        values: the values that were realized here, which are called as well; None: none was.
        is_written: a write waits, and may be all that is left of who made it.
        is_frozen: a recorded call took the contents from Python, and a replay begins with them: who writes
            gets other memory.
        severed: called, gives the BUFFER of contents that were computed with a gradient, and no graph of it
            is kept.
    """

    __slots__ = (
        "__weakref__",
        "_imported",
        "_is_pinned",
        "_loan",
        "allocator",
        "base",
        "device",
        "dtype",
        "handle",
        "is_frozen",
        "is_written",
        "known_name",
        "label",
        "nbytes",
        "offset",
        "owner",
        "severed",
        "size",
        "values",
    )

    def __init__(
        self,
        device: str,
        size: int,
        dtype: DType,
        allocator: Allocator[Any],
        base: "Buffer | None" = None,
        offset: int = 0,
        label: str | Origin = "",
    ) -> None:
        self.handle: Any = None
        self._imported: memoryview | None = None
        self._loan: Loan | None = None
        self._is_pinned = False
        self.known_name: Callable[[], UOp | None] = _no_name
        self.owner: weakref.ref[Any] | None = None
        self.values: list[weakref.ref[UOp]] | None = None
        self.severed: weakref.ref[UOp] | None = None
        self.is_written = self.is_frozen = False
        self.device = device
        self.size = size
        self.dtype = dtype
        self.allocator = allocator
        self.base = base
        self.offset = offset
        self.label = label
        self.nbytes = size * dtype.itemsize
        _live.add(self)

    def __repr__(self) -> str:
        state = "unallocated" if self.handle is None else "allocated"
        part = f" at byte {self.offset} of {self.base!r}" if self.base is not None else ""
        return f"<Buffer {self.dtype.name}[{self.size}] on {self.device}, {state}{part}>"

    @property
    def is_borrowed(self) -> bool:
        """Whether the memory is that of somebody who may write to it."""
        return self._imported is not None and not self._imported.readonly

    def __del__(self) -> None:
        if self.handle is None or self.base is not None:
            return
        if self._imported is not None or self._loan is not None or events.active:
            self.deallocate()
        else:
            # what most do, said shorter
            self.allocator.free(self.handle, self.nbytes)

    def ensure_allocated(self) -> "Buffer":
        """Allocate the memory unless it is there, and return this buffer.

        Raises:
            DeviceOutOfMemory: the device has no room; the message names the buffers that hold the most.
        """
        if self.handle is None:
            with _allocating:
                if self.handle is None:
                    self.handle = self._allocate() if self.base is None else self._view_of(self.base)
        return self

    def another(self) -> "Buffer":
        """Return a new buffer like this one, allocated.

        Raises:
            DeviceOutOfMemory: the device has no room.
        """
        new = Buffer(self.device, self.size, self.dtype, self.allocator, None, 0, self.label)
        # nobody else knows of it, who might allocate it as well
        new.handle = new._allocate()
        return new

    def _allocate(self) -> Any:
        try:
            handle = self.allocator.alloc(self.nbytes)
        except DeviceOutOfMemory:
            handle = self._allocate_again()
        if events.active:
            self._announce(self.nbytes)
        return handle

    def _allocate_again(self) -> Any:
        gc.collect()  # buffers in reference cycles are garbage that has not been noticed yet
        try:
            return self.allocator.alloc(self.nbytes)
        except DeviceOutOfMemory as error:
            raise explain_out_of_memory(self, live_buffers(), error) from error

    @property
    def whole(self) -> "Buffer":
        """The buffer that has the memory: this one, unless it is a part of another."""
        return self if self.base is None else self.base

    def _view_of(self, base: "Buffer") -> Any:
        return self.allocator.offset(base.ensure_allocated().handle, self.nbytes, self.offset)

    def _announce(self, nbytes: int) -> None:
        """Tell observers that this buffer got memory, or gave it back."""
        if events.listening(events.MemoryEvent):
            events.emit(events.MemoryEvent(self.device, id(self), nbytes, self.label))

    def deallocate(self) -> None:
        """Give the memory back now.

        Views of it must not be used afterwards. Memory that is shared stays.
        """
        handle, self.handle = self.handle, None
        imported, self._imported = self._imported, None
        loan, self._loan = self._loan, None
        if handle is None or self.base is not None or imported is not None:
            return
        if events.active:
            self._announce(-self.nbytes)
        if loan is None:
            self.allocator.free(handle, self.nbytes)

    def disown(self, allocator: Allocator[Any]) -> None:
        """Forget the memory without giving it back, and ask `allocator` from now on."""
        self.handle = self._loan = None
        self.allocator = allocator

    def view(self, size: int, dtype: DType, offset: int) -> "Buffer":
        """Return `size` elements of `dtype` from byte `offset` on, in the same memory.

        Raises:
            AxisError: they do not lie inside this buffer.
        """
        if offset < 0 or size < 0 or offset + size * dtype.itemsize > self.nbytes:
            raise AxisError(
                f"a view of {size} {dtype.name} ({size * dtype.itemsize} bytes) at byte {offset} does not "
                f"lie in {self!r} of {self.nbytes} bytes. Choose a smaller size or offset."
            )
        base = self.whole
        return Buffer(
            self.device, size, dtype, self.allocator, base=base, offset=self.offset + offset, label=self.label
        )

    def share(self) -> memoryview | None:
        """Return the memory itself as read-only bytes, or None where that cannot be done.

        The bytes stay as they are now, and stay there as long as anything is made of the view: whoever writes
        to this buffer afterwards moves it to other memory first. None where the host does not see the memory,
        it belongs to somebody who may write to it, or is pinned.
        """
        owner = self.whole
        with _allocating:
            owner.ensure_allocated()
            whole = owner._lent()
        return None if whole is None else whole[self.offset : self.offset + self.nbytes]

    def _lent(self) -> memoryview | None:
        if self._imported is not None:
            return self._imported if self._imported.readonly else None
        if self._is_pinned or not self.nbytes:
            return None
        self.allocator.synchronize()
        if self._loan is None:
            memory = self.allocator.as_memoryview(self.handle, self.nbytes)
            if memory is None or memory.readonly:
                return None
            self._loan = Loan(self.allocator, self.handle, memory)
        return self._loan.view()

    def snapshot(self) -> memoryview:
        """Return the present bytes, read-only: large ones without a copy, where the device allows."""
        shared = self.share() if self.nbytes >= _SHARED_FROM_BYTES else None
        return self.as_memoryview().toreadonly() if shared is None else shared

    def own(self) -> "Buffer":
        """Make this buffer the only one that sees its memory, and return it.

        Raises:
            DeviceOutOfMemory: it has to move, and there is no room.
        """
        owner = self if self.base is None else self.base
        if owner._loan is not None or owner._imported is not None:
            owner._leave_shared(keeps_contents=True)
        return self

    def pin(self) -> "Buffer":
        """Fix the memory in its place, owned and not shared; return this buffer, allocated.

        Raises:
            DeviceOutOfMemory: it has to move once more, and there is no room.
        """
        owner = self.whole
        with _allocating:
            owner.own()
            owner._is_pinned = True
        return self.ensure_allocated()

    def _leave_shared(self, *, keeps_contents: bool) -> None:
        """Move to new memory where another buffer shares the present one and must not change."""
        with _allocating:
            loan, imported = self._loan, self._imported
            if loan is not None and not loan.is_out:
                loan.end()
                self._loan = None
                return
            contents = loan.memory if loan is not None else imported
            if contents is None or (imported is not None and not imported.readonly):
                return
            handle = self._allocate()
            if keeps_contents:
                self.allocator.copyin(handle, contents)
            self.deallocate()
            self.handle = handle
            for buffer in _live:
                if buffer.base is self:
                    buffer.handle = None  # looked up again at its next use

    def copyin(self, source: memoryview) -> "Buffer":
        """Fill the buffer from host memory of the same number of bytes, and return it."""
        source = self._bytes_of(source)
        if self.base is not None:
            self.own()
        elif self._loan is not None or self._imported is not None:
            self._leave_shared(keeps_contents=False)
        self.ensure_allocated()
        if self.nbytes:
            self.allocator.copyin(self.handle, source)
        return self

    def copyout(self, dest: memoryview) -> memoryview:
        """Copy the buffer to host memory of the same number of bytes, and return that."""
        flat = self._bytes_of(dest)
        self.ensure_allocated()
        if self.nbytes:
            self.allocator.copyout(flat, self.handle)
        return dest

    def import_host(self, source: memoryview) -> bool:
        """Use `source` itself as this buffer's memory where the device can; say whether it does.

        Read-only memory is never written: the buffer moves first. Nobody else may write to it meanwhile.
        Writable memory is written where it is.
        """
        if not self.nbytes or self.base is not None or self._is_pinned:
            return False
        source = self._bytes_of(source)
        handle = self.allocator.from_host(source)
        if handle is None:
            return False
        self.deallocate()
        self.handle = handle
        self._imported = source
        return True

    def host_view(self) -> memoryview | None:
        """Return the device's memory itself as bytes, or None where the host cannot see it.

        The view is valid while this buffer lives: whoever keeps it keeps the buffer too.
        """
        self.ensure_allocated()
        if not self.nbytes:
            return memoryview(bytearray())
        self.allocator.synchronize()
        return self.allocator.as_memoryview(self.handle, self.nbytes)

    def as_memoryview(self) -> memoryview:
        """Return the bytes on the host, in memory of their own."""
        return self.copyout(memoryview(bytearray(self.nbytes)))

    def read(self, offset: int, nbytes: int) -> memoryview:
        """Return a copy of `nbytes` bytes, which lie here from byte `offset` on."""
        self.ensure_allocated()
        part = self.allocator.offset(self.handle, nbytes, offset)
        self.allocator.synchronize()
        if (memory := self.allocator.as_memoryview(part, nbytes)) is not None:
            return memoryview(bytes(memory))
        out = memoryview(bytearray(nbytes))
        self.allocator.copyout(out, part)
        return out

    def _bytes_of(self, memory: memoryview) -> memoryview:
        if memory.nbytes != self.nbytes:
            raise ShapeError(
                f"{memory.nbytes} bytes do not fit {self!r} of {self.nbytes} bytes. "
                f"Pass memory for {self.size} elements of {self.dtype.itemsize} bytes."
            )
        return memory.cast("B") if memory.format != "B" or memory.ndim != 1 else memory


def live_buffers(device: str | None = None) -> list[Buffer]:
    """Return the buffers that own memory, or will, of one device or of all.

    Views are left out.
    """
    return [b for b in _live if b.base is None and (device is None or b.device == device)]


def disown_all(allocator: Allocator[Any]) -> None:
    """Make every buffer forget its memory and ask `allocator` from now on.

    For a forked child, whose parent's device memory it must not touch: `allocator` is one that refuses.
    """
    global _allocating
    _allocating = threading.RLock()  # a thread of the parent may have held the old one
    for buffer in _live:
        buffer.disown(allocator)


def _no_name() -> None:
    """Stand for the reference to a name where nobody named the contents."""
