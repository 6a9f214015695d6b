"""The PYTHON device's memory: bytes of the host, with what was never written made visible."""

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator

#: NaN in every float, -1 in every signed integer.
POISON = 0xFF


class Storage:
    """The bytes of blocks; read-only ones, such as `bytes`, are copied at the first write."""

    __slots__ = ("memory",)

    def __init__(self, memory: memoryview) -> None:
        self.memory = memory


class Block:
    """`nbytes` of a storage from `offset_bytes` on."""

    __slots__ = ("_storage", "nbytes", "offset_bytes")

    def __init__(self, storage: Storage, nbytes: int, offset_bytes: int = 0) -> None:
        self._storage = storage
        self.nbytes = nbytes
        self.offset_bytes = offset_bytes

    def __repr__(self) -> str:
        return f"<Block of {self.nbytes} bytes at {self.offset_bytes}>"

    def part(self, nbytes: int, offset_bytes: int) -> "Block":
        """Return part of this block, in the same storage."""
        return Block(self._storage, nbytes, self.offset_bytes + offset_bytes)

    def readable(self) -> memoryview:
        """Return the bytes, not to be written."""
        return self._storage.memory[self.offset_bytes : self.offset_bytes + self.nbytes]

    def writable(self) -> memoryview:
        """Return the bytes for writing.

        A read-only storage becomes a copy first, for all its blocks.
        """
        if self._storage.memory.readonly:
            self._storage.memory = memoryview(bytearray(self._storage.memory))
        return self.readable()


class HostAllocator(LruAllocator[Block]):
    """Memory of the host, poisoned at each allocation so that reading before writing shows."""

    def alloc(self, nbytes: int) -> Block:
        """Return a poisoned block."""
        block = super().alloc(nbytes)
        if nbytes:  # an empty memoryview refuses to be written, even nothing
            block.writable()[:] = bytes((POISON,)) * nbytes
        return block

    def _alloc(self, nbytes: int) -> Block:
        try:
            return Block(Storage(memoryview(bytearray(nbytes))), nbytes)
        except (MemoryError, OverflowError) as error:
            raise DeviceOutOfMemory(
                f"the host has no block of {nbytes} bytes left.", device="PYTHON", requested_bytes=nbytes
            ) from error

    def _free(self, handle: Block, nbytes: int) -> None:
        """Nothing to do: the bytes go with the block."""

    def copyin(self, handle: Block, source: memoryview) -> None:
        """Copy `source` into the block."""
        handle.writable()[: source.nbytes] = source

    def copyout(self, dest: memoryview, handle: Block) -> None:
        """Copy the block's first bytes to `dest`."""
        dest[:] = handle.readable()[: dest.nbytes]

    def offset(self, handle: Block, nbytes: int, offset_bytes: int) -> Block:
        """Return part of a block."""
        return handle.part(nbytes, offset_bytes)

    def as_memoryview(self, handle: Block, nbytes: int) -> memoryview:
        """Return the block itself; read-only where it is a `bytes` object that was never written."""
        return handle.readable()[:nbytes]

    def from_host(self, source: memoryview) -> Block | None:
        """Return a block that is `source` itself; None where `source` is not contiguous."""
        if not source.c_contiguous:
            return None
        return Block(Storage(source), source.nbytes)
