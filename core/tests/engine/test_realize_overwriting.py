"""Overwriting memory by other means than assigns."""

from collections.abc import Callable

import pytest

from plugrad.engine import storage
from plugrad.engine.realize import overwriting, realize
from plugrad.errors import ShapeError
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_values_that_wait_are_computed_before_and_new_graphs_read_the_new_values(
    hold: Callable[..., None],
) -> None:
    x, new = put([1.0, 2.0]), put([5.0, 6.0])
    waiting = x * 10
    hold(waiting)
    with overwriting([x]):
        storage.buffer_of(x).copyin(storage.buffer_of(new).as_memoryview())
    assert get(waiting).tolist() == [10, 20]
    assert get(storage.resolve(x) * 10).tolist() == [50, 60]
    assert get(x).tolist() == [5, 6]


def test_views_go_on_showing_the_memory() -> None:
    x, new = put([1.0, 2.0]), put([5.0, 6.0])
    view = x.shrink(((1, 2),))
    with overwriting([x]):
        storage.buffer_of(x).copyin(storage.buffer_of(new).as_memoryview())
    assert get(view).tolist() == [6]


def write_twice(x: UOp, new: UOp) -> None:
    """Write `new` to `x`, and then what does not fit."""
    memory = storage.buffer_of(x)
    with overwriting([x]):
        memory.copyin(storage.buffer_of(new).as_memoryview())
        memory.copyin(memoryview(b""))


def test_after_a_write_that_failed_the_memory_is_another_version() -> None:
    x, new = put([1.0, 2.0]), put([5.0, 6.0])
    before = x * 10
    realize([before])
    with pytest.raises(ShapeError):
        write_twice(x, new)
    after = storage.resolve(x) * 10
    realize([after])
    assert get(before).tolist() == [10, 20]
    assert get(after).tolist() == [50, 60]
