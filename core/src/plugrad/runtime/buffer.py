"""Typed memory on a device, allocated when first needed and given back when nothing refers to it.

A view is a buffer with a `base`: it shares the base's memory and keeps it alive. `handle` is what a runner is
launched with; it is a plain attribute because it is read at every launch.
"""

import gc
import threading
import weakref
from typing import Any

from plugrad.dtype import DType
from plugrad.errors import AxisError, DeviceOutOfMemory, ShapeError
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.memory_report import explain_out_of_memory
from plugrad.runtime.origin import Origin

_allocating = threading.RLock()  # reentrant: allocating may collect garbage, and with it other buffers
_live: "dict[int, weakref.ref[Buffer]]" = {}


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
    """

    __slots__ = (
        "__weakref__",
        "allocator",
        "base",
        "device",
        "dtype",
        "handle",
        "is_imported",
        "label",
        "nbytes",
        "offset",
        "size",
    )

    def __init__(
        self,
        device: str,
        size: int,
        dtype: DType,
        allocator: Allocator[Any],
        *,
        base: "Buffer | None" = None,
        offset: int = 0,
        label: str | Origin = "",
    ) -> None:
        self.handle: Any = None
        self.is_imported = False
        self.device = device
        self.size = size
        self.dtype = dtype
        self.allocator = allocator
        self.base = base
        self.offset = offset
        self.label = label
        self.nbytes = size * dtype.itemsize
        _live[id(self)] = weakref.ref(self)

    def __repr__(self) -> str:
        state = "unallocated" if self.handle is None else "allocated"
        part = f" at byte {self.offset} of {self.base!r}" if self.base is not None else ""
        return f"<Buffer {self.dtype.name}[{self.size}] on {self.device}, {state}{part}>"

    def __del__(self) -> None:
        _live.pop(id(self), None)
        if self.handle is not None:
            self.deallocate()

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

    def _allocate(self) -> Any:
        try:
            return self.allocator.alloc(self.nbytes)
        except DeviceOutOfMemory:
            gc.collect()  # buffers in reference cycles are garbage that has not been noticed yet
        try:
            return self.allocator.alloc(self.nbytes)
        except DeviceOutOfMemory as error:
            raise explain_out_of_memory(self, live_buffers(), error) from error

    def _view_of(self, base: "Buffer") -> Any:
        return self.allocator.offset(base.ensure_allocated().handle, self.nbytes, self.offset)

    def deallocate(self) -> None:
        """Give the memory back now. Views of it must not be used afterwards."""
        handle, self.handle = self.handle, None
        if handle is not None and self.base is None and not self.is_imported:
            self.allocator.free(handle, self.nbytes)
        self.is_imported = False

    def view(self, size: int, dtype: DType, offset: int) -> "Buffer":
        """Return `size` elements of `dtype` from byte `offset` of this buffer on, in the same memory.

        Raises:
            AxisError: they do not lie inside this buffer.
        """
        if offset < 0 or size < 0 or offset + size * dtype.itemsize > self.nbytes:
            raise AxisError(
                f"a view of {size} {dtype.name} ({size * dtype.itemsize} bytes) at byte {offset} does not "
                f"lie in {self!r} of {self.nbytes} bytes. Choose a smaller size or offset."
            )
        base = self if self.base is None else self.base
        return Buffer(
            self.device, size, dtype, self.allocator, base=base, offset=self.offset + offset, label=self.label
        )

    def copyin(self, source: memoryview) -> "Buffer":
        """Fill the buffer from host memory of the same number of bytes, and return it.

        Raises:
            ShapeError: `source` has another size.
        """
        source = self._bytes_of(source)
        self.ensure_allocated()
        if self.nbytes:
            self.allocator.copyin(self.handle, source)
        return self

    def copyout(self, dest: memoryview) -> memoryview:
        """Copy the buffer to host memory of the same number of bytes, and return that.

        Raises:
            ShapeError: `dest` has another size.
        """
        flat = self._bytes_of(dest)
        self.ensure_allocated()
        if self.nbytes:
            self.allocator.copyout(flat, self.handle)
        return dest

    def import_host(self, source: memoryview) -> bool:
        """Use `source` itself as this buffer's memory where the device can; say whether it does.

        Raises:
            ShapeError: `source` has another size.
        """
        handle = (
            self.allocator.from_host(self._bytes_of(source)) if self.nbytes and self.base is None else None
        )
        if handle is None:
            return False
        self.deallocate()
        self.handle = handle
        self.is_imported = True
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

    def _bytes_of(self, memory: memoryview) -> memoryview:
        if memory.nbytes != self.nbytes:
            raise ShapeError(
                f"{memory.nbytes} bytes do not fit {self!r} of {self.nbytes} bytes. "
                f"Pass memory for {self.size} elements of {self.dtype.itemsize} bytes."
            )
        return memory.cast("B") if memory.format != "B" or memory.ndim != 1 else memory


def live_buffers(device: str | None = None) -> list[Buffer]:
    """Return the buffers that own memory or will (views are left out), of one device or of all."""
    return [b for b in _all_live() if b.base is None and (device is None or b.device == device)]


def disown_all(allocator: Allocator[Any]) -> None:
    """Make every buffer forget its memory and ask `allocator` from now on.

    For a forked child, whose parent's device memory it must not touch: `allocator` is one that refuses.
    """
    global _allocating
    _allocating = threading.RLock()  # a thread of the parent may have held the old one
    for buffer in _all_live():
        buffer.handle = None
        buffer.allocator = allocator


def _all_live() -> list[Buffer]:
    return [buffer for ref in list(_live.values()) if (buffer := ref()) is not None]
