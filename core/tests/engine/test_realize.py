from collections.abc import Callable

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import kernelize, realize, schedule
from plugrad.errors import ScheduleError, VerifyError
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put

Launches = Callable[..., list[str]]


def wide(value: float, shape: tuple[int, ...]) -> UOp:
    return UOp.const(dtypes.float32, value).reshape((1,) * len(shape)).expand(shape)


def test_a_realized_value_is_a_buffer(device: str) -> None:
    x = put([1.0, 2.0], device)
    y = x + 1
    realize([y])
    assert storage.resolve(y).op is Ops.BUFFER
    np.testing.assert_array_equal(get(y), [2, 3])


def test_a_sum_by_position_that_was_asked_for_is_in_the_memory_that_it_updates(launches: Launches) -> None:
    positions, values = np.arange(3000) % 500, np.arange(3000, dtype=np.float32)
    at = put(positions.astype(np.int32)).reshape((1, 3000)).expand((500, 3000))
    meets = UOp.iota(500, dtypes.int32).reshape((500, 1)).expand((500, 3000)).eq(at)
    each = put(values).reshape((1, 3000)).expand((500, 3000))
    total = meets.where(each, each.const_like(0)).reduce_axis(Ops.ADD, (1,))
    assert len(launches(total, total * 2)) == 3
    expected = values.reshape(6, 500).sum(0)[:, None]
    np.testing.assert_array_equal(get(total), expected)
    np.testing.assert_array_equal(get(total * 2), expected * 2)


def test_equal_graphs_are_one_value_and_realized_together(device: str, launches: Launches) -> None:
    x = put([1.0, 2.0], device)
    a, b = x * 4, x * 4
    assert a is b
    assert len(launches(a)) == 1
    assert launches(b) == []
    assert storage.resolve(b).op is Ops.BUFFER


def test_what_is_realized_is_not_computed_again_below_another_value(launches: Launches) -> None:
    x = put([[1.0, 2.0]])
    y = x * 4
    realize([y])
    assert len(launches(y + 1)) == 1
    assert schedule([y + 2])[0].bufs[1] is storage.buffer_of(storage.resolve(y))


def test_what_is_in_memory_takes_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    x = put([1.0, 2.0])
    planned: list[object] = []
    monkeypatch.setattr("plugrad.engine.realize.make_plan", lambda *args, **_: planned.append(args))
    realize([x, x.reshape((2, 1))])
    assert planned == []


def test_movement_ops_of_memory_run_nothing(device: str, launches: Launches) -> None:
    x = put(np.arange(6.0).reshape(2, 3), device)
    view = x.permute((1, 0)).flip((0,)).reshape((6, 1)).shrink(((1, 5), (0, 1))).expand((4, 2))
    assert launches(view) == []
    np.testing.assert_array_equal(
        get(view), np.arange(6).reshape(2, 3).T[::-1].reshape(6, 1)[1:5].repeat(2, 1)
    )


def test_a_view_of_a_computed_value_shares_its_memory(device: str) -> None:
    y = put(np.arange(6.0).reshape(2, 3), device) + 1
    view = y.permute((1, 0))
    realize([view])
    assert storage.viewed(storage.resolve(view)) is storage.resolve(y)
    assert storage.resolve(y).op is Ops.BUFFER


def test_only_the_part_of_a_value_that_is_asked_for_is_computed(device: str) -> None:
    y = put(np.arange(100.0), device) + 1
    part = y.shrink(((10, 12),))
    (item,) = schedule([part])
    assert item.bufs[0].size == 2
    realize([part])
    np.testing.assert_array_equal(get(part), [11, 12])


def test_a_reshaped_value_gets_memory_of_its_own_shape() -> None:
    y = (put(np.arange(6.0)) + 1).reshape((2, 3))
    realize([y])
    assert storage.resolve(y).op is Ops.BUFFER
    assert storage.resolve(y).shape == (2, 3)


def test_numbers_are_written_down_where_asked_for(device: str) -> None:
    full, steps = wide(2.0, (3,)) + 0, UOp.iota(4)
    realize([full, steps], device)
    lying = [storage.resolve(numbers, device) for numbers in (full, steps)]
    assert [place.device for place in lying] == [device, device]
    np.testing.assert_array_equal(get(lying[0]), [2, 2, 2])
    np.testing.assert_array_equal(get(lying[1]), range(4))


def test_numbers_realized_on_one_device_are_computed_anew_on_another() -> None:
    steps = UOp.iota(3)
    realize([steps], "PYTHON:1")
    y = put([10, 20, 30]) + steps
    realize([y])
    np.testing.assert_array_equal(get(y), [10, 21, 32])


