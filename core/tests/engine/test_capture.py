import threading

import pytest

from plugrad.engine import storage
from plugrad.engine.capture import capturing, current_capture, note_size
from plugrad.engine.execute import Copy, Launch
from plugrad.engine.realize import realize
from plugrad.errors import ShapeError
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_steps_are_recorded_in_the_order_in_which_they_ran() -> None:
    x = put([1.0, 2.0], "PYTHON:1")
    with capturing() as capture:
        realize([x.copy_to_device("PYTHON") * 2])
        realize([put([1.0]) + 1])
    assert [type(step) for step in capture.steps] == [Copy, Launch, Launch]


def test_values_of_variables_are_recorded() -> None:
    n = UOp.variable("n", 1, 4)
    with capturing() as capture:
        realize([put([1.0, 2.0, 3.0, 4.0]).shrink(((0, n.bind(3)),)) + 1])
    assert capture.values == {"n": 3}


def test_nothing_is_recorded_outside_of_the_block() -> None:
    with capturing() as capture:
        pass
    realize([put([1.0]) + 1])
    assert capture.steps == []
    assert current_capture() is None


def test_a_capture_records_its_own_thread_only() -> None:
    value = put([1.0]) + 5
    with capturing() as capture:
        thread = threading.Thread(target=lambda: realize([value]))
        thread.start()
        thread.join()
    assert capture.steps == []


def test_a_recorded_step_can_run_again() -> None:
    x = put([1.0])
    with capturing() as capture:
        realize([x.assign(x + 1)])
    for step in capture.steps:
        step.run(capture.values)
    assert get(x) == 3


def test_memory_that_was_written_is_no_constant_any_more() -> None:
    x, y = put([1.0]), put([2.0])
    with capturing([storage.buffer_of(x), storage.buffer_of(y)]) as capture:
        realize([x.assign(x + y)])
    assert capture.constants == {storage.buffer_of(y)}


def test_a_size_whose_value_is_used_is_a_condition() -> None:
    size = UOp.variable("n", 1, 8).bind(3) * 2
    with capturing() as capture:
        note_size(size, 6)
    note_size(size, 6)
    assert capture.values == {"n": 3}
    (condition,) = capture.conditions
    condition.check({"n": 3})
    with pytest.raises(ShapeError, match="with n=4: 8 elements are no 6 elements"):
        condition.check({"n": 4})
