"""Minimal: the allocator. Blocks, copies, views, zero bytes, and what happens to mistakes."""

import gc
import os
from typing import Any

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.device import Device
from plugrad.errors import DeviceError, DeviceOutOfMemory
from plugrad.runtime.transfer import copy_buffer
from plugrad_conformance.case import Case, Layer
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import memory_of

SIZES = (1, 2, 3, 4, 7, 16, 63, 64, 65, 255, 4096, 4097, 100_003)
#: More than any device has, and no size that an address cannot hold.
FAR_TOO_MUCH = 1 << 60


def pattern(nbytes: int, seed: int = 0) -> bytes:
    """Return bytes that differ from their neighbours and from those of another seed."""
    return np.random.default_rng(seed).integers(0, 256, nbytes, dtype=np.uint8).tobytes()


def read(allocator: Any, handle: Any, nbytes: int) -> bytes:
    """Return the first bytes of a block."""
    out = bytearray(nbytes)
    allocator.copyout(memoryview(out), handle)
    return bytes(out)


def copies_come_back(bench: Bench) -> None:
    """Bytes of any size that are copied in come out the same."""
    for nbytes in SIZES:
        block = bench.guard.alloc(nbytes)
        data = pattern(nbytes)
        bench.guard.copyin(block, memoryview(data))
        found = read(bench.guard, block, nbytes)
        bench.guard.free(block, nbytes)
        assert found == data, (
            f"of {nbytes} bytes copied in, byte {_first_difference(found, data)} comes out wrong"
        )


def _first_difference(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), -1)


def large_copies_come_back(bench: Bench) -> None:
    """A few megabytes come back too: devices copy those in pieces."""
    nbytes = (5 << 20) + 3
    block = bench.guard.alloc(nbytes)
    data = pattern(nbytes)
    bench.guard.copyin(block, memoryview(data))
    found = read(bench.guard, block, nbytes)
    bench.guard.free(block, nbytes)
    assert found == data, f"byte {_first_difference(found, data)} of {nbytes} comes out wrong"


def copyout_reads_a_prefix(bench: Bench) -> None:
    """A copyout fills its whole destination and nothing else, from the block's start."""
    block = bench.guard.alloc(256)
    data = pattern(256)
    bench.guard.copyin(block, memoryview(data))
    out = bytearray(b"\xee" * 64)
    bench.guard.copyout(memoryview(out)[16:48], block)
    bench.guard.free(block, 256)
    assert bytes(out[16:48]) == data[:32], "copyout of 32 bytes did not give the block's first 32"
    assert out[:16] == out[48:] == b"\xee" * 16, "copyout wrote outside of its destination"


def copyin_writes_a_prefix(bench: Bench) -> None:
    """A copyin of fewer bytes leaves the rest of the block alone."""
    block = bench.guard.alloc(64)
    bench.guard.copyin(block, memoryview(bytes(64)))
    bench.guard.copyin(block, memoryview(b"\x77" * 10))
    found = read(bench.guard, block, 64)
    bench.guard.free(block, 64)
    assert found == b"\x77" * 10 + bytes(54), "copyin of 10 bytes changed more, or less, than 10"


def copyin_takes_a_copy(bench: Bench) -> None:
    """The source may change once copyin has returned."""
    for nbytes in (16, 1 << 20):
        source = bytearray(pattern(nbytes))
        data = bytes(source)
        block = bench.guard.alloc(nbytes)
        bench.guard.copyin(block, memoryview(source))
        source[:] = bytes(nbytes)
        found = read(bench.guard, block, nbytes)
        bench.guard.free(block, nbytes)
        assert found == data, f"copyin of {nbytes} bytes still reads its source after it returned"


