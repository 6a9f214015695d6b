import gc
import weakref

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.engine.storage import Storage, storage_showing
from plugrad.engine.view_path import path_between
from plugrad.errors import ScheduleError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_a_new_buffer_has_memory_of_its_shape_and_dtype() -> None:
    uop = storage.new_buffer("PYTHON", (2, 3), dtypes.int16)
    buffer = storage.buffer_of(uop)
    assert (buffer.size, buffer.dtype, buffer.device) == (6, dtypes.int16, "PYTHON")
    assert buffer.handle is None


def test_a_buffer_like_another_has_its_own_memory_and_name() -> None:
    uop = put([1.0, 2.0])
    other = storage.new_buffer_like(uop)
    assert other is not uop
    assert (other.shape, other.dtype, other.device) == (uop.shape, uop.dtype, uop.device)
    assert storage.buffer_of(other).handle is not None
    assert storage.buffer_of(other) is not storage.buffer_of(uop)
    assert storage.resolve(other) is other


def test_a_buffer_that_nobody_names_any_more_gets_one_name() -> None:
    memory = storage.buffer_of(put([1.0, 2.0]))
    ((first, _),) = storage.named_buffers([memory])
    ((second, _),) = storage.named_buffers([memory])
    assert first is second
    assert storage.buffer_of(first) is memory


def test_a_number_without_sources_lies_nowhere() -> None:
    one = UOp.const(dtypes.int32, 1)
    storage.record(one, put([1.0]))
    assert storage.places_of(one) == []
    assert storage.resolve(one, "PYTHON") is one


def test_what_has_no_memory_is_named_in_the_error() -> None:
    with pytest.raises(ScheduleError, match=r"ADD of dtypes\.float32 has no memory\. Realize it first"):
        storage.buffer_of(put([1.0]) + 1)


def test_memory_goes_with_the_last_node_that_mentions_it() -> None:
    uop = put([1.0])
    memory = weakref.ref(storage.buffer_of(uop))
    reader = uop + 1
    del uop
    assert memory() is not None
    del reader
    gc.collect()
    assert memory() is None


def test_results_go_with_the_value_they_belong_to() -> None:
    value = put([1.0]) + 1
    realize([value])
    memory = weakref.ref(storage.buffer_of(storage.resolve(value)))
    del value
    gc.collect()
    assert memory() is None


def test_schedules_that_are_remembered_keep_no_memory() -> None:
    x = put([1.0, 2.0])
    memory = weakref.ref(storage.buffer_of(x))
    realize([x * 3])
    del x
    gc.collect()
    assert memory() is None


def test_an_unrealized_value_resolves_to_itself() -> None:
    value = put([1.0]) + 1
    assert storage.resolve(value) is value


def test_overwritten_memory_has_a_new_name() -> None:
    x = put([1.0])
    realize([x.assign(x + 1)])
    new = storage.resolve(x)
    assert new is not x
    assert storage.buffer_of(new) is storage.buffer_of(x)
    view = x.reshape((1, 1))
    assert storage.viewed(storage.resolve(view)) is new


def test_memory_keeps_one_name_however_often_it_is_overwritten() -> None:
    x = put([0.0])
    first = x
    for _ in range(5):
        x = storage.resolve(x)
        realize([x.assign(x + 1)])
    assert storage.resolve(first) is storage.resolve(x)
    assert get(first) == 5


def test_buffers_are_named_by_what_they_are_bound_to() -> None:
    x = put(np.arange(4))
    memory = storage.buffer_of(x)
    part = memory.view(2, dtypes.int32, 8)
    (_, named), (other, _) = storage.named_buffers([memory, part])
    assert named is memory
    assert storage.buffer_of(other) is part
    np.testing.assert_array_equal(get(other), [2, 3])


def test_views_are_told_from_values() -> None:
    x = put(np.zeros((2, 3)))
    assert storage.is_view(x.permute((1, 0)))
    assert not storage.is_view((x + 1).permute((1, 0)))
    assert storage.viewed((x + 1).permute((1, 0))) is x + 1


def test_a_storage_becomes_the_memory_that_its_value_was_realized_into() -> None:
    value = put([1.0]) + 1
    kept = Storage(value, "PYTHON")
    assert not kept.settle()
    realize([value])
    assert kept.settle()
    assert kept.uop is storage.resolve(value)


