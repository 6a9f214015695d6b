"""Buffers allocate late, share memory with their views, and give it back."""

import gc
from typing import Any

import numpy as np
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


def test_another_buffer_is_alike_and_has_memory_of_its_own(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.float32, host(), label="a result").copyin(memoryview(bytes(range(16))))
    other = buffer.another()
    assert (other.device, other.size, other.dtype, other.label) == ("X", 4, dtypes.float32, "a result")
    assert other.handle is not None
    assert other.handle is not buffer.handle
    assert other.known_name() is None


def test_another_buffer_without_room_for_it_is_refused(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.float32, host(budget=16)).ensure_allocated()
    with pytest.raises(DeviceOutOfMemory):
        buffer.another()


def test_what_goes_in_comes_out(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host())
    buffer.copyin(memoryview(b"abcd"))
    assert bytes(buffer.as_memoryview()) == b"abcd"


def test_what_is_read_is_a_copy(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host()).copyin(memoryview(b"abcd"))
    before = buffer.as_memoryview()
    buffer.copyin(memoryview(b"wxyz"))
    assert bytes(before) == b"abcd"


def test_a_part_is_read_as_a_copy(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host()).copyin(memoryview(b"abcd"))
    part = buffer.view(3, dtypes.uint8, 1).read(1, 2)
    buffer.copyin(memoryview(b"wxyz"))
    assert bytes(part) == b"cd"


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


def filled(allocator: Any, text: bytes = b"abcd") -> Buffer:
    return Buffer("X", len(text), dtypes.uint8, allocator).copyin(memoryview(text))


def test_what_is_shared_is_the_memory_and_read_only(host: Any) -> None:
    buffer = filled(host())
    view = buffer.share()
    assert view is not None
    assert view.readonly
    assert bytes(view) == b"abcd"
    assert np.shares_memory(np.asarray(view), np.asarray(buffer.handle))
    again = buffer.share()
    assert np.shares_memory(np.asarray(view), np.asarray(again))


def test_writing_does_not_change_what_was_shared(host: Any) -> None:
    allocator = host()
    buffer = filled(allocator)
    view = buffer.share()
    for text in (b"wxyz", b"1234"):
        buffer.copyin(memoryview(text))
        assert bytes(buffer.as_memoryview()) == text
        assert view is not None
        assert bytes(view) == b"abcd"
    assert allocator.live_bytes == 8
    del view
    assert allocator.live_bytes == 4


def test_a_buffer_that_nobody_looks_at_any_more_is_written_in_place(host: Any) -> None:
    buffer = filled(host())
    handle = buffer.handle
    view = buffer.share()
    assert bytes(view or b"") == b"abcd"
    del view
    buffer.copyin(memoryview(b"wxyz"))
    assert buffer.handle is handle


def test_owning_keeps_the_contents(host: Any) -> None:
    buffer = filled(host())
    handle, view = buffer.handle, buffer.share()
    assert buffer.own() is buffer
    assert buffer.handle is not handle
    assert bytes(buffer.as_memoryview()) == bytes(view or b"") == b"abcd"
    handle = buffer.handle
    assert buffer.own().handle is handle


def test_what_was_shared_outlives_its_buffer(host: Any) -> None:
    allocator = host()
    view = filled(allocator).share()
    other = Buffer("X", 4, dtypes.uint8, allocator).copyin(memoryview(b"wxyz"))
    assert bytes(view or b"") == b"abcd"
    part = (view or b"")[1:3]
    del view
    assert allocator.live_bytes == 8
    assert bytes(part) == b"bc"
    del part, other
    assert allocator.live_bytes == 0


def test_arrays_made_of_what_was_shared_hold_it(host: Any) -> None:
    allocator = host()
    buffer = filled(allocator)
    array = np.frombuffer(buffer.share() or b"", np.uint16)[1:]
    buffer.copyin(memoryview(b"wxyz"))
    assert array.tobytes() == b"cd"
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True
    del buffer
    assert allocator.live_bytes == 4
    del array
    assert allocator.live_bytes == 0


