"""The host's memory: a block is an address."""

import ctypes
from typing import Any

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator
from plugrad_llvm.llvm import NAME

ALIGNMENT = 64  # a cache line, and the widest vector


class Borrowed(int):
    """The address of memory that somebody else owns, who is kept alive by it."""

    owner: Any


class HostAllocator(LruAllocator[int]):
    """Blocks of the C library, kept for reuse.

    Example:
        >>> HostAllocator().alloc(100) % ALIGNMENT
        0
    """

    def __init__(self) -> None:
        super().__init__(cache_limit_bytes=1 << 30)
        self._c = ctypes.CDLL(None)
        self._c.free.argtypes = [ctypes.c_void_p]

    def _alloc(self, nbytes: int) -> int:
        out = ctypes.c_void_p()
        size = ctypes.c_size_t(nbytes)
        if size.value != nbytes or self._c.posix_memalign(
            ctypes.byref(out), ctypes.c_size_t(ALIGNMENT), size
        ):
            raise DeviceOutOfMemory(
                f"the host has no block of {nbytes} bytes left", device=NAME, requested_bytes=nbytes
            )
        assert out.value is not None, "posix_memalign reported success"
        return out.value

    def _free(self, handle: int, nbytes: int) -> None:
        self._c.free(handle)

    def copyin(self, handle: int, source: memoryview) -> None:
        """Copy `source` into the block."""
        self.as_memoryview(handle, source.nbytes)[:] = source.cast("B")

    def copyout(self, dest: memoryview, handle: int) -> None:
        """Copy the block's first bytes to `dest`; launches have ended when they return."""
        dest.cast("B")[:] = self.as_memoryview(handle, dest.nbytes)

    def offset(self, handle: int, nbytes: int, offset_bytes: int) -> int:
        """Return the address of a part."""
        return handle + offset_bytes

    def as_memoryview(self, handle: int, nbytes: int) -> memoryview:
        """Return the block itself."""
        return memoryview((ctypes.c_char * nbytes).from_address(handle)).cast("B")

    def from_host(self, source: memoryview) -> Borrowed | None:
        """Return the address of `source`, or None where a kernel cannot write to it."""
        if source.readonly or not source.c_contiguous or not source.nbytes:
            return None
        memory = (ctypes.c_char * source.nbytes).from_buffer(source)
        address = Borrowed(ctypes.addressof(memory))
        if address % 8:  # of the largest element
            return None
        address.owner = memory
        return address
