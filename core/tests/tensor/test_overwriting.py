"""Overwriting memory that tensors show."""

from plugrad import Tensor
from plugrad.engine import storage
from plugrad.engine.realize import overwriting


def test_values_that_wait_are_computed_before_and_new_graphs_read_the_new_values() -> None:
    x = Tensor([1, 2]).realize()
    waiting = x * 10
    with overwriting([x.uop]):
        storage.buffer_of(x.uop).copyin(memoryview(b"\x05\0\0\0\x06\0\0\0"))
    assert waiting.tolist() == [10, 20]
    assert (x * 10).tolist() == [50, 60]
    assert x.tolist() == [5, 6]


def test_views_go_on_showing_the_memory() -> None:
    x = Tensor([1, 2]).realize()
    view = x[1:]
    with overwriting([x.uop]):
        storage.buffer_of(x.uop).copyin(memoryview(b"\x05\0\0\0\x06\0\0\0"))
    assert view.tolist() == [6]