def blocks_are_apart(bench: Bench) -> None:
    """Blocks that live at the same time share no byte."""
    blocks = [(bench.guard.alloc(n), pattern(n, seed), n) for seed, n in enumerate(SIZES * 2)]
    for block, data, _ in blocks:
        bench.guard.copyin(block, memoryview(data))
    found = [read(bench.guard, block, n) == data for block, data, n in blocks]
    for block, _, nbytes in blocks:
        bench.guard.free(block, nbytes)
    assert all(found), "writing one block changed another"


def zero_bytes(bench: Bench) -> None:
    """Blocks of 0 bytes can be had and freed, several at a time."""
    allocator = bench.guard.inner
    blocks = [allocator.alloc(0) for _ in range(3)]
    for block in blocks:
        allocator.free(block, 0)
    empty = bench.device.new_buffer(0, dtypes.float32)
    assert empty.as_memoryview().nbytes == 0, "a buffer of 0 elements has bytes"
    # and something to see that memory works next to it
    copyin_writes_a_prefix(bench)


def offset_is_a_view(bench: Bench) -> None:
    """A view shows the block from its offset on, both ways."""
    base = bench.device.new_buffer(4096, dtypes.uint8).copyin(memoryview(pattern(4096)))
    for offset in (512, 1024, 3584):
        view = base.view(16, dtypes.uint8, offset)
        assert bytes(view.as_memoryview()) == pattern(4096)[offset : offset + 16], (
            f"a view at byte {offset} shows other bytes"
        )
    base.view(64, dtypes.uint8, 2048).copyin(memoryview(b"\x42" * 64))
    found = bytes(base.as_memoryview())
    wanted = pattern(4096)[:2048] + b"\x42" * 64 + pattern(4096)[2112:]
    assert found == wanted, (
        "writing to a view at byte 2048 did not change those bytes of the block, and no others"
    )


def double_free_is_refused(bench: Bench) -> None:
    """Freeing a block twice raises DeviceError and breaks nothing."""
    allocator = bench.guard.inner
    block = allocator.alloc(96)
    allocator.free(block, 96)
    try:
        allocator.free(block, 96)
    except DeviceError:
        blocks_are_apart(bench)
        return
    raise AssertionError("freeing a block twice raised nothing: the next two requests of that size share it")


def wrong_size_free_is_refused(bench: Bench) -> None:
    """Freeing a block with another size raises DeviceError."""
    allocator = bench.guard.inner
    block = allocator.alloc(96)
    try:
        allocator.free(block, 4096)
    except DeviceError:
        allocator.free(block, 96)
        copyin_writes_a_prefix(bench)
        return
    raise AssertionError("a block of 96 bytes was freed as one of 4096")


def out_of_memory_is_typed(bench: Bench) -> None:
    """Asking for more than any device has raises DeviceOutOfMemory, and the device goes on."""
    try:
        bench.guard.inner.alloc(FAR_TOO_MUCH)
    except DeviceOutOfMemory:
        copies_come_back(bench)
        return
    raise AssertionError(f"{FAR_TOO_MUCH} bytes were handed out")


def freed_memory_is_reusable(bench: Bench) -> None:
    """Allocating and freeing over and over needs no more memory than once."""
    before = resident_bytes()
    for round_number in range(64):
        blocks = [bench.guard.alloc(1 << 20) for _ in range(4)]
        bench.guard.copyin(blocks[3], memoryview(bytes((round_number,)) * 8))
        assert read(bench.guard, blocks[3], 8) == bytes((round_number,)) * 8, (
            "a reused block does not take new bytes"
        )
        for block in blocks:
            bench.guard.free(block, 1 << 20)
    bench.guard.free_cache()
    grown = resident_bytes() - before
    assert grown < 128 << 20, f"64 rounds of 4 MB, each freed, made the process larger by {grown >> 20} MB"


