import gc

import numpy as np
import pytest

from plugrad.errors import DeviceError, DeviceOutOfMemory
from plugrad_opencl.allocator import Block
from plugrad_opencl.driver import DeviceLost, opencl


def _filled(allocator, values):
    block = allocator.alloc(values.nbytes)
    allocator.copyin(block, memoryview(values).cast("B"))
    return block


def _read(allocator, block, count, dtype=np.uint8):
    out = np.zeros(count, dtype)
    allocator.copyout(memoryview(out).cast("B"), block)
    return out


def test_bytes_come_back_as_they_went_in(allocator):
    values = np.arange(1000, dtype=np.float32)
    block = _filled(allocator, values)
    np.testing.assert_array_equal(_read(allocator, block, 1000, np.float32), values)
    allocator.free(block, values.nbytes)


@pytest.mark.parametrize("start", [0, 1, 4, 100, 128, 129, 500, 512])
def test_views_begin_at_any_byte(allocator, start):
    values = np.arange(600, dtype=np.uint16).view(np.uint8)
    block = _filled(allocator, values)
    view = allocator.offset(block, 64, start)
    np.testing.assert_array_equal(_read(allocator, view, 64), values[start : start + 64])
    allocator.copyin(view, memoryview(np.full(64, 7, np.uint8)))
    changed = values.copy()
    changed[start : start + 64] = 7
    np.testing.assert_array_equal(_read(allocator, block, 1200), changed)
    allocator.free(block, values.nbytes)


def test_aligned_views_are_sub_buffers_and_the_rest_is_the_shift(allocator, context):
    align = int(context.target.get("align"))
    block = allocator.alloc(8 * align)
    view = allocator.offset(block, 16, 2 * align)
    assert view.shift == 0
    assert view.buffer.int_ptr != block.buffer.int_ptr
    assert view.buffer.get_info(opencl().mem_info.OFFSET) == 2 * align
    assert allocator.offset(block, 16, 2 * align + 12).shift == 12 % align
    assert allocator.offset(block, 0, 3).buffer is block.buffer
    allocator.free(block, 8 * align)


def test_freed_blocks_are_used_again(allocator):
    block = allocator.alloc(12345)
    allocator.free(block, 12345)
    assert allocator.alloc(12345) is block
    allocator.free(block, 12345)


def test_a_block_is_freed_once(allocator):
    block = allocator.alloc(64)
    allocator.free(block, 64)
    with pytest.raises(DeviceError, match="was freed before"):
        allocator.free(block, 64)


def test_too_large_a_block_is_a_typed_error_and_the_next_one_works(allocator, context):
    too_much = int(context.device.max_mem_alloc_size) + 1
    with pytest.raises(DeviceOutOfMemory, match="no blocks of") as caught:
        allocator.alloc(too_much)
    assert caught.value.requested_bytes == too_much
    assert caught.value.device == context.target.name
    allocator.free(allocator.alloc(64), 64)


def test_a_refusal_of_the_driver_gives_kept_blocks_up_and_is_a_typed_error(allocator, context, monkeypatch):
    allocator.free(allocator.alloc(4096), 4096)
    monkeypatch.setattr(allocator, "_largest", 1 << 62)
    with pytest.raises(DeviceOutOfMemory):
        allocator.alloc(1 << 61)
    assert allocator.cached_bytes == 0
    block = allocator.alloc(64)
    assert isinstance(block, Block)
    allocator.free(block, 64)


def test_a_lost_device_says_so_from_then_on(allocator, context, monkeypatch):
    cl = opencl()

    class Fault(cl.LogicError):
        code = -36

        def __init__(self):
            Exception.__init__(self, "clFinish failed: INVALID_COMMAND_QUEUE")

        def __str__(self):
            return self.args[0]

    class BrokenQueue:
        def finish(self):
            raise Fault

    monkeypatch.setattr(context, "_lost", None)
    with monkeypatch.context() as patch:
        patch.setattr(context, "queue", BrokenQueue())
        with pytest.raises(DeviceLost, match="INVALID_COMMAND_QUEUE"):
            allocator.synchronize()
    with pytest.raises(DeviceLost, match="other devices go on working"):
        allocator.alloc(77_777)
    monkeypatch.undo()
    allocator.synchronize()


def test_memory_goes_when_the_last_reference_goes(allocator):
    before = allocator.live_bytes
    block = allocator.alloc(1 << 20)
    assert allocator.live_bytes == before + (1 << 20)
    allocator.free(block, 1 << 20)
    del block
    gc.collect()
    assert allocator.live_bytes == before
    assert allocator.free_cache() >= 1 << 20
