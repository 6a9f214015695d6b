"""Assigns: what is read before, after and while memory is written."""

from collections.abc import Callable

import numpy as np

from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put

Launches = Callable[..., list[str]]
Hold = Callable[..., None]


def row_sum(x: UOp) -> UOp:
    return x.reduce_axis(Ops.ADD, (1,)).expand(x.shape)


def wide(value: float, shape: tuple[int, ...]) -> UOp:
    return UOp.const(dtypes.float32, value).reshape((1,) * len(shape)).expand(shape)


def matmul(x: UOp, w: UOp) -> UOp:
    (m, k), (_, n) = x.shape, w.shape
    product = x.reshape((m, 1, k)).expand((m, n, k)) * w.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    return product.reduce_axis(Ops.ADD, (2,)).reshape((m, n))


def test_an_assign_reads_before_it_writes(device: str, launches: Launches) -> None:
    x = put([1.0, 2.0], device)
    changed = x.assign(x + 1)
    assert len(launches(changed)) == 1
    np.testing.assert_array_equal(get(changed), [2, 3])
    np.testing.assert_array_equal(get(x), [2, 3])


def test_an_assign_happens_once_whoever_holds_it(device: str, launches: Launches) -> None:
    x = put([1.0, 2.0], device)
    changed = x.assign(x + 1)
    first, second = changed * 2, changed * 3
    realize([first])
    realize([second])
    assert launches(changed) == []
    np.testing.assert_array_equal(get(first), [4, 6])
    np.testing.assert_array_equal(get(second), [6, 9])
    np.testing.assert_array_equal(get(x), [2, 3])


def test_an_assign_below_a_long_reduction_happens_once(launches: Launches) -> None:
    # the scheduler rewrites what is assigned, and has to recognise the assign all the same
    x = put([0.0])
    long = wide(1.0, (1 << 16,)) + put(np.zeros(1 << 16))
    changed = x.assign(x + long.reduce_axis(Ops.ADD, (0,)))
    realize([changed + 1])
    assert launches(changed) == []
    assert get(x) == 1 << 16


def test_a_pending_reader_that_is_held_sees_the_old_values(device: str, hold: Hold) -> None:
    x = put([1.0, 2.0], device)
    reader, view = x * 10, x.flip((0,))
    hold(reader, view)
    realize([x.assign(x + 1)])
    np.testing.assert_array_equal(get(reader), [10, 20])
    np.testing.assert_array_equal(get(view), [3, 2])


def test_a_pending_reader_of_a_later_version_sees_that_version(hold: Hold) -> None:
    x = put([1.0, 2.0])
    once = x.assign(x + 1)
    reader = once * 10
    hold(reader)
    realize([once.assign(once + 1)])
    np.testing.assert_array_equal(get(reader), [20, 30])
    np.testing.assert_array_equal(get(x), [3, 4])


def test_a_reader_that_is_part_of_the_assigned_value_keeps_the_old_values(hold: Hold) -> None:
    x = put([1.0, 2.0])
    double = x + x
    hold(double)
    realize([x.assign(double + 1)])
    np.testing.assert_array_equal(get(double), [2, 4])
    np.testing.assert_array_equal(get(x), [3, 5])


def test_a_value_computed_before_an_assign_is_not_taken_for_the_same_graph_after_it() -> None:
    x = put([1.0])
    before = x * 2
    realize([before])
    realize([x.assign(x + 1)])
    after = storage.resolve(x) * 2
    realize([after])
    assert (get(before), get(after)) == (2, 4)


def test_assigns_in_a_chain_each_see_the_one_before(device: str) -> None:
    x = put([1.0], device)
    version = x
    for _ in range(5):
        version = version.assign(version * 2 + 1)
    realize([version])
    assert get(x) == 63


def test_the_last_of_two_assigns_stays(device: str) -> None:
    x = put([1.0, 2.0], device)
    first = x.assign(wide(5.0, (2,)))
    realize([first.assign(wide(6.0, (2,)))])
    np.testing.assert_array_equal(get(x), [6, 6])


