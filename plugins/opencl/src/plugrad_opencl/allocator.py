"""Memory of a device: buffers, kept for reuse, and views of any part of them."""

from typing import Any

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator
from plugrad_opencl.context import Context
from plugrad_opencl.driver import opencl


class Block:
    """The value of a kernel argument: a buffer, and the byte offset of its data.

    Sub-buffers begin at multiples of the device's alignment only; the bytes from there are the `shift`, which
    kernels add to their pointers.

    Attributes:
        buffer: a buffer, or a sub-buffer.
        shift: bytes from the beginning of `buffer`; less than the device's alignment.
    """

    __slots__ = ("buffer", "shift")

    def __init__(self, buffer: Any, shift: int = 0) -> None:
        self.buffer = buffer
        self.shift = shift

    def __repr__(self) -> str:
        return f"<Block of {self.buffer.size} bytes, from byte {self.shift}>"


class OpenClAllocator(LruAllocator[Block]):
    """The memory of one device. Copies wait for what was launched before them."""

    def __init__(self, context: Context) -> None:
        total = int(context.device.global_mem_size)
        super().__init__(min(4 << 30, total // 4) if context.device.host_unified_memory else total // 2)
        self._context = context
        self._align = int(context.target.get("align", "1"))
        self._largest = int(context.device.max_mem_alloc_size)

    def _alloc(self, nbytes: int) -> Block:
        cl, context = opencl(), self._context
        context.check()
        if nbytes > self._largest:
            raise DeviceOutOfMemory(
                f"{context.target.name} has no blocks of {nbytes} bytes, only up to {self._largest}",
                device=context.target.name,
                requested_bytes=nbytes,
            )
        try:
            buffer = cl.Buffer(context.context, cl.mem_flags.READ_WRITE, nbytes)
            # drivers may put off the allocation until the first use; a launch is no good place to run out
            flags = cl.mem_migration_flags.CONTENT_UNDEFINED
            cl.enqueue_migrate_mem_objects(context.queue, [buffer], flags)
        except cl.Error as error:
            raise context.failure(error, f"allocating {nbytes} bytes", nbytes) from error
        return Block(buffer)

    def _free(self, handle: Block, nbytes: int) -> None:
        # what is enqueued keeps the memory until it has run
        handle.buffer.release()

    def copyin(self, handle: Block, source: memoryview) -> None:
        """Copy `source` into the block."""
        cl, context = opencl(), self._context
        context.check()
        try:
            cl.enqueue_copy(context.queue, handle.buffer, source, dst_offset=handle.shift, is_blocking=True)
        except cl.Error as error:
            raise context.failure(error, f"copying {source.nbytes} bytes in") from error

    def copyout(self, dest: memoryview, handle: Block) -> None:
        """Copy the block's first bytes to `dest`, after what was launched before."""
        cl, context = opencl(), self._context
        context.check()
        try:
            cl.enqueue_copy(context.queue, dest, handle.buffer, src_offset=handle.shift, is_blocking=True)
        except cl.Error as error:
            raise context.failure(error, f"copying {dest.nbytes} bytes out") from error

    def offset(self, handle: Block, nbytes: int, offset_bytes: int) -> Block:
        """Return a part of the block: an aligned sub-buffer and a shift."""
        start = handle.shift + offset_bytes
        shift = start % self._align
        origin = start - shift
        if not nbytes or not origin:
            return Block(handle.buffer, start if nbytes else 0)
        cl, context = opencl(), self._context
        try:
            return Block(handle.buffer.get_sub_region(origin, shift + nbytes), shift)
        except cl.Error as error:
            raise context.failure(error, f"taking {nbytes} bytes from byte {offset_bytes} on") from error

    def synchronize(self) -> None:
        """Return when everything that was launched has finished."""
        cl, context = opencl(), self._context
        context.check()
        try:
            context.queue.finish()
        except cl.Error as error:
            raise context.failure(error, "waiting for what was launched") from error
