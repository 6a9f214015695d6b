"""A device made of host memory with a budget, for tests of what stands above allocators."""

import pytest

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.allocator import LruAllocator


class HostAllocator(LruAllocator[memoryview]):
    """Blocks are bytearrays; at most `budget` bytes of them exist at once."""

    def __init__(self, budget: int = 1 << 20, shows_memory: bool = True, cache_limit_bytes: int = 1 << 30):
        super().__init__(cache_limit_bytes)
        self.budget = budget
        self.shows_memory = shows_memory
        self.allocations = 0

    def _alloc(self, nbytes: int) -> memoryview:
        if nbytes > self.budget:
            raise DeviceOutOfMemory(f"{self.budget} bytes are left of the budget")
        self.budget -= nbytes
        self.allocations += 1
        return memoryview(bytearray(nbytes))

    def _free(self, handle: memoryview, nbytes: int) -> None:
        self.budget += nbytes

    def copyin(self, handle: memoryview, source: memoryview) -> None:
        handle[: len(source)] = source

    def copyout(self, dest: memoryview, handle: memoryview) -> None:
        dest[:] = handle[: len(dest)]

    def offset(self, handle: memoryview, nbytes: int, offset_bytes: int) -> memoryview:
        return handle[offset_bytes : offset_bytes + nbytes]

    def as_memoryview(self, handle: memoryview, nbytes: int) -> memoryview | None:
        return handle[:nbytes] if self.shows_memory else None

    def from_host(self, source: memoryview) -> memoryview | None:
        return source if self.shows_memory else None


@pytest.fixture
def host() -> type[HostAllocator]:
    return HostAllocator
