"""Tests of plugrad.engine.bulk_apply."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrad import Tensor, events
from plugrad.engine import storage
from plugrad.engine.bulk_apply import State
from plugrad.engine.bulk_apply import bulk_apply as bulk_apply_computed
from plugrad.engine.capture import capturing
from plugrad.engine.realize import realize
from plugrad.uop.uop import UOp
from plugrad_conformance.testing import recorded_events


def bulk_apply(step: Callable[[State], State], state: State, count: int, device: str) -> State:
    """Compute each step by one schedule."""

    def computed(state: State) -> State:
        values = step(state)
        realize(values, device)
        return tuple(storage.resolve(u, device) for u in values)

    return bulk_apply_computed(computed, state, count)


def step(state: State) -> State:
    x, count = state
    shifted = x.flip((0,)) + count.cast(x.dtype).expand(x.shape)
    return shifted.contiguous(), (count + 1).contiguous()


def values_of(state: State) -> list[list[float]]:
    return [Tensor(u).tolist() for u in state]


def expected(count: int) -> list[list[float]]:
    x = np.array([1.0, 2.0, 4.0])
    for number in range(count):
        x = x[::-1] + number
    return [x.tolist(), [count]]


def given() -> tuple[Tensor, Tensor]:
    return Tensor([1.0, 2.0, 4.0]).realize(), Tensor([0], dtype="int32").realize()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_the_state_is_that_after_so_many_steps(count: int) -> None:
    x, start = given()
    assert values_of(bulk_apply(step, (x.uop, start.uop), count, x.device)) == expected(count)


def test_what_the_first_step_takes_stays_as_it_was() -> None:
    x, start = given()
    first = step((x.uop, start.uop))
    bulk_apply(step, (x.uop, start.uop), 8, x.device)
    assert x.tolist() == [1.0, 2.0, 4.0]
    # the same graph, which is known by where the first step went
    assert values_of(tuple(storage.resolve(u) for u in first)) == expected(1)


def test_any_graph_may_be_the_first_state() -> None:
    x, start = given()
    doubled = (Tensor([2.0, 4.0, 8.0]) / 2).uop
    assert values_of(bulk_apply(step, (doubled, start.uop), 5, x.device)) == expected(5)
    reversed_view = Tensor([4.0, 2.0, 1.0]).realize().flip(0).uop
    assert values_of(bulk_apply(step, (reversed_view, start.uop), 5, x.device)) == expected(5)


def test_captures_record_every_step() -> None:
    x, start = given()
    with capturing() as capture:
        bulk_apply(step, (x.uop, start.uop), 6, x.device)
    assert len(capture.steps) == 6 * 2


def test_observers_see_two_plans_and_all_other_steps_whatever_the_count() -> None:
    x, start = given()
    for count in (4, 40):
        done: list[events.RealizeEvent] = []
        with events.subscribe(events.RealizeEvent, done.append):
            bulk_apply(step, (x.uop, start.uop), count, x.device)
        assert [event.kernels for event in done] == [2, 2, 2 * (count - 2)]


def test_observers_are_told_of_the_copies_and_devices_of_repeated_steps() -> None:
    x, _ = given()

    def there_and_back(state: State) -> State:
        return tuple([(u.copy_to_device("PYTHON:1") * 2.0).copy_to_device(x.device) for u in state])

    with recorded_events(events.RealizeEvent) as done, recorded_events(events.CopyEvent) as copies:
        bulk_apply(there_and_back, (x.uop,), 4, x.device)
    assert [(event.kernels, event.copies) for event in done] == [(1, 2), (1, 2), (2, 4)]
    assert len(copies) == 8
    assert {event.devices for event in done} == {("PYTHON:1", x.device)}


def test_steps_may_change_nothing() -> None:
    x, _ = given()

    def same(state: State) -> State:
        return tuple(UOp.contiguous(u * 1.0) for u in state)

    assert values_of(bulk_apply(same, (x.uop,), 3, x.device)) == [[1.0, 2.0, 4.0]]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_steps_may_read_parts_of_the_state(count: int) -> None:
    x = Tensor.arange(32.0).reshape(4, 8).realize()

    def halves_added(state: State) -> State:
        halves = [state[0].shrink([(begin, begin + 2), (0, 8)]) for begin in (0, 2)]
        both = (halves[0] + halves[1]).reshape((1, 2, 8)).expand((2, 2, 8))
        return (both.reshape((4, 8)).contiguous(),)

    (found,) = values_of(bulk_apply(halves_added, (x.uop,), count, x.device))
    assert found == ((x[:2] + x[2:]) * 2 ** (count - 1)).tolist() * 2


def part(state: State) -> State:
    """Take three steps, and double the numbers."""
    x, count = bulk_apply(step, state, 3, state[0].device or "")
    after = (x * 2.0).contiguous(), (count * 1).contiguous()
    realize(after)
    return tuple(storage.resolve(u) for u in after)


def expected_of_parts(count: int) -> list[list[float]]:
    x = np.array([1.0, 2.0, 4.0])
    for number in range(3 * count):
        x = (x[::-1] + number) * (2 if number % 3 == 2 else 1)
    return [x.tolist(), [3 * count]]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_parts_that_repeat_steps_themselves_are_repeated(count: int) -> None:
    x, start = given()
    assert values_of(bulk_apply_computed(part, (x.uop, start.uop), count)) == expected_of_parts(count)
    assert x.tolist() == [1.0, 2.0, 4.0]


def test_captures_record_every_step_of_every_part() -> None:
    x, start = given()
    with capturing() as capture:
        found = bulk_apply_computed(part, (x.uop, start.uop), 5)
    assert len(capture.steps) == 5 * (3 * 2 + 2)
    for launch in capture.steps:
        launch.run(capture.values)
    assert values_of(found) == expected_of_parts(5)


def test_parts_are_called_twice_whatever_the_count() -> None:
    x, start = given()
    called: list[State] = []

    def counted(state: State) -> State:
        called.append(state)
        return part(state)

    bulk_apply_computed(counted, (x.uop, start.uop), 9)
    assert len(called) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_observers_are_told_of_every_launch_of_every_part(count: int) -> None:
    x, start = given()
    with recorded_events(events.KernelEvent) as kernels, recorded_events(events.RealizeEvent) as done:
        bulk_apply_computed(part, (x.uop, start.uop), count)
    assert sum(event.kernels for event in done) == len(kernels) == count * (3 * 2 + 2)
    assert {event.devices for event in done} == {(x.device,)}
    # two parts of four events each, and all others
    assert len(done) == 4 * min(count, 2) + (count > 2)


def test_runs_of_one_kernel_keep_the_offsets_of_their_slices() -> None:
    table = Tensor.arange(16.0).reshape(8, 2).realize().uop

    def two_rows_added(state: State) -> State:
        (x,) = state
        for row in (3, 6):
            x = (x + table.shrink([(row, row + 1), (0, 2)])).contiguous()
            realize([x])
            x = storage.resolve(x)
        return (x,)

    for _ in range(3):
        start = Tensor([[1.0, 2.0]]).realize()
        for count in (2, 5, 12):
            found = values_of(bulk_apply_computed(two_rows_added, (start.uop,), count))
            assert found == [[[1.0 + 18 * count, 2.0 + 20 * count]]]