def test_parts_share_and_move_with_the_buffer_that_they_are_part_of(host: Any) -> None:
    base = filled(host(), b"abcdefgh")
    part, other = base.view(4, dtypes.uint8, 2), base.view(2, dtypes.uint8, 6)
    other.ensure_allocated()
    view = part.share()
    assert bytes(view or b"") == b"cdef"
    part.copyin(memoryview(b"CDEF"))
    assert bytes(view or b"") == b"cdef"
    assert bytes(base.as_memoryview()) == b"abCDEFgh"
    assert bytes(part.as_memoryview()) == b"CDEF"
    other.copyin(memoryview(b"GH"))
    assert bytes(base.as_memoryview()) == b"abCDEFGH"


def test_read_only_memory_is_used_in_place_until_it_is_written(host: Any) -> None:
    data = b"abcd"
    buffer = Buffer("X", 4, dtypes.uint8, host())
    assert buffer.import_host(memoryview(data))
    view = buffer.share()
    assert view is not None
    assert view.obj is data
    buffer.copyin(memoryview(b"wxyz"))
    assert data == b"abcd"
    assert bytes(buffer.as_memoryview()) == b"wxyz"


def test_a_part_of_read_only_memory_is_written_without_changing_it(host: Any) -> None:
    data = b"abcd"
    buffer = Buffer("X", 4, dtypes.uint8, host())
    buffer.import_host(memoryview(data))
    buffer.view(2, dtypes.uint8, 1).copyin(memoryview(b"BC"))
    assert bytes(buffer.as_memoryview()) == b"aBCd"
    assert data == b"abcd"


def test_writable_memory_of_others_is_written_and_not_shared(host: Any) -> None:
    memory = bytearray(b"abcd")
    buffer = Buffer("X", 4, dtypes.uint8, host())
    buffer.import_host(memoryview(memory))
    assert buffer.share() is None
    buffer.copyin(memoryview(b"wxyz"))
    assert memory == b"wxyz"


def test_pinned_memory_stays_where_it_is_and_is_not_shared(host: Any) -> None:
    buffer = filled(host())
    view = buffer.share()
    handle = buffer.pin().handle
    assert bytes(view or b"") == b"abcd"
    assert buffer.share() is None
    assert bytes(buffer.snapshot()) == b"abcd"
    assert buffer.copyin(memoryview(b"wxyz")).handle is handle
    assert bytes(view or b"") == b"abcd"


def test_pinned_memory_is_none_of_others(host: Any) -> None:
    buffer = Buffer("X", 4, dtypes.uint8, host())
    buffer.import_host(memoryview(b"abcd"))
    handle = buffer.view(2, dtypes.uint8, 0).pin().base.handle  # type: ignore[union-attr]
    assert bytes(buffer.copyin(memoryview(b"wxyz")).handle) == b"wxyz"
    assert buffer.handle is handle


@pytest.mark.parametrize("nbytes", [0, 4, 1 << 20])
@pytest.mark.parametrize("shows_memory", [True, False])
def test_a_snapshot_does_not_change(host: Any, nbytes: int, shows_memory: bool) -> None:
    buffer = filled(host(budget=4 << 20, shows_memory=shows_memory), b"a" * nbytes)
    before = buffer.snapshot()
    assert before.readonly
    buffer.copyin(memoryview(b"b" * nbytes))
    assert bytes(before) == b"a" * nbytes
    assert bytes(buffer.snapshot()) == b"b" * nbytes


def test_giving_memory_back_leaves_what_was_shared(host: Any) -> None:
    allocator = host()
    buffer = filled(allocator)
    view = buffer.share()
    buffer.deallocate()
    assert bytes(view or b"") == b"abcd"
    assert allocator.live_bytes == 4
    del view
    assert allocator.live_bytes == 0
    assert buffer.ensure_allocated().handle is not None


def test_when_there_is_no_room_to_move_to_nothing_is_lost(host: Any) -> None:
    buffer = filled(host(budget=6))
    view = buffer.share()
    with pytest.raises(DeviceOutOfMemory):
        buffer.copyin(memoryview(b"wxyz"))
    assert bytes(view or b"") == bytes(buffer.as_memoryview()) == b"abcd"
    del view
    assert bytes(buffer.copyin(memoryview(b"wxyz")).as_memoryview()) == b"wxyz"


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
