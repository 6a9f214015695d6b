"""Allocate GPU memory, keep it for reuse, and copy through page-locked memory, in pieces.

A copy from ordinary memory would be done by the driver in the same way, but not beside the next piece.
"""

from typing import Any

from plugrad.runtime.allocator import Allocator, LruAllocator
from plugrad_cuda.context import STAGING_BYTES, Context
from plugrad_cuda.memory.peer import copy_between
from plugrad_cuda.native import ffi


class CudaAllocator(LruAllocator[int]):
    """The memory of one device. A handle is an address.

    All work of a device is in one stream, so a block can be used again while the kernel before it still runs.
    Blocks are kept for requests of the same size. Where the driver has pools, one of them makes others of the
    rest without a wait, and less is kept here.

    Args:
        context: the open device.
        memory_bytes: how much it has, to keep half of that at most.
    """

    def __init__(self, context: Context, memory_bytes: int = 0) -> None:
        super().__init__(memory_bytes // (2 if context.pool is None else 8) or 4 << 30)
        self._context = context

    def _alloc(self, nbytes: int) -> int:
        return self._context.alloc(nbytes)

    def _free(self, handle: int, nbytes: int) -> None:
        self._context.free(handle)

    def free_cache(self) -> int:
        """Give all kept blocks back to the device, and return their number of bytes.

        The driver's pool gives back its memory too.

        Raises:
            DeviceError: the device is lost.
        """
        freed = super().free_cache()
        self._context.trim()
        return freed

    def copyin(self, handle: int, source: memoryview) -> None:
        """Copy `source` into the block; returns when `source` is read."""
        context, library = self._context, self._context.driver.library
        doing = f"copying {source.nbytes} bytes in"
        with context.lock, ffi.from_buffer(source) as host:
            context.enter()
            for number, start in enumerate(range(0, source.nbytes, STAGING_BYTES)):
                piece = context.staged()[number % 2]
                nbytes = min(STAGING_BYTES, source.nbytes - start)
                context.wait_for(piece.event, doing)
                ffi.memmove(piece.memory, host + start, nbytes)
                status = library.cuMemcpyHtoDAsync_v2(handle + start, piece.memory, nbytes, context.stream)
                context.check(status, doing)
                context.check(library.cuEventRecord(piece.event, context.stream), doing)

    def copyout(self, dest: memoryview, handle: int) -> None:
        """Copy the block's first bytes to `dest`, after what was launched before."""
        context = self._context
        doing = f"copying {dest.nbytes} bytes out"
        with context.lock, ffi.from_buffer(dest, require_writable=True) as host:
            context.enter()
            starts = range(0, dest.nbytes, STAGING_BYTES)
            for number, start in enumerate(starts):
                self._begin_copyout(number, handle + start, min(STAGING_BYTES, dest.nbytes - start), doing)
                if number:
                    self._end_copyout(number - 1, host + starts[number - 1], STAGING_BYTES, doing)
            if starts:
                self._end_copyout(len(starts) - 1, host + starts[-1], dest.nbytes - starts[-1], doing)
                context.launched.clear()

    def copy_from(self, handle: int, source: Allocator[Any], source_handle: Any, nbytes: int) -> bool:
        """Copy from a block of a GPU that this one can read.

        Return whether the copy was made.

        Raises:
            DeviceError: one of the devices failed.
        """
        if not isinstance(source, CudaAllocator):
            return False
        return copy_between(self._context, handle, source._context, source_handle, nbytes)

    def offset(self, handle: int, nbytes: int, offset_bytes: int) -> int:
        """Return the address of a part of the block."""
        return handle + offset_bytes

    def synchronize(self) -> None:
        """Return when everything that was launched has finished.

        Raises:
            DeviceError: a kernel failed.
        """
        self._context.synchronize()

    def _begin_copyout(self, number: int, address: int, nbytes: int, doing: str) -> None:
        context, library = self._context, self._context.driver.library
        piece = context.staged()[number % 2]
        context.wait_for(piece.event, doing)
        status = library.cuMemcpyDtoHAsync_v2(piece.memory, address, nbytes, context.stream)
        context.check(status, doing)
        context.check(library.cuEventRecord(piece.event, context.stream), doing)

    def _end_copyout(self, number: int, host: Any, nbytes: int, doing: str) -> None:
        piece = self._context.staged()[number % 2]
        self._context.wait_for(piece.event, doing)
        ffi.memmove(host, piece.memory, nbytes)
