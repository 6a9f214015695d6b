"""Freed blocks come back for the next request of their size, and go when memory is short."""

import threading
from typing import Any

import pytest

from plugrad.errors import DeviceError, DeviceOutOfMemory
from plugrad.runtime import allocator as runtime_allocator
from plugrad.runtime.allocator import Allocator, LruAllocator


def test_a_freed_block_is_handed_out_again(host: Any) -> None:
    allocator = host()
    first = allocator.alloc(64)
    allocator.free(first, 64)
    assert allocator.alloc(64) is first
    assert allocator.allocations == 1


def test_another_size_gets_another_block(host: Any) -> None:
    allocator = host()
    first = allocator.alloc(64)
    allocator.free(first, 64)
    assert allocator.alloc(32) is not first


def test_blocks_that_wait_to_be_sorted_are_found_by_their_size(host: Any) -> None:
    allocator = host()
    first, second, last = (allocator.alloc(nbytes) for nbytes in (64, 32, 16))
    for block in (first, second, last):
        allocator.free(block, len(block))
    assert allocator.alloc(64) is first
    assert allocator.alloc(32) is second
    assert allocator.alloc(16) is last
    assert allocator.cached_bytes == 0
    assert allocator.live_bytes == 64 + 32 + 16


def test_many_or_large_blocks_do_not_wait_until_the_limit_is_kept(host: Any) -> None:
    allocator = host(cache_limit_bytes=1000)
    blocks = [allocator.alloc(100) for _ in range(100)]
    for block in blocks:
        allocator.free(block, 100)
    assert allocator._cached_bytes <= 1000
    assert len(allocator._returned) <= runtime_allocator._MOST_WAITING_BLOCKS
    large = runtime_allocator._MOST_WAITING_BYTES + 1
    allocator.free(allocator.alloc(large), large)
    assert not allocator._returned


def test_two_live_blocks_are_never_the_same(host: Any) -> None:
    allocator = host()
    assert allocator.alloc(64) is not allocator.alloc(64)


def test_kept_blocks_are_given_up_when_the_device_is_full(host: Any) -> None:
    allocator = host(budget=100)
    allocator.free(allocator.alloc(80), 80)
    assert len(allocator.alloc(90)) == 90
    assert allocator.cached_bytes == 0


def test_out_of_memory_is_raised_when_giving_up_did_not_help(host: Any) -> None:
    allocator = host(budget=100)
    held = allocator.alloc(60)
    with pytest.raises(DeviceOutOfMemory):
        allocator.alloc(60)
    assert allocator.live_bytes == len(held)


def test_a_memory_error_of_the_host_becomes_out_of_memory() -> None:
    class Broken(LruAllocator[bytes]):
        def _alloc(self, nbytes: int) -> bytes:
            raise MemoryError

        copyin = copyout = offset = None  # type: ignore[assignment]

    with pytest.raises(DeviceOutOfMemory, match="no block of 8 bytes"):
        Broken().alloc(8)


def test_the_cache_keeps_the_sizes_used_last_within_its_limit(host: Any) -> None:
    allocator = host(cache_limit_bytes=150)
    old, new = allocator.alloc(100), allocator.alloc(60)
    allocator.free(old, 100)
    allocator.free(new, 60)
    assert allocator.cached_bytes == 60
    assert allocator.alloc(60) is new


def test_blocks_of_ever_new_sizes_do_not_pile_up(host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_allocator, "_MOST_KEPT_BLOCKS", 10)
    allocator = host()
    for nbytes in range(1, 101):
        allocator.free(allocator.alloc(nbytes), nbytes)
    assert allocator.cached_bytes == sum(range(91, 101))
    assert allocator.free_cache() == sum(range(91, 101))
    assert allocator.cached_bytes == 0


def test_freeing_twice_is_an_error(host: Any) -> None:
    allocator = host()
    block = allocator.alloc(16)
    allocator.free(block, 16)
    with pytest.raises(DeviceError, match="freed before"):
        allocator.free(block, 16)


def test_freeing_with_another_size_is_an_error(host: Any) -> None:
    allocator = host()
    block = allocator.alloc(16)
    with pytest.raises(DeviceError, match="another size"):
        allocator.free(block, 8)


def test_a_block_of_no_bytes_is_a_block(host: Any) -> None:
    allocator = host()
    block = allocator.alloc(0)
    allocator.free(block, 0)
    assert allocator.alloc(0) is block


def test_a_free_while_another_thread_allocates_does_not_wait(host: Any) -> None:
    allocator = host()
    block = allocator.alloc(16)
    with allocator._lock:
        thread = threading.Thread(target=allocator.free, args=(block, 16))
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert allocator.alloc(16) is block


def test_threads_share_an_allocator(host: Any) -> None:
    allocator = host()
    failures: list[Exception] = []

    def work(mark: int) -> None:
        try:
            for _ in range(300):
                block = allocator.alloc(8)
                block[:] = bytes([mark] * 8)
                assert bytes(block) == bytes([mark] * 8)
                allocator.free(block, 8)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert allocator.live_bytes == 0


def test_an_allocator_without_the_required_methods_cannot_be_made() -> None:
    class Half(Allocator[int]):
        def alloc(self, nbytes: int) -> int:
            return 0

    with pytest.raises(TypeError, match="copyin"):
        Half()  # type: ignore[abstract]