def test_of_two_storages_of_one_value_one_becomes_its_memory() -> None:
    value = put([1.0]) + 1
    one, other = Storage(value, "PYTHON"), Storage(value, "PYTHON")
    realize([value])
    assert (one.settle(), other.settle()) == (True, False)
    del one
    gc.collect()
    assert other.settle()


def test_a_storage_with_a_history_keeps_it() -> None:
    value = put([1.0]) + 1
    kept = Storage(value, "PYTHON", has_history=True)
    realize([value])
    assert not kept.settle()
    assert kept.uop is value


def test_what_shows_the_memory_of_another_storage_is_a_copy() -> None:
    x = put([1.0, 2.0])
    owner = Storage(x, "PYTHON")
    assert owner.is_memory
    for uop in (x, x.pad(((1, 0),)), x.reshape((2, 1)).detach()):
        copy = Storage(uop, "PYTHON")
        assert copy.is_copy
        assert copy.uop is uop.contiguous()


def test_a_value_that_is_written_whole_is_not_computed() -> None:
    kept = Storage(put([1.0, 2.0]) + 1, "PYTHON")
    value = put([[5.0], [6.0]])
    kept.write(path_between(kept.uop.reshape((2, 1)), kept.uop), value)
    assert not any(u.op is Ops.ADD for u in kept.uop.toposort())
    np.testing.assert_array_equal(get(kept.uop), [5, 6])


def test_a_write_to_a_part_keeps_the_rest() -> None:
    x = put([1.0, 2.0, 3.0])
    kept = Storage(x + 1, "PYTHON")
    kept.write(path_between(kept.uop.shrink(((1, 2),)), kept.uop), put([9.0]))
    np.testing.assert_array_equal(get(kept.uop), [2, 9, 4])
    np.testing.assert_array_equal(get(x), [1, 2, 3])


def test_the_storage_of_memory_is_found_by_whatever_shows_it() -> None:
    x = put([1.0, 2.0, 3.0, 4.0])
    kept = Storage(x, "PYTHON")
    view = x.reshape((2, 2)).permute((1, 0))
    assert storage_showing(view) == (kept, path_between(view, x))
    assert storage_showing(put([1.0])) is None
    kept.write((), put([5.0, 6.0, 7.0, 8.0]))
    assert storage_showing(view) is None
    waiting = storage_showing(kept.uop)
    assert waiting is not None
    assert waiting[0] is kept


def test_memory_with_a_write_that_waits_is_nobodys_when_its_storage_goes() -> None:
    x = put([1.0])
    kept = Storage(x, "PYTHON")
    kept.write((), put([5.0]))
    reader = kept.uop * 2
    del kept
    gc.collect()
    assert Storage(x, "PYTHON").is_copy
    realize([reader])
    assert Storage(storage.resolve(x), "PYTHON").is_memory


def test_frozen_memory_is_not_written_in_place() -> None:
    x = put([1.0, 2.0])
    storage.freeze(x)
    kept = Storage(x, "PYTHON")
    kept.write(path_between(x.shrink(((1, 2),)), x), put([9.0]))
    assert get(kept.uop).tolist() == [1, 9]
    assert get(x).tolist() == [1, 2]


def test_values_and_writes_that_wait_are_pending_while_somebody_holds_them() -> None:
    x = put([1.0])
    value, memory = Storage(x + 1, "PYTHON"), Storage(x, "PYTHON")
    assert value.uop in storage.pending_values()
    assert x not in storage.pending_values()
    memory.write((), put([5.0]))
    assert memory.uop in storage.pending_values()
    written = memory.uop
    del value, memory
    gc.collect()
    assert written not in storage.pending_values()
    assert x + 1 not in storage.pending_values()


def test_memory_that_nobody_names_any_more_gets_another_name() -> None:
    x = put([1.0])
    realize([x.assign(x + 1)])
    gc.collect()
    assert get(storage.resolve(x)) == 2
    assert storage.is_outdated(x)


def test_severed_contents_are_known_by_their_name() -> None:
    x = put([1.0])
    storage.sever(x)
    assert storage.is_severed(x)
    assert not storage.is_severed(storage.renew(x))
    assert storage.is_severed(x)


def test_unrelated_nodes_are_equal_when_written_alike() -> None:
    assert UOp.iota(3) is UOp.iota(3)
