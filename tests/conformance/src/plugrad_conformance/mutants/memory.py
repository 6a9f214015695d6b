"""Allocators with a defect."""

import contextlib
from typing import Any

from plugrad.errors import DeviceError
from plugrad.runtime.allocator import Allocator
from plugrad_conformance.mutants.mutant import Mutant

_MEMORY = "minimal/memory/"


class Wrapped(Allocator[Any]):
    """An allocator that hands everything on; defects override a method or two."""

    def __init__(self, inner: Allocator[Any]) -> None:
        self.inner = inner

    def alloc(self, nbytes: int) -> Any:
        """Hand on."""
        return self.inner.alloc(nbytes)

    def free(self, handle: Any, nbytes: int) -> None:
        """Hand on."""
        self.inner.free(handle, nbytes)

    def copyin(self, handle: Any, source: memoryview) -> None:
        """Hand on."""
        self.inner.copyin(handle, source)

    def copyout(self, dest: memoryview, handle: Any) -> None:
        """Hand on."""
        self.inner.copyout(dest, handle)

    def offset(self, handle: Any, nbytes: int, offset_bytes: int) -> Any:
        """Hand on."""
        return self.inner.offset(handle, nbytes, offset_bytes)

    def as_memoryview(self, handle: Any, nbytes: int) -> memoryview | None:
        """Hand on."""
        return self.inner.as_memoryview(handle, nbytes)

    def from_host(self, source: memoryview) -> Any:
        """Hand on."""
        return self.inner.from_host(source)

    def synchronize(self) -> None:
        """Hand on."""
        self.inner.synchronize()

    def free_cache(self) -> int:
        """Hand on."""
        return self.inner.free_cache()


class _CopyoutOffByOne(Wrapped):
    def copyout(self, dest: memoryview, handle: Any) -> None:
        if len(dest) > 1:
            self.inner.copyout(dest[:-1], handle)


class _CopyinOffByOne(Wrapped):
    def copyin(self, handle: Any, source: memoryview) -> None:
        self.inner.copyin(handle, source[:-1])


class _CopyinKeepsSource(Wrapped):
    """Copies when the block is next looked at, as asynchronous copies of pageable memory."""

    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._pending: list[tuple[Any, memoryview]] = []

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        for handle, source in pending:
            self.inner.copyin(handle, source)

    def copyin(self, handle: Any, source: memoryview) -> None:
        self._flush()
        self._pending.append((handle, source))

    def copyout(self, dest: memoryview, handle: Any) -> None:
        self._flush()
        self.inner.copyout(dest, handle)


class _CopyoutOverruns(Wrapped):
    def copyout(self, dest: memoryview, handle: Any) -> None:
        self.inner.copyout(dest, handle)
        whole: Any = dest.obj
        if isinstance(whole, bytearray) and len(whole) > len(dest):
            whole[-1] = 0