def test_numbers_lie_where_they_were_realized_and_are_numbers_elsewhere() -> None:
    steps = UOp.iota(5) * 7
    view = steps.reshape((5, 1))
    realize([steps], "PYTHON:1")
    assert storage.resolve(steps, "PYTHON:1").device == "PYTHON:1"
    assert storage.resolve(view, "PYTHON:1") is storage.resolve(steps, "PYTHON:1").reshape((5, 1))
    assert storage.resolve(steps, "PYTHON") is storage.resolve(steps) is steps
    realize([steps], "PYTHON")
    assert [place.device for place in storage.places_of(steps)] == ["PYTHON:1", "PYTHON"]
    assert schedule([steps], "PYTHON") == []


def test_scalars_and_empty_values_are_values(device: str, launches: Launches) -> None:
    scalar = put(3.0, device) * 2
    empty = put(np.zeros((0, 4)), device) + 1
    total = empty.reduce_axis(Ops.ADD, (0,))
    largest = empty.reduce_axis(Ops.MAX, (0,))
    realize([scalar, empty, total, largest])
    assert get(scalar) == 6
    assert get(empty).shape == (0, 4)
    np.testing.assert_array_equal(get(total), np.zeros((1, 4)))
    np.testing.assert_array_equal(get(largest), np.full((1, 4), -np.inf))
    assert launches(put(np.zeros((0, 4)), device) * 2) == []


def test_a_reduction_of_nothing_stays_on_its_device() -> None:
    total = put(np.zeros((0, 2)), "PYTHON:1").reduce_axis(Ops.ADD, (0,))
    realize([total], "PYTHON")
    assert storage.resolve(total).device == "PYTHON:1"
    other = total + put([[1.0, 2.0]], "PYTHON:1")
    realize([other])
    np.testing.assert_array_equal(get(other), [[1, 2]])


def test_the_whole_of_nothing_padded_is_zeros(device: str) -> None:
    y = (put(np.zeros((0, 2)), device) + 1).pad(((1, 1), (0, 0)))
    realize([y.contiguous()])
    np.testing.assert_array_equal(get(y.contiguous()), np.zeros((2, 2)))


def test_division_of_padded_integers_does_not_divide_by_the_padding(device: str) -> None:
    a, b = put([7, 9], device), put([2, -2], device)
    y = ((a // b) + (a % b)).pad(((2, 1),)) + 1
    realize([y])
    np.testing.assert_array_equal(get(y), [1, 1, 5, -5, 1])


def test_kernelized_values_run_exactly_the_kernels_that_were_planned(device: str, launches: Launches) -> None:
    x = put(np.arange(12.0).reshape(3, 4), device)
    y = x - x.reduce_axis(Ops.MAX, (0, 1)).expand((3, 4)).contiguous()
    total = y.reduce_axis(Ops.ADD, (1,))
    planned = [item.ast.arg.name for item in schedule([y, total])]
    found = kernelize([y, total])
    assert found[y].op is Ops.AFTER
    assert [item.ast.arg.name for item in schedule(found.values())] == planned
    assert len(launches(found[total])) > 0
    realize([found[y]])
    assert launches(found[y], found[total]) == []
    np.testing.assert_array_equal(get(found[y]), np.arange(12).reshape(3, 4) - 11)
    np.testing.assert_array_equal(get(found[total]).reshape(-1), (np.arange(12).reshape(3, 4) - 11).sum(1))


def test_a_kernelized_assign_is_done_once_when_realized(launches: Launches) -> None:
    x = put([1.0, 2.0])
    changed = x.assign(x.flip((0,)) + 1)
    found = kernelize([changed])[changed]
    np.testing.assert_array_equal(get(x), [1, 2])
    assert len(launches(found)) == 2
    assert launches(found) == []
    np.testing.assert_array_equal(get(x), [3, 2])


def test_copies_can_be_kernelized() -> None:
    y = put([1.0, 2.0], "PYTHON:1").copy_to_device("PYTHON") + 1
    found = kernelize([y])[y]
    realize([found])
    np.testing.assert_array_equal(get(found), [2, 3])


def test_a_node_of_a_kernel_is_no_tensor() -> None:
    with context(SPEC=0), pytest.raises(ScheduleError, match="cannot schedule RANGE"):
        realize([put([1, 2]) + UOp.range(2, 0).cast(dtypes.int32)])
    with context(SPEC=1), pytest.raises(VerifyError, match="no such op"):
        realize([put([1, 2]) + UOp.range(2, 0).cast(dtypes.int32)])


def test_only_memory_can_be_assigned_to() -> None:
    x = put([1.0, 2.0])
    with context(SPEC=0):
        with pytest.raises(ScheduleError, match="cannot assign to ADD"):
            realize([(x + 1).assign(x)])
        with pytest.raises(ScheduleError, match="cannot assign to EXPAND"):
            realize([x.reshape((1, 2)).expand((3, 2)).assign(wide(1.0, (3, 2)))])
        with pytest.raises(ScheduleError, match="padded view"):
            realize([x.pad(((1, 0),)).assign(wide(1.0, (3,)))])


def test_memory_that_nobody_gave_is_an_error() -> None:
    with pytest.raises(ScheduleError, match="has no memory"):
        realize([UOp.new_buffer("PYTHON", (2,), dtypes.float32) + 1])
