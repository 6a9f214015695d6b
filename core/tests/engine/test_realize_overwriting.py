"""Overwriting memory by other means than assigns."""

from collections.abc import Callable

from plugrad.engine import storage
from plugrad.engine.realize import overwriting
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
