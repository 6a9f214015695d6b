"""Buffers allocate late, share memory with their views, and give it back."""

import gc
from typing import Any

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import AxisError, DeviceOutOfMemory, ShapeError
from plugrad.runtime.buffer import Buffer, live_buffers


def test_memory_is_allocated_when_first_needed(host: Any) -> None:
    allocator = host()
    buffer = Buffer("X", 4, dtypes.float32, allocator)
    assert buffer.handle is None
    assert buffer.nbytes == 16
    buffer.ensure_allocated()
    assert buffer.handle is not None
    assert allocator.live_bytes == 16


def test_what_goes_in_comes_out(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host())
    buffer.copyin(memoryview(b"abcd"))
    assert bytes(buffer.as_memoryview()) == b"abcd"


def test_what_is_read_is_a_copy(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host()).copyin(memoryview(b"abcd"))
    before = buffer.as_memoryview()
    buffer.copyin(memoryview(b"wxyz"))
    assert bytes(before) == b"abcd"


def test_a_typed_memoryview_is_taken_as_its_bytes(host: Any) -> None:
    buffer = Buffer("X", 2, dtypes.int32, host())
    buffer.copyin(memoryview(bytearray(8)).cast("i"))
    dest = memoryview(bytearray(8)).cast("i")
    assert buffer.copyout(dest) is dest


def test_memory_of_another_size_is_refused(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.float32, host())
    with pytest.raises(ShapeError, match=r"8 bytes do not fit.*16 bytes"):
        buffer.copyin(memoryview(bytes(8)))
    with pytest.raises(ShapeError):
        buffer.copyout(memoryview(bytearray(8)))


def test_a_buffer_without_elements_copies_nothing(host: Any) -> None:
    buffer = Buffer("X", 0, dtypes.float32, host())
    buffer.copyin(memoryview(b""))
    assert bytes(buffer.as_memoryview()) == b""
    assert buffer.host_view() is not None


def test_a_view_shares_memory_at_its_offset(host: Any) -> None:
    base = Buffer("X", 8, dtypes.uint8, host()).copyin(memoryview(b"abcdefgh"))
    view = base.view(4, dtypes.uint8, 2)
    assert bytes(view.as_memoryview()) == b"cdef"
    view.copyin(memoryview(b"CDEF"))
    assert bytes(base.as_memoryview()) == b"abCDEFgh"


def test_a_view_of_a_view_counts_from_the_buffer_that_owns_the_memory(host: Any) -> None:
    base = Buffer("X", 8, dtypes.uint8, host()).copyin(memoryview(b"abcdefgh"))
    inner = base.view(6, dtypes.uint8, 2).view(2, dtypes.uint8, 3)
    assert inner.base is base
    assert bytes(inner.as_memoryview()) == b"fg"


@pytest.mark.parametrize(("size", "offset"), [(5, 4), (1, 8), (1, -1), (9, 0)])
def test_a_view_that_leaves_its_buffer_is_refused(host: Any, size: int, offset: int) -> None:
    base = Buffer("X", 8, dtypes.uint8, host())
    with pytest.raises(AxisError, match="does not lie in"):
        base.view(size, dtypes.uint8, offset)


def test_memory_goes_back_with_the_last_user(host: Any) -> None:
    allocator = host()
    base = Buffer("X", 8, dtypes.uint8, allocator).ensure_allocated()
    view = base.view(4, dtypes.uint8, 0).ensure_allocated()
    del base
    assert allocator.live_bytes == 8
    del view
    assert allocator.live_bytes == 0


def test_imported_memory_is_used_in_place_and_never_freed(host: Any) -> None:
    allocator = host()
    memory = bytearray(b"abcd")
    buffer = Buffer("X", 4, dtypes.uint8, allocator)
    assert buffer.import_host(memoryview(memory))
    memory[0] = ord("z")
    assert bytes(buffer.as_memoryview()) == b"zbcd"
    del buffer
    assert allocator.live_bytes == 0


def test_import_says_no_where_the_device_needs_a_copy(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host(shows_memory=False))
    assert not buffer.import_host(memoryview(b"abcd"))
    assert buffer.host_view() is None


def test_out_of_memory_names_the_buffers_that_hold_the_most(host: Any) -> None:
    allocator = host(budget=1000)
    small = Buffer("BUDGET", 10, dtypes.float32, allocator, label="bias").ensure_allocated()
    large = Buffer("BUDGET", 200, dtypes.float32, allocator, label="weight, model.py:12").ensure_allocated()
    wanted = Buffer("BUDGET", 100, dtypes.float32, allocator, label="activation")
    with pytest.raises(DeviceOutOfMemory) as caught:
        wanted.ensure_allocated()
    message = str(caught.value)
    assert "no room for 400 bytes, float32[100] (activation)" in message
    assert message.index("float32[200] (weight, model.py:12)") < message.index("float32[10] (bias)")
    assert "2 live buffers hold 840 bytes" in message
    assert caught.value.device == "BUDGET"
    assert caught.value.requested_bytes == 400
    assert small.handle is not None
    assert large.handle is not None


def test_garbage_in_cycles_is_collected_before_giving_up(host: Any) -> None:
    allocator = host(budget=100)
    gc.disable()
    try:
        cycle: list[Any] = [Buffer("X", 80, dtypes.uint8, allocator).ensure_allocated()]
        cycle.append(cycle)
        del cycle
        Buffer("X", 90, dtypes.uint8, allocator).ensure_allocated()
    finally:
        gc.enable()


def test_live_buffers_are_listed_by_device(host: Any) -> None:
    allocator = host()
    buffer = Buffer("LISTED", 4, dtypes.uint8, allocator)
    view = buffer.view(2, dtypes.uint8, 0)
    assert live_buffers("LISTED") == [buffer]
    del buffer, view
    assert live_buffers("LISTED") == []