class _LargeCopiesAreHalf(Wrapped):
    def copyout(self, dest: memoryview, handle: Any) -> None:
        self.inner.copyout(dest if len(dest) <= 65536 else dest[: len(dest) // 2], handle)

    def as_memoryview(self, handle: Any, nbytes: int) -> memoryview | None:
        return None


class _PeerCopy(Wrapped):
    """Copies between devices by itself."""

    def copy_from(self, handle: Any, source: Allocator[Any], source_handle: Any, nbytes: int) -> bool:
        data = bytearray(nbytes)
        source.copyout(memoryview(data), source_handle)
        self.inner.copyin(handle, memoryview(data))
        return True


class _PeerCopyLeavesOutTheEnd(_PeerCopy):
    def copy_from(self, handle: Any, source: Allocator[Any], source_handle: Any, nbytes: int) -> bool:
        return super().copy_from(handle, source, source_handle, nbytes // 16 * 16)


class _PeerCopyIsLate(_PeerCopy):
    """Copies when the block is next read, whatever happens to the source meanwhile."""

    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._pending: list[tuple[Any, Allocator[Any], Any, int]] = []

    def copy_from(self, handle: Any, source: Allocator[Any], source_handle: Any, nbytes: int) -> bool:
        self._pending.append((handle, source, source_handle, nbytes))
        return True

    def copyout(self, dest: memoryview, handle: Any) -> None:
        pending, self._pending = self._pending, []
        for copy in pending:
            super().copy_from(*copy)
        self.inner.copyout(dest, handle)


class _OffsetIgnored(Wrapped):
    def offset(self, handle: Any, nbytes: int, offset_bytes: int) -> Any:
        return self.inner.offset(handle, nbytes, 0)


class _Aliased(Wrapped):
    """Every second request of a size gets the block of the first."""

    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._last: dict[int, Any] = {}

    def alloc(self, nbytes: int) -> Any:
        if nbytes in self._last:
            return self._last.pop(nbytes)
        self._last[nbytes] = self.inner.alloc(nbytes)
        return self._last[nbytes]

    def free(self, handle: Any, nbytes: int) -> None:
        """Let go of neither."""


class _DoubleFreeAccepted(Wrapped):
    def free(self, handle: Any, nbytes: int) -> None:
        with contextlib.suppress(DeviceError):
            self.inner.free(handle, nbytes)


class _AnySizeFreed(Wrapped):
    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._sizes: dict[int, int] = {}

    def alloc(self, nbytes: int) -> Any:
        handle = self.inner.alloc(nbytes)
        self._sizes[id(handle)] = nbytes
        return handle

    def free(self, handle: Any, nbytes: int) -> None:
        self.inner.free(handle, self._sizes.get(id(handle), nbytes))


class _GarbageWhenFull(Wrapped):
    def alloc(self, nbytes: int) -> Any:
        return self.inner.alloc(min(nbytes, 1 << 26))


class _UntypedOutOfMemory(Wrapped):
    def alloc(self, nbytes: int) -> Any:
        if nbytes > 1 << 40:
            raise ValueError("error -5")
        return self.inner.alloc(nbytes)


class _NoEmptyBlocks(Wrapped):
    def alloc(self, nbytes: int) -> Any:
        if nbytes == 0:
            raise ValueError("size must be positive")
        return self.inner.alloc(nbytes)


class _FreeCacheFreesAll(Wrapped):
    """Gives every block back, those in use as well."""

    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._blocks: list[tuple[Any, int]] = []

    def alloc(self, nbytes: int) -> Any:
        handle = self.inner.alloc(nbytes)
        self._blocks.append((handle, nbytes))
        return handle

    def free_cache(self) -> int:
        for handle, nbytes in self._blocks:
            self.inner.copyin(handle, memoryview(bytes(nbytes)))
        return self.inner.free_cache()


class _NothingFreed(Wrapped):
    def __init__(self, inner: Allocator[Any]) -> None:
        super().__init__(inner)
        self._kept: list[Any] = []

    def free(self, handle: Any, nbytes: int) -> None:
        self._kept.append(handle)


class _HostViewIsACopy(Wrapped):
    def as_memoryview(self, handle: Any, nbytes: int) -> memoryview | None:
        out = bytearray(nbytes)
        self.inner.copyout(memoryview(out), handle)
        return memoryview(out)


MUTANTS = (
    Mutant(
        "copyout-off-by-one",
        "copyout leaves the last byte out",
        (_MEMORY + "copies-come-back",),
        allocator=_CopyoutOffByOne,
    ),
    Mutant(
        "copyin-off-by-one",
        "copyin leaves the last byte out",
        (_MEMORY + "copies-come-back",),
        allocator=_CopyinOffByOne,
    ),
    Mutant(
        "copyin-keeps-its-source",
        "copyin reads its source after it returned",
        (_MEMORY + "copyin-takes-a-copy",),
        allocator=_CopyinKeepsSource,
    ),
    Mutant(
        "copyout-overruns",
        "copyout writes behind its destination",
        (_MEMORY + "copyout-reads-a-prefix",),
        allocator=_CopyoutOverruns,
    ),
    Mutant(
        "peer-copy-copies-half",
        "copies of more than 64 KB stop half-way",
        (_MEMORY + "large-copies-come-back", "full/device/peer-copies-are-whole"),
        allocator=_LargeCopiesAreHalf,
    ),
    Mutant(
        "peer-copy-leaves-out-the-end",
        "a copy from another device brings whole groups of 16 bytes only",
        ("full/device/peer-copies-are-whole",),
        allocator=_PeerCopyLeavesOutTheEnd,
    ),
    Mutant(
        "peer-copy-is-late",
        "a copy from another device takes place when somebody reads the block",
        ("full/device/peer-copies-keep-their-order",),
        allocator=_PeerCopyIsLate,
    ),
    Mutant(
        "offset-ignored",
        "a view begins where its block begins",
        (_MEMORY + "offset-is-a-view",),
        allocator=_OffsetIgnored,
    ),
    Mutant(
        "blocks-aliased",
        "two blocks of one size are the same memory",
        (_MEMORY + "blocks-are-apart",),
        allocator=_Aliased,
    ),
    Mutant(
        "double-free-accepted",
        "a block can be freed twice",
        (_MEMORY + "double-free-is-refused",),
        allocator=_DoubleFreeAccepted,
    ),
    Mutant(
        "any-size-freed",
        "a block can be freed with any size",
        (_MEMORY + "wrong-size-free-is-refused",),
        allocator=_AnySizeFreed,
    ),
    Mutant(
        "out-of-memory-returns-garbage",
        "a request that does not fit gets a smaller block",
        (_MEMORY + "out-of-memory-is-typed", "full/device/out-of-memory-recovers"),
        allocator=_GarbageWhenFull,
    ),
    Mutant(
        "out-of-memory-untyped",
        "a request that does not fit raises ValueError",
        (_MEMORY + "out-of-memory-is-typed",),
        allocator=_UntypedOutOfMemory,
    ),
    Mutant(
        "no-empty-blocks",
        "blocks of 0 bytes are refused",
        (_MEMORY + "zero-bytes",),
        allocator=_NoEmptyBlocks,
    ),
    Mutant(
        "free-cache-frees-all",
        "free_cache takes blocks that are in use",
        (_MEMORY + "free-cache-keeps-live-blocks",),
        allocator=_FreeCacheFreesAll,
    ),
    Mutant(
        "nothing-freed",
        "free keeps the block for ever",
        (_MEMORY + "freed-memory-is-reusable",),
        allocator=_NothingFreed,
    ),
    Mutant(
        "host-view-is-a-copy",
        "as_memoryview returns a copy",
        (_MEMORY + "host-views-are-the-memory",),
        allocator=_HostViewIsACopy,
    ),
    Mutant(
        "second-device-is-the-first",
        "X:1 runs on X:0",
        ("full/device/second-device-is-another",),
        shared_memory=True,
    ),
)
