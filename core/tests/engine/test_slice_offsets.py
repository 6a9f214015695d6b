"""Kernels of one slice of memory serve all other slices of its length."""

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable, dtypes, events
from plugrad.engine.slice_offsets import variable_offsets
from plugrad.jit import jit
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def _compiled(run: Callable[[], Any]) -> int:
    names: list[str] = []
    with events.subscribe(events.CompileEvent, lambda event: names.append(event.name)):
        run()
    return len(names)


def _memory(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.int32)


def _sum_of(values: Sequence[UOp]) -> UOp:
    return reduce(operator.add, values)


def test_an_offset_along_the_first_axis_is_a_variable() -> None:
    row = _memory(10, 4).shrink(((3, 4), (1, 3)))
    ((sliced, by_axis),) = variable_offsets(row.toposort()).items()
    assert sliced is row
    ((axis, bound),) = by_axis.items()
    assert axis == 0
    assert (bound.unbind()[0].arg[1:], bound.unbind()[1]) == ((0, 9), 3)


@pytest.mark.parametrize(("begin", "end", "step"), [(32, 64, 16), (36, 64, 4), (33, 64, 1)])
def test_vectors_keep_what_their_offset_is_a_multiple_of(begin: int, end: int, step: int) -> None:
    part = _memory(128).shrink(((begin, end),))
    bound = variable_offsets(part.toposort())[part][0]
    variable, value = bound.unbind()
    assert value * step == begin
    assert variable.arg[2] == (128 - (end - begin)) // step


def test_slices_that_must_be_told_apart_keep_their_offsets() -> None:
    x = _memory(10, 4)
    first, second = x.shrink(((0, 4), (0, 4))), x.shrink(((5, 9), (0, 4)))
    assert not variable_offsets((first + second).toposort())
    assert not variable_offsets(x.assign(x).after(first).toposort())
    assert not variable_offsets(x.shrink(((0, 10), (1, 3))).toposort())
    assert not variable_offsets(_sum_of([x.shrink(((i, i + 1), (0, 4))) for i in range(5)]).toposort())


def test_the_beginning_of_a_row_of_elements_has_no_offset() -> None:
    assert not variable_offsets(_memory(128).shrink(((0, 64),)).toposort())
    assert variable_offsets(_memory(128).shrink(((0, 1),)).toposort())
    assert variable_offsets(_memory(128, 2).shrink(((0, 64), (0, 2))).toposort())


def test_positions_of_inner_axes_are_variables_too() -> None:
    element = _memory(10, 4, 6).shrink(((3, 4), (1, 2), (2, 5)))
    by_axis = variable_offsets(element.toposort())[element]
    assert {axis: bound.unbind()[1] for axis, bound in by_axis.items()} == {0: 3, 1: 1}


def test_few_positions_of_one_memory_are_variables_each() -> None:
    x = _memory(10)
    values = [(x.shrink(((i, i + 1),)) + x.shrink(((j, j + 1),))) for i, j in ((3, 4), (7, 2))]
    for value, places in zip(values, ([3, 4], [7, 2]), strict=True):
        found = [by_axis[0].unbind()[1] for by_axis in variable_offsets(value.toposort()).values()]
        assert found == places


def test_both_seeds_of_a_drawing_keep_their_positions() -> None:
    seeds = _memory(2)
    assert not variable_offsets((seeds.shrink(((0, 1),)) + seeds.shrink(((1, 2),))).toposort())


def test_elements_that_are_compared_share_their_kernel() -> None:
    values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0]
    x = Tensor(values).realize()
    found: list[float] = []
    assert _compiled(lambda: found.extend([max(x).item(), min(x).item()])) <= 1
    assert found == [9.0, 1.0]
    assert _compiled(lambda: found.extend([y.item() for y in sorted(x)])) == 0
    assert found[2:] == sorted(values)


def test_columns_and_elements_share_their_kernels() -> None:
    array = np.arange(60, dtype=np.float32).reshape(12, 5)
    x = Tensor(array).realize()
    columns: list[float] = []
    assert _compiled(lambda: columns.extend([x[:, j].sum().item() for j in range(5)])) <= 1
    assert columns == array.sum(0).tolist()
    places = [(i, j) for i in range(3) for j in range(5)]
    elements: list[float] = []
    assert _compiled(lambda: elements.extend([(x[i, j] * 2).item() for i, j in places])) <= 1
    assert elements == [2 * array[i, j] for i, j in places]
    distances: list[float] = []
    assert _compiled(lambda: distances.extend([(x[i] - x[j]).square().sum().item() for i, j in places])) <= 2
    assert distances == [((array[i] - array[j]) ** 2).sum() for i, j in places]


def test_rows_and_batches_share_their_kernels() -> None:
    array = np.arange(60, dtype=np.float32).reshape(12, 5)
    x = Tensor(array).realize()
    sums: list[float] = []
    assert _compiled(lambda: sums.extend([x[i].sum().item() for i in range(12)])) <= 1
    assert sums == array.sum(1).tolist()
    batches: list[Any] = []
    assert _compiled(lambda: batches.extend([(x[i : i + 4] * 2).tolist() for i in range(9)])) <= 1
    assert batches == [(array[i : i + 4] * 2).tolist() for i in range(9)]


def test_slices_of_several_tensors_in_one_graph() -> None:
    a, b = np.arange(20).reshape(5, 4), np.arange(30).reshape(6, 5)
    x, y = Tensor(a).realize(), Tensor(b).realize()
    for i in range(5):
        assert (x[i, :, None] * y[5 - i]).tolist() == (a[i, :, None] * b[5 - i]).tolist()


def test_slices_that_end_at_a_variable_along_another_axis() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = Tensor(array).realize()

    def sums() -> list[float]:
        sizes = [(i, size) for i in range(3) for size in (2, 5)]
        return [x[i : i + 2, : Variable("n", 1, 6).bind(size)].sum().item() for i, size in sizes]

    found: list[float] = []
    assert _compiled(lambda: found.extend(sums())) <= 1
    assert found == [array[i : i + 2, :size].sum() for i in range(3) for size in (2, 5)]


def test_views_of_results_are_remembered() -> None:
    x = Tensor(list(range(12))).reshape(4, 3).realize()
    for i in range(4):
        row = (x[i] + 1).contiguous()
        total = row.sum()
        total.realize(row)
        assert (row.tolist(), total.item()) == ([3 * i + 1, 3 * i + 2, 3 * i + 3], 9 * i + 6)
        assert row.uop.op is Ops.BUFFER


def test_jitted_functions_keep_the_slices_they_were_traced_with() -> None:
    x = Tensor(list(range(12))).reshape(4, 3).realize()
    place = [1]
    doubled = jit(lambda y: (x[place[0]] * y).realize())
    for value in (1, 2, 3):
        assert doubled(Tensor([value] * 3).realize()).tolist() == [3 * value, 4 * value, 5 * value]
    place[0] = 2
    assert doubled(Tensor([1, 1, 1]).realize()).tolist() == [6, 7, 8]


def test_gradients_of_slices() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True).realize()
    for i in range(3):
        (gradient,) = (x[i] * x[i]).sum().gradient(x)
        assert gradient.tolist() == [
            [2 * v if row == i else 0.0 for v in x[row].tolist()] for row in range(3)
        ]
