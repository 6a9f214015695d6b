import gc
import sys
import weakref

import numpy as np
import pytest

from plugrad.errors import DeviceOutOfMemory
from plugrad_cpu_clang.allocator import ALIGNMENT, COPY_PIECE, HUGE_PAGE, CpuAllocator


@pytest.fixture
def allocator():
    made = CpuAllocator()
    yield made
    made.free_cache()


def test_blocks_are_aligned(allocator):
    for nbytes in (0, 1, 100, 4096, HUGE_PAGE - 1):
        assert allocator.alloc(nbytes) % ALIGNMENT == 0
    assert allocator.alloc(HUGE_PAGE + 5) % HUGE_PAGE == 0


def test_freed_blocks_are_reused(allocator):
    block = allocator.alloc(1000)
    allocator.free(block, 1000)
    assert allocator.alloc(1000) == block


@pytest.mark.parametrize("nbytes", [1, 1000, COPY_PIECE * 2, COPY_PIECE * 5 + 3])
def test_what_is_copied_in_comes_out(allocator, nbytes):
    source = np.random.default_rng(1).integers(0, 256, nbytes).astype(np.uint8)
    block = allocator.alloc(nbytes)
    allocator.copyin(block, memoryview(source))
    out = np.zeros(nbytes, np.uint8)
    allocator.copyout(memoryview(out), block)
    np.testing.assert_array_equal(out, source)
    allocator.copyout(memoryview(out)[1:], allocator.offset(block, nbytes - 1, 1))
    np.testing.assert_array_equal(out, source)
    assert bytes(allocator.as_memoryview(block, nbytes)) == source.tobytes()


def test_read_only_memory_is_copied_in(allocator):
    block = allocator.alloc(4)
    allocator.copyin(block, memoryview(b"abcd"))
    assert bytes(allocator.as_memoryview(block, 4)) == b"abcd"


def test_the_view_is_the_memory(allocator):
    block = allocator.alloc(8)
    view = allocator.as_memoryview(block, 8)
    view[:] = b"12345678"
    out = bytearray(8)
    allocator.copyout(memoryview(out), block)
    assert out == b"12345678"


def test_arrays_are_used_where_they_are(allocator):
    array = np.arange(64, dtype=np.float32)
    handle = allocator.from_host(memoryview(array).cast("B"))
    if array.ctypes.data % 16 == 0:
        assert handle == array.ctypes.data
        allocator.as_memoryview(handle, 4)[:] = np.float32(7).tobytes()
        assert array[0] == 7


def test_a_used_array_lives_as_long_as_its_handle(allocator):
    array = np.empty(4096, np.uint8)
    array = array[-array.ctypes.data % 64 :][:1024]
    memory = weakref.ref(array)
    handle = allocator.from_host(memoryview(array))
    assert handle is not None
    del array
    gc.collect()
    assert memory() is not None
    del handle
    gc.collect()
    assert memory() is None


def test_memory_that_kernels_could_not_use_is_refused(allocator):
    base = np.zeros(256, np.uint8)
    aligned = base[-base.ctypes.data % 64 :][:128]
    assert allocator.from_host(memoryview(aligned[1:17])) is None, "unaligned"
    assert allocator.from_host(memoryview(aligned[::2])) is None, "strided"
    assert allocator.from_host(memoryview(bytearray())) is None, "empty"


@pytest.mark.parametrize("nbytes", [1 << 62, 1 << 70])
def test_too_much_memory_is_an_error(allocator, nbytes):
    with pytest.raises(DeviceOutOfMemory):
        allocator.alloc(nbytes)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the C library's heap is asked")
def test_large_blocks_are_not_what_others_freed(allocator):
    filled = np.ones(3 * HUGE_PAGE, np.uint8)
    del filled
    nbytes = 2 * HUGE_PAGE + 5
    block = allocator.alloc(nbytes)
    assert not np.frombuffer(allocator.as_memoryview(block, nbytes), np.uint8).any(), "fresh pages are zero"
    allocator.free(block, nbytes)
