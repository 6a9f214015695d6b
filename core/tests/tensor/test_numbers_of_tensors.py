"""Tensors of no axes and bound variables where numbers are taken."""

import math
import operator
from typing import Any

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad import Tensor, Variable, dtypes
from plugrad.errors import DtypeError, ScheduleError


def test_a_list_may_hold_tensors_of_no_axes() -> None:
    t = Tensor([3.0, 4.0])
    assert Tensor([t[0], t[1] * 2]).tolist() == [3.0, 8.0]
    assert Tensor([t[0], 1, 2.5]).tolist() == [3.0, 1.0, 2.5]
    assert Tensor([[t[0]], [t.sum()]], dtype="int32").tolist() == [[3], [7]]
    with pytest.raises(DtypeError, match=r"join tensors with Tensor\.stack"):
        Tensor([t, t])


def test_a_bound_variable_is_a_number() -> None:
    v: Any = Variable("v", 1, 9).bind(4)
    t = Tensor([1.0, 2.0])
    assert Tensor(v).item() == 4
    assert ((t * v).tolist(), (t - v).tolist(), (Tensor([3, 8]) // v).tolist()) == ([4, 8], [-3, -2], [0, 2])
    assert (t.half() * v).dtype is dtypes.float16
    assert (t * (v * 2 + 1)).tolist() == [9.0, 18.0]


@pytest.mark.parametrize("number", [3, 7])
@pytest.mark.wide_on_cpu
def test_a_bound_variable_may_stand_on_either_side_of_an_operator(number: int) -> None:
    v: Any = Variable("v", 1, 9).bind(3)
    size = v if number == 3 else v * 2 + 1
    floats, integers = Tensor([1.0, 3.0, 7.0, math.nan]), Tensor([1, 3, 7])
    names = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"]
    for name in (*names, "and_", "or_", "xor", "lshift", "rshift"):
        apply = getattr(operator, name)
        for t in (floats, integers) if name in names else (integers,):
            np.testing.assert_array_equal(apply(size, t).numpy(), apply(number, t).numpy(), name)
            np.testing.assert_array_equal(apply(t, size).numpy(), apply(t, number).numpy(), name)


def test_a_variable_without_a_value_asks_to_be_bound() -> None:
    n: Any = Variable("n", 1, 8)
    for result in (n * Tensor([1.0]), Tensor([1.0]) - n, n < Tensor([1.0]), Tensor(n)):
        with pytest.raises(ScheduleError, match=r"n \(1\.\.8\) has no value.*Build with n\.bind\(value\)"):
            result.tolist()


def test_arrays_do_not_take_a_variable_for_an_element() -> None:
    v: Any = Variable("v", 1, 9).bind(3)
    for combine in (lambda: v * np.arange(3), lambda: np.arange(3) * v):
        with pytest.raises(TypeError):
            combine()


def test_realizing_nothing_does_nothing() -> None:
    nothing: list[Tensor] = []
    Tensor.realize(*nothing)


def test_random_integers_take_limits_and_a_shape_as_in_torch() -> None:
    assert Tensor.randint(5, 6, (2, 3)).tolist() == [[5] * 3] * 2
    assert Tensor.randint(1, (4,)).tolist() == [0] * 4
    assert Tensor.randint(3, low=5, high=6).tolist() == [5, 5, 5]


def test_a_diagonal_may_lie_far_beyond_the_corners() -> None:
    for k in (2**31, -(2**40), 3, -3, 2):
        assert xp.eye(3, k=k).tolist() == np.eye(3, k=max(min(k, 3), -3)).tolist()


def test_no_elements_need_no_copy() -> None:
    assert Tensor.from_dlpack(np.zeros((0, 3), np.float32), copy=False).shape == (0, 3)
