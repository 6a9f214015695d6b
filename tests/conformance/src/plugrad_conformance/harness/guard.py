"""A guarded allocator: canaries beside every block, poison in fresh and freed memory.

A kernel that writes past the end of a buffer changes a canary; one that reads memory nobody wrote, or that
was freed, finds NaN in every float and -1 in every integer.
"""

import math
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from plugrad.runtime.allocator import Allocator

#: What lies beside a block. Read as any float it is NaN, and no fill of a kernel looks like it.
CANARY = bytes((0xF1, 0xFF))
#: What lies in a block before it is written and after it is freed: NaN in every float, -1 in every integer.
POISON = bytes((0xFF,))
#: Bytes before and after each block. A multiple of what devices ask of the start of a view.
MARGIN = 512
#: More than any device has: nobody may hand out as much.
MOST = 1 << 50
#: Where a view of the end of a block may start.
_ALIGNMENT = 4096


@dataclass(slots=True, eq=False)
class _Block:
    base: Any
    handle: Any
    nbytes: int
    front: int

    @property
    def total(self) -> int:
        return self.front + self.nbytes + MARGIN


class GuardedAllocator(Allocator[Any]):
    """The memory of a device, watched.

    Args:
        inner: the device's own allocator.
        views: whether parts of a block can be named; without, there is no canary in front.

    Attributes:
        operations: allocations, copies and views so far.
        violations: what was found to be wrong, in sentences.
    """

    def __init__(self, inner: Allocator[Any], *, views: bool = True) -> None:
        self.inner = inner
        self.operations = 0
        self.violations: list[str] = []
        self._front = MARGIN if views else 0
        self._lock = threading.RLock()
        self._blocks: dict[int, _Block] = {}
        # `free` runs in garbage collections, which may not wait for a device: the work is done later
        self._returned: deque[tuple[Any, int]] = deque()

    def alloc(self, nbytes: int) -> Any:
        """Return a poisoned block between canaries."""
        self.settle()
        self.operations += 1
        front = self._front
        base = self.inner.alloc(front + nbytes + MARGIN)
        assert nbytes < MOST, f"{nbytes} bytes were handed out"
        self.inner.copyin(base, memoryview(CANARY * (front // 2) + POISON * nbytes + CANARY * (MARGIN // 2)))
        handle = self.inner.offset(base, max(nbytes, 1), front) if front else base
        with self._lock:
            self._blocks[_key(handle)] = _Block(base, handle, nbytes, front)
        return handle

    def free(self, handle: Any, nbytes: int) -> None:
        """Take a block back; it is looked at, poisoned and freed before the next allocation."""
        self._returned.append((handle, nbytes))

    def settle(self) -> None:
        """Check, poison and free the blocks that came back."""
        if not self._returned:
            return
        self.inner.synchronize()
        while self._returned:
            handle, nbytes = self._returned.popleft()
            with self._lock:
                block = self._blocks.pop(_key(handle), None)
            if block is None or block.nbytes != nbytes:
                self.violations.append(f"a block of {nbytes} bytes was freed that nobody holds")
                continue
            self._inspect(block)
            self.inner.copyin(block.base, memoryview(POISON * block.total))
            self.inner.free(block.base, block.total)

    def check(self) -> list[str]:
        """Read the canaries of all blocks, and return new errors."""
        self.settle()
        with self._lock:
            blocks = list(self._blocks.values())
        for block in blocks:
            self._inspect(block)
        found, self.violations = self.violations, []
        return found

    def _inspect(self, block: _Block) -> None:
        if block.front and self._read(block, 0, block.front) != CANARY * (block.front // 2):
            self.violations.append(
                f"the {block.front} bytes before a buffer of {block.nbytes} bytes were overwritten"
            )
            self._repair(block)
        tail = self._read(block, block.front + block.nbytes, block.total)
        if tail != CANARY * (MARGIN // 2):
            at = next(i for i, byte in enumerate(tail) if byte != CANARY[i % 2])
            self.violations.append(f"byte {at} after a buffer of {block.nbytes} bytes was overwritten")
            self._repair(block)

    def _read(self, block: _Block, begin: int, end: int) -> bytes:
        """Return bytes of a block, of a large one through a view near its end."""
        start = begin // _ALIGNMENT * _ALIGNMENT if block.front else 0
        out = bytearray(end - start)
        source = self.inner.offset(block.base, len(out), start) if start else block.base
        self.inner.copyout(memoryview(out), source)
        return bytes(out[begin - start :])

    def _repair(self, block: _Block) -> None:
        """Restore the canaries, so that one overrun is reported once."""
        whole = bytearray(block.total)
        self.inner.copyout(memoryview(whole), block.base)
        whole[: block.front] = CANARY * (block.front // 2)
        whole[block.front + block.nbytes :] = CANARY * (MARGIN // 2)
        self.inner.copyin(block.base, memoryview(whole))

    def copyin(self, handle: Any, source: memoryview) -> None:
        """Copy into a block."""
        self.operations += 1
        self.inner.copyin(handle, source)

    def copyout(self, dest: memoryview, handle: Any) -> None:
        """Copy out of a block."""
        self.operations += 1
        self.inner.copyout(dest, handle)

    def copy_from(self, handle: Any, source: Allocator[Any], source_handle: Any, nbytes: int) -> bool:
        """Copy from a block of another device's own memory."""
        self.operations += 1
        inner = source.inner if isinstance(source, GuardedAllocator) else source
        return self.inner.copy_from(handle, inner, source_handle, nbytes)

    def offset(self, handle: Any, nbytes: int, offset_bytes: int) -> Any:
        """Return a view of a block, made of the device's own block."""
        self.operations += 1
        block = self._blocks.get(_key(handle))
        if block is None:
            return self.inner.offset(handle, nbytes, offset_bytes)
        return self.inner.offset(block.base, nbytes, block.front + offset_bytes)

    def as_memoryview(self, handle: Any, nbytes: int) -> memoryview | None:
        """Return the block itself, where the host can see it."""
        return self.inner.as_memoryview(handle, nbytes)

    def from_host(self, source: memoryview) -> Any:
        """Refuse: what is imported has no canaries. Cases of their own import through `inner`."""
        return None

    def synchronize(self) -> None:
        """Wait for everything that was launched."""
        self.inner.synchronize()

    def free_cache(self) -> int:
        """Give kept blocks back."""
        self.settle()
        return self.inner.free_cache()


def _key(handle: Any) -> int:
    return handle if isinstance(handle, int) else id(handle)


assert math.lcm(MARGIN, len(CANARY)) == MARGIN, "canaries fill the margins"
