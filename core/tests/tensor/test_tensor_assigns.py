"""Assigns to tensors: who sees the new value, and who the old one."""

from typing import Any

import pytest

from plugrad import Tensor
from plugrad.engine import storage
from plugrad.errors import DtypeError, ShapeError


def test_assigning_writes_the_same_memory() -> None:
    t = Tensor([1.0, 2.0]).realize()
    buffer = storage.buffer_of(t.uop)
    assert t.assign(t + 1) is t
    assert t.tolist() == [2.0, 3.0]
    assert storage.buffer_of(t.uop) is buffer
    t.assign(5.0)
    t.assign(t * 2)
    assert t.tolist() == [10.0, 10.0]
    assert t.assign([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_what_was_computed_before_keeps_the_old_value_whenever_it_is_read() -> None:
    t = Tensor([1.0, 2.0]).realize()
    before, total = t * 10, (t + 1).sum()
    t.assign(Tensor([5.0, 6.0])).realize()
    after = t * 10
    assert after.tolist() == [50.0, 60.0]
    assert before.tolist() == [10.0, 20.0]
    assert total.item() == 5.0


def test_an_expression_is_computed_anew_after_an_assign() -> None:
    t = Tensor([1.0, 2.0]).realize()
    first = (t * 3).realize()
    t.assign(t + 1).realize()
    second = (t * 3).realize()
    t.assign(t + 1).realize()
    third = t * 3
    assert [x.tolist() for x in (first, second, third)] == [[3.0, 6.0], [6.0, 9.0], [9.0, 12.0]]


def test_the_same_assign_runs_each_time() -> None:
    t = Tensor([0.0]).realize()
    held: list[Any] = []
    for _ in range(5):
        t.assign(t + 1)
        held.append(t + 0.5)
        t.realize()
    assert t.item() == 5.0
    assert [h.item() for h in held] == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_views_see_an_assign() -> None:
    t = Tensor([1.0, 2.0, 3.0]).realize()
    view = t[1:]
    t.assign(Tensor([4.0, 5.0, 6.0])).realize()
    assert view.tolist() == [5.0, 6.0]
    assert (view + 1).tolist() == [6.0, 7.0]
    t.assign(Tensor([7.0, 8.0, 9.0])).realize()
    assert (view + 1).tolist() == [9.0, 10.0]


def test_two_values_may_change_places() -> None:
    a, b = Tensor([1.0]).realize(), Tensor([2.0]).realize()
    old = a + 0
    a.assign(b + 0)
    b.assign(old)
    a.realize(b)
    assert (a.item(), b.item()) == (2.0, 1.0)


def test_a_constant_gets_memory_of_its_own_when_assigned() -> None:
    a, b = Tensor.zeros(2), Tensor.zeros(2)
    a.assign(Tensor([1.0, 2.0]))
    assert (a.tolist(), b.tolist()) == ([1.0, 2.0], [0.0, 0.0])
    m, v = Tensor.zeros(2).contiguous().realize(), Tensor.zeros(2).contiguous().realize()
    m.assign(m + 1)
    v.assign(v + 2)
    m.realize(v)
    assert (m.tolist(), v.tolist()) == ([1.0, 1.0], [2.0, 2.0])


def test_an_equal_tensor_is_not_written_by_an_assign_to_its_twin() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 2, t * 2
    a.realize()
    a.assign(a + 1).realize()
    assert (a.tolist(), b.tolist()) == ([3.0, 5.0], [2.0, 4.0])


def test_an_assign_inside_a_function_is_seen_outside() -> None:
    count = Tensor.zeros(1, dtype="int32").contiguous()

    def layer(x: Tensor) -> Tensor:
        count.assign(count + 1)
        return x * 2

    for _ in range(3):
        layer(Tensor([1.0])).realize()
    assert count.tolist() == [3]


def test_axes_of_one_in_front_of_an_assigned_value_fall_away() -> None:
    t = Tensor([1.0, 2.0])
    assert t.assign(Tensor([[[3.0, 4.0]]])).tolist() == [3.0, 4.0]
    assert Tensor(1.0).contiguous().assign(Tensor([2.0])).tolist() == 2.0
    assert t[1].assign(Tensor([[5.0]])).tolist() == 5.0
    with pytest.raises(ShapeError, match=r"cannot assign shape \(2, 2\) to \(2,\): it does not broadcast"):
        t.assign(Tensor([[1.0, 2.0], [3.0, 4.0]]))


def test_wrong_assigns_are_refused() -> None:
    t = Tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"cannot assign shape \(3,\) to \(2,\): it does not broadcast"):
        t.assign(Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(DtypeError, match=r"cannot assign int32 to float32: memory keeps its dtype"):
        t.assign(Tensor([1, 2]))
