"""Kernels over the same loops that read the same memory are one."""

import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.uop import Ops, UOp
from plugrad.uop.spec import kernel_spec, verify


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def calls_of(*values: UOp, max_buffers: int = 0) -> list[KernelCall]:
    model = CostModel(cores=2, runs_loops=True, row_bytes=1 << 18, max_buffers=max_buffers)
    calls = list(create_schedule(UOp.sink(*values), {"PYTHON": model}, "PYTHON").calls)
    for call in calls:
        verify(call.ast, kernel_spec)
    return calls


def results_of(*values: UOp, max_buffers: int = 0) -> list[int]:
    return [len(call.roots) for call in calls_of(*values, max_buffers=max_buffers)]


def column_sum(x: UOp) -> UOp:
    return x.reduce_axis(Ops.ADD, (0,))


def test_sums_of_the_same_elements_are_one_kernel() -> None:
    x, y = buffer(64, 8), buffer(64, 8)
    (call,) = calls_of(column_sum(x), column_sum(x * y))
    assert len(call.memory) == 4
    assert call.roots == (column_sum(x), column_sum(x * y))
    first, second = call.ast.src
    assert first.src[2:] == second.src[2:]
    loads = [u for u in call.ast.toposort() if u.op is Ops.LOAD]
    assert len(loads) == 2


def test_a_parameter_and_its_moments_are_one_kernel_that_passes_values_on() -> None:
    weight, moment, gradient = buffer(16, 4), buffer(16, 4), buffer(16, 4)
    moved = moment.assign(moment * 0.9 + gradient)
    (call,) = calls_of(moved, weight.assign(weight - moved * 0.1))
    assert call.targets == (moment, weight)
    loads = [u for u in call.ast.toposort() if u.op is Ops.LOAD]
    assert {u.src[0].src[0].arg[0] for u in loads} == set(range(3))
    assert len(loads) == 3


def test_what_both_read_before_it_is_overwritten_is_loaded_once() -> None:
    weight, moment = buffer(16), buffer(16)
    moved = moment.assign(moment * 0.9 + weight)
    assert results_of(moved, weight.assign(weight - moved)) == [2]


def test_memory_is_not_overwritten_while_others_read_it() -> None:
    x, y = buffer(16), buffer(16)
    # the second kernel does not read what it writes, so nothing says that the first has loaded it
    assert results_of((x * y).contiguous(), x.assign(y + 1)) == [1, 1]


def test_values_are_passed_on_at_the_same_place_only() -> None:
    x = buffer(16)
    made = (x + 1).contiguous()
    assert results_of(made, made.flip((0,)) * x) == [1, 1]


def test_parts_of_memory_that_is_written_stay_apart() -> None:
    x = buffer(6)
    assert 1 in results_of(x.after(x.shrink(((1, 6),)).assign(x.shrink(((0, 5),)))))


def test_calls_are_not_moved_before_what_they_read() -> None:
    x, y = buffer(64, 8), buffer(64, 8)
    scale = buffer(1, 8)
    first = column_sum(x)
    between = scale.assign(y.shrink(((0, 1), (0, 8))).flip((1,)))
    assert results_of(first, between, column_sum(x * between.expand((64, 8)))) == [1, 1, 1]


@pytest.mark.parametrize("shape", [(64, 9), (8, 64)])
def test_loops_of_other_sizes_stay_apart(shape: tuple[int, int]) -> None:
    assert results_of(column_sum(buffer(64, 8)), column_sum(buffer(*shape))) == [1, 1]


def test_kernels_that_share_no_memory_stay_apart() -> None:
    assert results_of(column_sum(buffer(64, 8)), column_sum(buffer(64, 8))) == [1, 1]


def test_lanes_of_one_do_not_suit_a_transposed_read() -> None:
    x, y = buffer(16, 16), buffer(16, 16)
    assert results_of(x * y, x * y.permute((1, 0))) == [1, 1]
    made = x.permute((1, 0)).contiguous()
    assert results_of(made, made + y) == [1, 1]
    assert results_of((x + 1).contiguous(), (x.permute((1, 0)) + 1).contiguous()) == [1, 1]


def test_a_sum_may_read_at_some_places_of_another() -> None:
    x, y = buffer(64, 64), buffer(64, 64)
    assert results_of(column_sum(x * y.permute((1, 0))), column_sum(x)) == [2]


def test_other_places_in_the_order_of_the_loops_have_the_same_lanes() -> None:
    gates, before = buffer(16, 64), buffer(16, 16)
    first, second = (gates.shrink(((0, 16), (start, start + 16))) for start in (0, 32))
    cell = (first * before).contiguous()
    assert results_of(cell, cell * second) == [2]


def test_products_keep_their_registers() -> None:
    x, y = buffer(32, 1, 32), buffer(1, 32, 32)
    x, y = (u.expand((32, 32, 32)) for u in (x, y))
    product, other = ((x * v).reduce_axis(Ops.ADD, (2,)) for v in (y, y + 1))
    assert results_of(product, other) == [1, 1]


def test_no_more_buffers_than_the_device_allows() -> None:
    x, y, z = buffer(16), buffer(16), buffer(16)
    assert results_of(x + y, x + z) == [2]
    assert results_of(x + y, x + z, max_buffers=4) == [1, 1]


def test_a_kernel_has_four_results_at_most() -> None:
    x = buffer(16)
    assert results_of(*(x + n for n in range(1, 7))) == [4, 2]


def test_values_in_memory_of_their_own_are_not_computed_long_before() -> None:
    x, y = buffer(16, 4), buffer(16, 4)
    values = [(x + 1).contiguous(), column_sum(y), (x + 2).contiguous()]
    assert [call.root for call in calls_of(*values)] == values


def test_a_maximum_and_what_depends_on_it_are_one_kernel_also_behind_a_gate() -> None:
    x = buffer(8, 60)
    rows = x.reduce_axis(Ops.MAX, (1,)).contiguous()
    shifted = (x - rows.expand((8, 60))).exp()
    assert results_of(rows, shifted.reduce_axis(Ops.ADD, (1,))) == [2]
    # gated: what lies beyond the end of a row is 0, and reads nothing
    whole = x.pad(((0, 0), (0, 4))).reduce_axis(Ops.MAX, (1,)).contiguous()
    gated = (x - whole.expand((8, 60))).exp().pad(((0, 0), (0, 4)))
    (call,) = calls_of(whole, gated.reduce_axis(Ops.ADD, (1,)))
    assert len(call.roots) == 2
    assert not any(u.op is Ops.LOAD and u.src[0].src[0].arg[0] != 1 for u in call.ast.toposort())
