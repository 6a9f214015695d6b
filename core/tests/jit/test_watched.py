"""Tensors outside of a jitted function are noticed when they show other memory, and only then."""

import weakref
from collections.abc import Iterable

from plugrad import Tensor
from plugrad.engine import storage
from plugrad.jit.watched import Watched, WatchedTensors


def watch(tensors: Iterable[Tensor], *, was_used: bool = True) -> WatchedTensors:
    out: list[Watched] = []
    for tensor in tensors:
        buffer = storage.buffer_of(storage.viewed(tensor.uop))
        out.append(Watched(weakref.ref(tensor), tensor.uop, buffer, was_used))
    return WatchedTensors(out)


def memory(*values: float) -> Tensor:
    return Tensor(list(map(float, values))).contiguous().realize()


def test_tensors_that_stay_are_unchanged_however_often_they_are_asked() -> None:
    tensors = [memory(n) for n in range(3)]
    watched = watch(tensors)
    assert [watched.are_unchanged() for _ in range(3)] == [True] * 3


def test_memory_that_was_written_goes_by_another_name_and_is_the_same() -> None:
    x = memory(1, 2)
    watched = watch([x])
    assert watched.are_unchanged()
    before = x.uop
    x.assign(Tensor([3.0, 4.0])).realize()
    assert x.uop is not before
    assert watched.are_unchanged()


def test_a_write_that_waits_is_done() -> None:
    x = memory(1, 2)
    watched = watch([x])
    assert watched.are_unchanged()
    x.assign(x + 1)
    assert watched.are_unchanged()
    assert storage.is_view(x.uop)


def test_a_tensor_that_is_made_to_show_other_memory_is_noticed() -> None:
    x, other = memory(1, 2), memory(3, 4)
    watched = watch([x, other])
    assert watched.are_unchanged()
    x._storage, x._node, x._root = other._storage, other._node, other._root
    assert not watched.are_unchanged()


def test_a_tensor_that_was_used_and_is_no_more_is_noticed() -> None:
    x, y = memory(1), memory(2)
    watched = watch([x, y])
    assert watched.are_unchanged()
    del x
    assert not watched.are_unchanged()


def test_one_tensor_that_shows_the_memory_is_enough_where_none_was_used() -> None:
    x = memory(1, 2)
    view = x.reshape(2, 1)
    watched = watch([x, view], was_used=False)
    assert watched.are_unchanged()
    del view
    assert [watched.are_unchanged() for _ in range(2)] == [True, True]
    del x
    assert not watched.are_unchanged()


def test_memory_that_nobody_showed_from_the_first_is_noticed() -> None:
    x = memory(1, 2)
    watched = watch([x], was_used=False)
    del x
    assert not watched.are_unchanged()


def test_views_are_asked_for_what_they_show() -> None:
    x = memory(1, 2, 3)
    view = x[1:]
    watched = watch([view])
    assert [watched.are_unchanged() for _ in range(2)] == [True, True]
    view._path, view._node = (), x.uop
    assert not watched.are_unchanged()