def test_old_and_new_version_meet_in_one_kernel(device: str) -> None:
    x = put([1.0, 2.0], device)
    changed = x.assign(x * 10)
    both = x + changed
    realize([both])
    np.testing.assert_array_equal(get(both), [11, 22])
    np.testing.assert_array_equal(get(x), [10, 20])


def test_an_assign_that_reads_an_older_version_gets_it(device: str) -> None:
    x = put([1.0, 2.0], device)
    changed = x.assign(x * 10)
    realize([changed.assign(x + changed)])
    np.testing.assert_array_equal(get(x), [11, 22])


def test_an_assign_may_read_its_memory_in_another_order(device: str) -> None:
    x = put(np.arange(6.0), device)
    realize([x.assign(x.flip((0,)))])
    np.testing.assert_array_equal(get(x), np.arange(6)[::-1])
    square = put(np.arange(9.0).reshape(3, 3), device)
    realize([square.assign(square.permute((1, 0)))])
    np.testing.assert_array_equal(get(square), np.arange(9).reshape(3, 3).T)
    turned = put(np.arange(9.0).reshape(3, 3), device)
    realize([turned.permute((1, 0)).assign(turned)])
    np.testing.assert_array_equal(get(turned), np.arange(9).reshape(3, 3).T)


def test_an_assign_may_reduce_over_its_own_memory(device: str) -> None:
    values = np.arange(16.0).reshape(4, 4)
    x, w = put(values, device), put(values + 1, device)
    realize([x.assign(matmul(x, w))])
    np.testing.assert_array_equal(get(x), values @ (values + 1))
    y = put(values, device)
    realize([y.assign(y + row_sum(y))])
    np.testing.assert_array_equal(get(y), values + values.sum(1, keepdims=True))


def test_an_assign_to_a_part_changes_that_part(device: str) -> None:
    x = put(np.zeros((3, 4)), device)
    part = x.shrink(((1, 2), (0, 4)))
    whole = x.after(part.assign(wide(1.0, (1, 4))))
    again = whole.after(whole.permute((1, 0)).shrink(((3, 4), (0, 3))).assign(wide(2.0, (1, 3))))
    total = again.reduce_axis(Ops.ADD, (0, 1))
    realize([total])
    np.testing.assert_array_equal(get(again), [[0, 0, 0, 2], [1, 1, 1, 2], [0, 0, 0, 2]])
    assert get(total) == 9


def test_two_assigns_to_parts_are_both_done_before_the_whole_is_read(device: str) -> None:
    x = put(np.zeros(4), device)
    low = x.shrink(((0, 2),)).assign(wide(1.0, (2,)))
    high = x.shrink(((2, 4),)).assign(wide(2.0, (2,)))
    y = x.after(low, high) * 10
    realize([y])
    np.testing.assert_array_equal(get(y), [10, 10, 20, 20])


def test_one_part_may_be_computed_from_another(device: str) -> None:
    x = put(np.arange(6.0), device)
    shifted = x.after(x.shrink(((1, 6),)).assign(x.shrink(((0, 5),))))
    realize([shifted])
    np.testing.assert_array_equal(get(shifted), [0, 0, 1, 2, 3, 4])


def test_two_memories_can_be_swapped(device: str) -> None:
    a, b = put([1.0, 2.0], device), put([3.0, 4.0], device)
    realize([a.assign(b), b.assign(a)])
    np.testing.assert_array_equal(get(a), [3, 4])
    np.testing.assert_array_equal(get(b), [1, 2])


def test_a_copy_in_memory_of_its_own_keeps_what_it_copied(hold: Hold) -> None:
    x = put([1.0, 2.0])
    own = x.contiguous()
    hold(own)
    realize([x.assign(x + 1)])
    np.testing.assert_array_equal(get(own), [1, 2])


def test_a_step_of_gradient_descent_uses_the_gradients_of_the_old_weights(device: str) -> None:
    w, v = put([1.0, 2.0], device), put([0.5, 0.5], device)
    loss_w, loss_v = w * v * 2, w * w
    new_w, new_v = w.assign(w - loss_w), v.assign(v - loss_v)
    realize([new_w, new_v])
    np.testing.assert_array_equal(get(w), [0, 0])
    np.testing.assert_array_equal(get(v), [-0.5, -3.5])
