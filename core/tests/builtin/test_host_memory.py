"""Tests of plugrad.builtin.host_memory."""

import numpy as np
import pytest

from plugrad.builtin.host_memory import POISON, HostAllocator
from plugrad.errors import DeviceError, DeviceOutOfMemory


def test_bytes_go_in_and_out() -> None:
    memory = HostAllocator()
    block = memory.alloc(4)
    memory.copyin(block, memoryview(b"abcd"))
    out = bytearray(4)
    memory.copyout(memoryview(out), block)
    assert out == b"abcd"


def test_fresh_and_reused_blocks_are_poisoned() -> None:
    memory = HostAllocator()
    for _ in range(2):
        block = memory.alloc(8)
        assert set(memory.as_memoryview(block, 8)) == {POISON}
        memory.copyin(block, memoryview(bytes(8)))
        memory.free(block, 8)


def test_a_part_shares_the_bytes_of_its_block() -> None:
    memory = HostAllocator()
    block = memory.alloc(4)
    memory.copyin(memory.offset(block, 2, 1), memoryview(b"xy"))
    assert bytes(memory.as_memoryview(block, 4)) == b"\xffxy\xff"


def test_an_array_is_used_in_place() -> None:
    memory = HostAllocator()
    array = np.arange(3, dtype=np.int32)
    block = memory.from_host(memoryview(array).cast("B"))
    assert block is not None
    array[0] = 7
    assert memory.as_memoryview(block, 12)[0] == 7


def test_read_only_bytes_are_used_in_place_until_they_are_written() -> None:
    memory = HostAllocator()
    data = b"abcd"
    block = memory.from_host(memoryview(data))
    assert block is not None
    part = memory.offset(block, 2, 0)
    memory.copyin(block, memoryview(b"wxyz"))
    assert data == b"abcd"
    assert bytes(memory.as_memoryview(part, 2)) == b"wx"


def test_memory_with_gaps_is_not_taken() -> None:
    assert HostAllocator().from_host(memoryview(np.arange(8, dtype=np.uint8))[::2]) is None


def test_freeing_twice_is_an_error() -> None:
    memory = HostAllocator()
    block = memory.alloc(4)
    memory.free(block, 4)
    with pytest.raises(DeviceError):
        memory.free(block, 4)


def test_no_memory_left_is_an_error_with_the_size() -> None:
    with pytest.raises(DeviceOutOfMemory) as caught:
        HostAllocator().alloc(1 << 62)
    assert caught.value.requested_bytes == 1 << 62
