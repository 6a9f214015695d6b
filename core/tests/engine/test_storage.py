import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.errors import ScheduleError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_a_new_buffer_has_memory_of_its_shape_and_dtype() -> None:
    uop = storage.new_buffer("PYTHON", (2, 3), dtypes.int16)
    buffer = storage.buffer_of(uop)
    assert (buffer.size, buffer.dtype, buffer.device) == (6, dtypes.int16, "PYTHON")
    assert buffer.handle is None


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


def test_a_graph_resolves_to_memory_where_values_are_realized() -> None:
    x = put([1.0])
    inner = x + 1
    outer = (inner * 2).detach()
    realize([inner])
    found = storage.resolve_graph(outer)[outer]
    assert found is storage.resolve(inner) * 2
    assert found.src[0].op is Ops.BUFFER


def test_resolving_a_very_deep_graph_needs_no_recursion() -> None:
    value = put([1.0])
    for _ in range(20_000):
        value = value + 1
    assert storage.resolve_graph(value)[value] is value


def test_overwritten_memory_has_a_new_name() -> None:
    x = put([1.0])
    realize([x.assign(x + 1)])
    new = storage.resolve(x)
    assert new is not x
    assert storage.buffer_of(new) is storage.buffer_of(x)
    view = x.reshape((1, 1))
    assert storage.base_of(storage.resolve(view)) is new


def test_what_reads_overwritten_memory_is_found() -> None:
    x, y = put([1.0]), put([2.0])
    once = x.assign(x + 1)
    later = (once * 2) + y
    assert storage.overwritten_below(later) is None
    realize([once])
    assert storage.overwritten_below(later) is None
    assert storage.overwritten_below(x * 2) is x
    now = storage.resolve(x)
    realize([now.assign(now + 1)])
    assert storage.overwritten_below(later) is once
    assert storage.overwritten_below(storage.resolve(x) + y) is None
    assert storage.overwritten_below(x.assign(y)) is None


def test_a_version_that_a_later_one_of_its_schedule_overwrites_is_overwritten() -> None:
    x = put([1.0, 2.0])
    once = x.assign(x + 1)
    part = once.after(once.shrink(((0, 1),)).assign(once.shrink(((1, 2),)) * 10))
    twice = part.assign(part * 2)
    before, between, after = once * 3, part * 3, twice * 3
    realize([twice])
    assert get(twice).tolist() == [60.0, 6.0]
    assert storage.overwritten_below(before) is once
    assert storage.overwritten_below(between) is part
    assert storage.overwritten_below(after) is None
    assert storage.resolve(once) is storage.resolve(part) is storage.resolve(twice)


def test_memory_keeps_one_name_however_often_it_is_overwritten() -> None:
    x = put([0.0])
    first = x
    for _ in range(5):
        x = storage.resolve(x)
        realize([x.assign(x + 1)])
    assert storage.resolve(first) is storage.resolve(x)
    assert get(first) == 5


def test_holders_name_what_is_held_until_they_are_taken_away(hold: Callable[..., None]) -> None:
    value = put([1.0]) + 1
    hold(value)
    assert value in list(storage.held_values())


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
    assert storage.base_of((x + 1).permute((1, 0))) is x + 1


def test_unrelated_nodes_are_equal_when_written_alike() -> None:
    assert UOp.iota(3) is UOp.iota(3)
