"""Memory for kernels: aligned, in huge pages where it is large, and kept for reuse.

A handle is an address. Fresh pages cost more than most kernels that fill them, so freed blocks wait for the
next request of their size; blocks of 2 MB and more ask for huge pages.
"""

import contextlib
import os
import sys
from typing import Any

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator
from plugrad_cpu_clang._native import ffi
from plugrad_cpu_clang.library import c_library
from plugrad_cpu_clang.pool import pool

ALIGNMENT = 64  # a cache line, and the widest vector
HUGE_PAGE = 2 << 20
IMPORT_ALIGNMENT = 16  # of foreign memory: every element type is aligned, whichever the kernel reads
COPY_PIECE = 1 << 20  # copies of more than two pieces run on all threads
_MOST_ADDED = 1.125  # of a block, to make it whole huge pages
_ADVICE_HUGE_PAGES = 14  # MADV_HUGEPAGE
_SMALL_PAGE = os.sysconf("SC_PAGE_SIZE")
_READ_WRITE = 3  # PROT_READ | PROT_WRITE
_PRIVATE_ANONYMOUS = 0x22  # Linux's MAP_PRIVATE | MAP_ANONYMOUS
_FAILED = 2**64 - 1 if sys.maxsize > 2**32 else 2**32 - 1  # MAP_FAILED


class HostAddress(int):
    """The address of another owner's memory, which it keeps alive."""

    owner: Any


class CpuAllocator(LruAllocator[int]):
    """The memory of the CPU device.

    Example:
        >>> allocator = CpuAllocator()
        >>> block = allocator.alloc(1024)
        >>> block % ALIGNMENT
        0
    """

    def __init__(self, cache_limit_bytes: int | None = None) -> None:
        super().__init__(_cache_limit() if cache_limit_bytes is None else cache_limit_bytes)

    def _alloc(self, nbytes: int) -> int:
        address = _huge_block(nbytes) if _is_huge(nbytes) else _heap_block(nbytes)
        if address is None:
            raise DeviceOutOfMemory(
                f"the host has no block of {nbytes} bytes left", device="CPU", requested_bytes=nbytes
            )
        return address

    def _free(self, handle: int, nbytes: int) -> None:
        if _is_huge(nbytes):
            c_library.munmap(handle, _mapped_bytes(nbytes))
        else:
            c_library.free(ffi.cast("void *", handle))

    def copyin(self, handle: int, source: memoryview) -> None:
        """Copy `source` into the block."""
        with ffi.from_buffer(source) as memory:
            _copy(handle, _address(memory), source.nbytes)

    def copyout(self, dest: memoryview, handle: int) -> None:
        """Copy the block's first bytes to `dest`."""
        with ffi.from_buffer(dest, require_writable=True) as memory:
            _copy(_address(memory), handle, dest.nbytes)

    def offset(self, handle: int, nbytes: int, offset_bytes: int) -> int:
        """Return the address of a part of the block."""
        return handle + offset_bytes

    def as_memoryview(self, handle: int, nbytes: int) -> memoryview:
        """Return the block itself."""
        return memoryview(ffi.buffer(ffi.cast("char *", handle), nbytes))

    def from_host(self, source: memoryview) -> HostAddress | None:
        """Return the address of `source`, or None where kernels cannot use it directly.

        That takes contiguous memory in which every element is aligned. Kernels are slower on memory that is
        not aligned to cache lines.
        """
        if not source.c_contiguous or not source.nbytes:
            return None
        memory = ffi.from_buffer(source)
        address = HostAddress(_address(memory))
        if address % IMPORT_ALIGNMENT:
            return None
        address.owner = memory
        return address


def _is_huge(nbytes: int) -> bool:
    return nbytes >= HUGE_PAGE and sys.platform == "linux"


def _mapped_bytes(nbytes: int) -> int:
    """Return a block's size in huge pages where that adds little, else in small ones."""
    whole = -(-nbytes // HUGE_PAGE) * HUGE_PAGE
    return whole if whole <= _MOST_ADDED * nbytes else -(-nbytes // _SMALL_PAGE) * _SMALL_PAGE


def _huge_block(nbytes: int) -> int | None:
    """Return the address of fresh memory in huge pages, or None where there is none.

    It comes from the system: the heap of the C library hands out what others freed, whose pages stay small.
    """
    mapped = _mapped_bytes(nbytes)
    taken = mapped + HUGE_PAGE
    start = (
        c_library.mmap(0, taken, _READ_WRITE, _PRIVATE_ANONYMOUS, -1, 0) if taken <= sys.maxsize else _FAILED
    )
    if start == _FAILED:
        return None
    address = -(-start // HUGE_PAGE) * HUGE_PAGE
    for unused, end in ((start, address), (address + mapped, start + taken)):
        if end > unused:
            c_library.munmap(unused, end - unused)
    # a refusal (huge pages are switched off) leaves small pages, which work too
    c_library.madvise(address, mapped // HUGE_PAGE * HUGE_PAGE, _ADVICE_HUGE_PAGES)
    return address


def _heap_block(nbytes: int) -> int | None:
    out: Any = ffi.new("void **")
    if nbytes > sys.maxsize or c_library.posix_memalign(out, ALIGNMENT, nbytes):
        return None
    return int(ffi.cast("uintptr_t", out[0]))


def _address(memory: Any) -> int:
    return int(ffi.cast("uintptr_t", memory))


def _copy(to: int, source: int, nbytes: int) -> None:
    if nbytes > 2 * COPY_PIECE:
        pool().plugrad_copy(to, source, nbytes, COPY_PIECE)
    else:
        ffi.memmove(ffi.cast("char *", to), ffi.cast("char *", source), nbytes)


def _cache_limit() -> int:
    """Return the limit of kept memory: a quarter of the machine's, at most 4 GB."""
    total = 16 << 30
    with contextlib.suppress(ValueError, OSError):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(4 << 30, total // 4)