def resident_bytes() -> int:
    """Return the resident bytes of this process, or 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def free_cache_keeps_live_blocks(bench: Bench) -> None:
    """free_cache gives back freed blocks only."""
    block, data = bench.guard.alloc(8192), pattern(8192, 3)
    bench.guard.copyin(block, memoryview(data))
    dropped = bench.guard.alloc(8192)
    bench.guard.free(dropped, 8192)
    bench.guard.free_cache()
    others = [bench.guard.alloc(8192) for _ in range(4)]
    for other in others:
        bench.guard.copyin(other, memoryview(bytes(8192)))
    assert read(bench.guard, block, 8192) == data, "free_cache gave a live block away"
    for handle in (block, *others):
        bench.guard.free(handle, 8192)


def host_views_are_the_memory(bench: Bench) -> str:
    """Where as_memoryview gives a view, it is the block itself."""
    block = bench.guard.alloc(64)
    bench.guard.copyin(block, memoryview(bytes(64)))
    view = bench.guard.as_memoryview(block, 64)
    try:
        if view is None:
            return "the host does not see its memory"
        assert view.nbytes == 64, f"a view of 64 bytes has {view.nbytes}"
        bench.guard.copyin(block, memoryview(b"\x05" * 64))
        bench.guard.synchronize()
        assert bytes(view) == b"\x05" * 64, "the host's view does not show what was copied in"
        return "zero copy"
    finally:
        bench.guard.free(block, 64)


def imports_are_the_memory(bench: Bench) -> str:
    """Where from_host takes host memory, the handle shows those very bytes."""
    source = np.arange(4096, dtype=np.uint8)
    handle = bench.guard.inner.from_host(memory_of(source))
    copyin_writes_a_prefix(bench)
    if handle is None:
        return "imports nothing"
    assert read(bench.guard.inner, handle, 4096) == source.tobytes(), "imported memory reads differently"
    return "zero copy"


def copies_between_devices(bench: Bench) -> None:
    """Buffers travel to PYTHON and back unchanged."""
    host = Device["PYTHON"]
    for nbytes in (4, 1000, (4 << 20) + 12):
        data = pattern(nbytes, nbytes)
        there = host.new_buffer(nbytes, dtypes.uint8).copyin(memoryview(data))
        here = copy_buffer(bench.device.new_buffer(nbytes, dtypes.uint8), there)
        back = copy_buffer(host.new_buffer(nbytes, dtypes.uint8), here)
        assert bytes(back.as_memoryview()) == data, f"{nbytes} bytes changed between the devices"


def buffers_free_themselves(bench: Bench) -> None:
    """Tensors that nobody holds give their memory back."""
    before = len(bench.guard._blocks)
    t = Tensor(pattern(4096), device=bench.name).realize()
    assert len(bench.guard._blocks) > before, "a tensor's memory does not come from the device's allocator"
    del t
    gc.collect()
    bench.guard.settle()
    assert len(bench.guard._blocks) <= before, "a tensor that nobody holds keeps its memory"


def synchronize_returns(bench: Bench) -> None:
    """A device can be synchronized at any time, also twice."""
    bench.device.synchronize()
    copyin_writes_a_prefix(bench)
    bench.device.synchronize()
    bench.device.synchronize()


_TESTS = (
    copies_come_back,
    large_copies_come_back,
    copyout_reads_a_prefix,
    copyin_writes_a_prefix,
    copyin_takes_a_copy,
    blocks_are_apart,
    zero_bytes,
    double_free_is_refused,
    wrong_size_free_is_refused,
    out_of_memory_is_typed,
    freed_memory_is_reusable,
    free_cache_keeps_live_blocks,
    host_views_are_the_memory,
    imports_are_the_memory,
    copies_between_devices,
    buffers_free_themselves,
    synchronize_returns,
)
_MEMORY: Layer = "memory"

CASES = (
    *(Case(f"minimal/memory/{t.__name__.replace('_', '-')}", run=t, layer=_MEMORY) for t in _TESTS),
    Case("minimal/memory/offset-is-a-view", run=offset_is_a_view, layer=_MEMORY, needs=("views",)),
)
