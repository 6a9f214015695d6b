"""Allocate device memory: the interface of a backend, and an allocator that keeps freed blocks.

A *handle* is whatever a backend uses to name a block (an address, an object); only its own allocator and
runner look into it.
"""

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from typing import Any, Generic, TypeVar

from plugrad.errors import DeviceError, DeviceOutOfMemory

Handle = TypeVar("Handle")

# Kept blocks cost more than their bytes: a program of ever new small sizes would keep millions of them.
_MOST_KEPT_BLOCKS = 8192
# So many freed blocks, each of so many bytes at most, wait for the next request before they are sorted by
# size: it often asks for just the one that was freed last.
_MOST_WAITING_BLOCKS = 16
_MOST_WAITING_BYTES = 64 << 10


class Allocator(ABC, Generic[Handle]):
    """The memory of one device.

    A backend overrides `alloc`, `free`, `copyin`, `copyout` and `offset` (or derives from `LruAllocator`),
    and the optional ones where the device can do better. Threads may call any method at the same time.

    Attributes:
        cached_bytes: (optional) bytes of freed blocks that are kept.
    """

    cached_bytes: int = 0

    @abstractmethod
    def alloc(self, nbytes: int) -> Handle:
        """Return a block of at least `nbytes` (`nbytes` may be 0).

        Raises:
            DeviceOutOfMemory: the device has no such block left.
        """

    @abstractmethod
    def free(self, handle: Handle, nbytes: int) -> None:
        """Take back a block that `alloc(nbytes)` returned.

        Raises:
            DeviceError: the block was freed before, or is not from this allocator.
        """

    @abstractmethod
    def copyin(self, handle: Handle, source: memoryview) -> None:
        """Copy `source` (contiguous bytes) into the block. `source` may change once this returns."""

    @abstractmethod
    def copyout(self, dest: memoryview, handle: Handle) -> None:
        """Copy the block's first bytes to `dest`, after every launch that writes them has finished."""

    @abstractmethod
    def offset(self, handle: Handle, nbytes: int, offset_bytes: int) -> Handle:
        """Return a handle to part of a block: `nbytes` bytes from `offset_bytes` on.

        The handle of a part is never freed.
        """

    def as_memoryview(self, handle: Handle, nbytes: int) -> memoryview | None:
        """(optional) Return the block as host memory, or None where the host cannot see it."""
        return None

    def copy_from(self, handle: Handle, source: "Allocator[Any]", source_handle: Any, nbytes: int) -> bool:
        """(optional) Copy `nbytes` from a block of `source`; return whether the copy was made.

        `source` may be of any backend, and this allocator itself. The copy takes effect after what was
        launched before on both devices, and before what is launched later on either. Where this returns False
        nothing has happened, and the bytes go through the host.

        Raises:
            DeviceError: one of the devices failed.
        """
        return False

    def from_host(self, source: memoryview) -> Handle | None:
        """(optional) Return a handle to `source` itself, or None where a copy is needed.

        The handle holds what it needs of `source`; it is dropped, never freed. Nobody writes to a handle that
        was made of read-only memory.
        """
        return None

    def synchronize(self) -> None:
        """(optional) Return when everything that was launched on the device has finished."""

    def free_cache(self) -> int:
        """(optional) Give the kept blocks back to the device; return their number of bytes."""
        return 0


