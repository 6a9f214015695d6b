"""Values of symbolic size, and numbers that a kernel is given."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine.realize import realize
from plugrad.errors import ScheduleError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put

Launches = Callable[..., list[str]]


def test_one_schedule_and_one_kernel_serve_all_values_of_a_variable(device: str, launches: Launches) -> None:
    x = put(np.arange(10.0), device)
    n = UOp.variable("n", 1, 10)
    kernels = set[str]()
    for value in (3, 7, 10):
        part = x.shrink(((0, n.bind(value)),)) * 2
        total = part.reduce_axis(Ops.ADD, (0,))
        kernels.update(launches(total))
        assert get(total) == 2 * sum(range(value))
    assert len(kernels) == 1


def test_a_value_of_symbolic_shape_shows_as_much_as_is_bound(device: str) -> None:
    x = put(np.arange(10.0), device)
    n = UOp.variable("n", 1, 10)
    part = x.shrink(((0, n.bind(4)),)) + 1
    realize([part])
    np.testing.assert_array_equal(get(part), [1, 2, 3, 4])
    more = part * 2
    realize([more])
    np.testing.assert_array_equal(get(more), [2, 4, 6, 8])


def test_a_bound_variable_is_a_number_in_a_kernel(device: str) -> None:
    n = UOp.variable("n", 0, 100)
    y = put([1, 2], device) * n.bind(7).cast(dtypes.int32)
    realize([y])
    np.testing.assert_array_equal(get(y), [7, 14])


def test_a_variable_without_a_value_is_refused_by_name() -> None:
    n = UOp.variable("n", 1, 10)
    with pytest.raises(ScheduleError, match=r"variable n \(1..10\) has no value.*bind"):
        realize([put(np.arange(10.0)).shrink(((0, n),)) + 1])


def test_a_variable_with_two_values_has_in_each_kernel_that_of_its_nodes(device: str) -> None:
    n, other = UOp.variable("n", 1, 10), UOp.variable("n_2", 1, 10)
    x = put(np.arange(10.0), device)
    parts = [x.shrink(((0, size),)) + 1 for size in (n.bind(2), n.bind(3), other.bind(4), n.bind(5))]
    totals = [part.reduce_axis(Ops.ADD, (0,)) for part in parts]
    both = totals[0] * 100 + totals[1]
    realize([*parts, both], device)
    for part, size in zip(parts, (2, 3, 4, 5), strict=True):
        np.testing.assert_array_equal(get(part), np.arange(1.0, size + 1))
    assert get(both) == 306
    # bound the other way around, the same kernels serve
    again = [x.shrink(((0, size),)) * 2 for size in (n.bind(7), n.bind(6))]
    realize(again, device)
    assert [get(part).size for part in again] == [7, 6]
