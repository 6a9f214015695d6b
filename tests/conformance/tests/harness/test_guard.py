"""Tests of plugrad_conformance.harness.guard."""

import pytest

from plugrad.builtin.host_memory import HostAllocator
from plugrad_conformance.harness.guard import CANARY, GuardedAllocator


@pytest.fixture(params=[True, False], ids=["views", "no views"])
def guard(request):
    return GuardedAllocator(HostAllocator(), views=request.param)


def read(guard, handle, nbytes):
    out = bytearray(nbytes)
    guard.copyout(memoryview(out), handle)
    return bytes(out)


def test_fresh_memory_is_poisoned(guard):
    assert read(guard, guard.alloc(40), 40) == b"\xff" * 40


def test_what_is_written_inside_is_no_violation(guard):
    block = guard.alloc(40)
    guard.copyin(block, memoryview(bytes(40)))
    assert guard.check() == []


def test_a_byte_after_the_end_is_found_once(guard):
    block = guard.alloc(40)
    guard._blocks[id(block)].base.writable()[guard._front + 40] = 0
    assert guard.check() == ["byte 0 after a buffer of 40 bytes was overwritten"]
    assert guard.check() == []


def test_a_byte_before_the_start_is_found():
    guard = GuardedAllocator(HostAllocator())
    block = guard.alloc(40)
    guard._blocks[id(block)].base.writable()[511] = 0
    assert guard.check() == ["the 512 bytes before a buffer of 40 bytes were overwritten"]


def test_an_overrun_of_a_large_block_is_found(guard):
    block = guard.alloc(100_000)
    guard._blocks[id(block)].base.writable()[guard._front + 100_010] = 0
    assert guard.check() == ["byte 10 after a buffer of 100000 bytes was overwritten"]


def test_an_overrun_of_a_freed_block_is_found(guard):
    block = guard.alloc(40)
    guard._blocks[id(block)].base.writable()[guard._front + 41] = 0
    guard.free(block, 40)
    assert guard.check() == ["byte 1 after a buffer of 40 bytes was overwritten"]


def test_freed_memory_is_poisoned(guard):
    block = guard.alloc(40)
    base = guard._blocks[id(block)].base
    guard.copyin(block, memoryview(bytes(40)))
    guard.free(block, 40)
    guard.settle()
    assert bytes(base.readable()) == b"\xff" * len(base.readable())


def test_a_block_that_nobody_holds_is_a_violation(guard):
    block = guard.alloc(40)
    guard.free(block, 40)
    guard.free(block, 40)
    assert guard.check() == ["a block of 40 bytes was freed that nobody holds"]


def test_views_begin_where_the_block_does():
    guard = GuardedAllocator(HostAllocator())
    block = guard.alloc(64)
    guard.copyin(block, memoryview(bytes(range(64))))
    assert read(guard, guard.offset(block, 4, 16), 4) == bytes(range(16, 20))


def test_a_canary_is_nan_as_any_float():
    assert CANARY == b"\xf1\xff"