class LruAllocator(Allocator[Handle]):
    """An allocator that keeps freed blocks by size and hands them out again.

    Fresh memory is dear (page faults, driver calls), and programs ask for the same sizes over and over. A
    backend overrides `_alloc` and `_free` in place of `alloc` and `free`. Kept blocks go back to the device
    when it runs out of memory, or when they pass `cache_limit_bytes` or some thousand blocks: the sizes
    unused for longest go first.

    Example:
        >>> class HostAllocator(LruAllocator[bytearray]):
        ...     def _alloc(self, nbytes: int) -> bytearray:
        ...         return bytearray(nbytes)
    """

    def __init__(self, cache_limit_bytes: int = 4 << 30) -> None:
        self.cache_limit_bytes = cache_limit_bytes
        self._cached_bytes = 0
        self._kept_blocks = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, list[Handle]] = OrderedDict()
        self._live: dict[int, int] = {}
        # `free` runs in garbage collections, at any line of any thread: it may never wait for a lock, so it
        # puts the block here, and whoever holds the lock next shelves it.
        self._returned: deque[tuple[Handle, int]] = deque()

    @abstractmethod
    def _alloc(self, nbytes: int) -> Handle:
        """Return a new block of `nbytes` (1 or more), or raise DeviceOutOfMemory or MemoryError."""

    def _free(self, handle: Handle, nbytes: int) -> None:
        """Give a block of `nbytes` back to the device.

        The default does nothing: dropping the handle is enough.
        """

    @property
    def cached_bytes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - it is only read
        """Bytes of freed blocks that are kept."""
        with self._lock:
            self._shelve_returned()
            return self._cached_bytes

    @property
    def live_bytes(self) -> int:
        """Bytes that are allocated and not freed yet."""
        return sum(list(self._live.values()))

    def alloc(self, nbytes: int) -> Handle:
        """Return a kept block of this size, or a new one.

        Where the device has no memory left, the kept blocks are given back first.
        """
        nbytes = nbytes or 1
        # others may add and take blocks at any moment: who takes one looks at the one that was taken
        try:
            handle, found = self._returned.pop()
        except IndexError:
            handle = self._take_kept(nbytes)
        else:
            if found != nbytes:
                self._returned.append((handle, found))
                handle = self._take_kept(nbytes)
        # addresses are compared by value, since equal integers are one block
        self._live[handle if isinstance(handle, int) else id(handle)] = nbytes
        return handle

    def free(self, handle: Handle, nbytes: int) -> None:
        """Keep the block for the next request of its size."""
        nbytes = nbytes or 1
        identity = handle if isinstance(handle, int) else id(handle)
        if self._live.get(identity) != nbytes:
            raise DeviceError(
                f"cannot free a block of {nbytes} bytes ({handle!r}): it was freed before, was allocated "
                "with another size, or is not from this allocator. Free each block once, with the size "
                "that was asked for."
            )
        del self._live[identity]
        self._returned.append((handle, nbytes))
        may_wait = nbytes <= _MOST_WAITING_BYTES and len(self._returned) <= _MOST_WAITING_BLOCKS
        if not may_wait and self._lock.acquire(blocking=False):
            try:
                self._shelve_returned()
            finally:
                self._lock.release()

    def free_cache(self) -> int:
        """Give all kept blocks back to the device; return how many bytes they held."""
        with self._lock:
            self._shelve_returned()
            freed = self._cached_bytes
            self._shrink_to(0, 0)
            return freed

    def _take_kept(self, nbytes: int) -> Handle:
        with self._lock:
            self._shelve_returned()
            blocks = self._kept.get(nbytes)
            if not blocks:
                return self._alloc_new(nbytes)
            self._kept.move_to_end(nbytes)
            self._cached_bytes -= nbytes
            self._kept_blocks -= 1
            return blocks.pop()

    def _alloc_new(self, nbytes: int) -> Handle:
        try:
            return self._alloc(nbytes)
        except (DeviceOutOfMemory, MemoryError):
            self._shrink_to(0, 0)
        try:
            return self._alloc(nbytes)
        except DeviceOutOfMemory:
            raise
        except MemoryError as error:
            raise DeviceOutOfMemory(f"no block of {nbytes} bytes is left", requested_bytes=nbytes) from error

    def _shelve_returned(self) -> None:
        while True:
            try:
                handle, nbytes = self._returned.popleft()
            except IndexError:
                break
            blocks = self._kept.get(nbytes)
            if blocks is None:
                blocks = self._kept[nbytes] = []
            else:
                self._kept.move_to_end(nbytes)
            blocks.append(handle)
            self._cached_bytes += nbytes
            self._kept_blocks += 1
        if self._cached_bytes > self.cache_limit_bytes or self._kept_blocks > _MOST_KEPT_BLOCKS:
            self._shrink_to(self.cache_limit_bytes, _MOST_KEPT_BLOCKS)

    def _shrink_to(self, limit_bytes: int, limit_blocks: int) -> None:
        while self._cached_bytes > limit_bytes or self._kept_blocks > limit_blocks:
            nbytes, blocks = next(iter(self._kept.items()))
            if not blocks:
                del self._kept[nbytes]
                continue
            self._cached_bytes -= nbytes
            self._kept_blocks -= 1
            self._free(blocks.pop(), nbytes)
