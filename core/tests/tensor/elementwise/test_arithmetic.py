import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError

A = np.array([[1.5, -2.0, 3.25], [0.5, -0.25, 4.0]], np.float32)
B = np.array([[2.0, 0.5, -1.0]], np.float32)
I = np.array([[7, -7, 3], [100, -100, 5]], np.int32)  # noqa: E741 - integers, beside A and B
J = np.array([[3], [-4]], np.int32)
Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_floats_are_those_of_numpy(op: Binary) -> None:
    a = np.abs(A) if op is operator.pow else A
    np.testing.assert_allclose(op(Tensor(a), Tensor(B)).numpy(), op(a, B), rtol=2e-6)
    np.testing.assert_allclose(op(Tensor(a), 2.5).numpy(), op(a, np.float32(2.5)), rtol=2e-6)
    np.testing.assert_allclose(op(2.5, Tensor(a)).numpy(), op(np.float32(2.5), a), rtol=2e-6)


@pytest.mark.parametrize(
    "op",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.and_,
        operator.or_,
        operator.xor,
    ],
)
def test_integers_are_those_of_numpy(op: Binary) -> None:
    np.testing.assert_array_equal(op(Tensor(I), Tensor(J)).numpy(), op(I, J))
    np.testing.assert_array_equal(op(Tensor(I), 3).numpy(), op(I, 3))
    np.testing.assert_array_equal(op(3, Tensor(I)).numpy(), op(3, I))


def test_arithmetic_of_bools_is_logic() -> None:
    t = Tensor([True, True, False])
    u = Tensor([True, False, False])
    assert (t + u).tolist() == [True, True, False]
    assert (t * u).tolist() == [True, False, False]
    assert (~t).tolist() == [False, False, True]
    assert (t ^ u).tolist() == [False, True, False]
    assert Tensor([3, 0]).logical_not().tolist() == [False, True]
    with pytest.raises(
        DtypeError, match=r"subtraction of bool and bool: it takes numbers \(use \^ for bools\)"
    ):
        _ = t - u
    with pytest.raises(DtypeError, match="% of bool"):
        _ = t % u


def test_alpha_keeps_the_dtype_of_integers() -> None:
    t = Tensor([5, 6]).sub(Tensor([1, 2]), alpha=3)
    assert t.dtype is dtypes.int32
    assert t.tolist() == [2, 0]
