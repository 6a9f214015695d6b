"""Allocate GPU memory that is shared with the host.

Copies are plain ones, and views need none.
"""

from typing import Any

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator
from plugrad_metal.context import Context

STORAGE_SHARED = 0  # enum MTLResourceOptions


class Block:
    """The value of a kernel argument: a buffer, and the byte offset of its data.

    Attributes:
        buffer: Metal's object.
        host: its bytes, as the host sees them.
        start: bytes from the beginning of `buffer`.
    """

    __slots__ = ("buffer", "host", "start")

    def __init__(self, buffer: Any, host: memoryview, start: int = 0) -> None:
        self.buffer = buffer
        self.host = host
        self.start = start

    def __repr__(self) -> str:
        return f"<Block of {self.host.nbytes} bytes, from byte {self.start}>"


def new_block(context: Context, nbytes: int) -> Block:
    """Return memory of the GPU that the host sees too.

    Raises:
        DeviceOutOfMemory: there is no more.
    """
    buffer = context.device.newBufferWithLength_options_(nbytes, STORAGE_SHARED)
    if buffer is None:
        name = context.target.name
        raise DeviceOutOfMemory(
            f"{name} has no {nbytes} bytes left; {context.device.currentAllocatedSize()} are in use",
            device=name,
            requested_bytes=nbytes,
        )
    return Block(buffer, memoryview(buffer.contents().as_buffer(nbytes)).cast("B"))


class MetalAllocator(LruAllocator[Block]):
    """The memory of one GPU.

    An access by the host waits for the launches before it.

    Args:
        context: the open GPU.
        memory_bytes: how much the system recommends to use, to keep half of that at most.
    """

    def __init__(self, context: Context, memory_bytes: int = 0) -> None:
        super().__init__(memory_bytes // 2 or 4 << 30)
        self._context = context
        self._largest = int(context.device.maxBufferLength())

    def _alloc(self, nbytes: int) -> Block:
        context = self._context
        context.check()
        name = context.target.name
        if nbytes > self._largest:
            raise DeviceOutOfMemory(
                f"{name} has no buffers of {nbytes} bytes, only up to {self._largest}",
                device=name,
                requested_bytes=nbytes,
            )
        return new_block(context, nbytes)

    def copyin(self, handle: Block, source: memoryview) -> None:
        """Copy `source` into the block."""
        self._context.synchronize()
        handle.host[handle.start : handle.start + source.nbytes] = source

    def copyout(self, dest: memoryview, handle: Block) -> None:
        """Copy the block's first bytes to `dest`, after what was launched before."""
        self._context.synchronize()
        dest[:] = handle.host[handle.start : handle.start + dest.nbytes]

    def offset(self, handle: Block, nbytes: int, offset_bytes: int) -> Block:
        """Return a part of the block."""
        return Block(handle.buffer, handle.host, handle.start + offset_bytes)

    def as_memoryview(self, handle: Block, nbytes: int) -> memoryview:
        """Return the block itself: the host and the GPU share their memory."""
        return handle.host[handle.start : handle.start + nbytes]

    def synchronize(self) -> None:
        """Return when everything that was launched has finished.

        Raises:
            DeviceError: a kernel failed.
        """
        self._context.synchronize()
