import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError

I = np.array([[7, -7, 3], [100, -100, 5]], np.int32)  # noqa: E741 - integers
J = np.array([[3], [-4]], np.int32)
Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_comparisons_are_those_of_numpy_nan_included(op: Binary) -> None:
    a = np.array([1.0, 2.0, np.nan, np.inf, -0.0], np.float32)
    b = np.array([1.0, 3.0, np.nan, -np.inf, 0.0], np.float32)
    np.testing.assert_array_equal(op(Tensor(a), Tensor(b)).numpy(), op(a, b))
    np.testing.assert_array_equal(op(Tensor(I), Tensor(J)).numpy(), op(I, J))
    np.testing.assert_array_equal(op(Tensor(I), 5).numpy(), op(I, 5))
    np.testing.assert_array_equal(op(2, Tensor(a)).numpy(), op(2, a))
    assert op(Tensor(I), 5).dtype is dtypes.bool


def test_a_tensor_is_a_key_by_identity() -> None:
    a, b = Tensor([1]), Tensor([1])
    assert len({a, b, a}) == 2
    assert not math.isnan(hash(a))


def test_what_is_no_number_is_not_equal_as_a_whole() -> None:
    t = Tensor([1, 2])
    for other in (None, "a", object(), {}):
        assert (t == other) is False
        assert (other == t) is False
        assert (t != other) is True
    assert t in [None, t]
    for ambiguous in ([1, 2], (1, 2)):
        with pytest.raises(DtypeError, match="cannot compute with"):
            _ = t == ambiguous


@pytest.mark.parametrize(
    "op",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.pow,
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
    ],
)
def test_arrays_and_numbers_of_numpy_stand_on_either_side(op: Binary) -> None:
    few = np.abs(I) % 5 + 1
    for left, right, want in (
        (Tensor(I), few, op(I, few)),
        (I, Tensor(few), op(I, few)),
        (Tensor(I), np.int64(2), op(I, 2)),
        (np.int64(2), Tensor(few), op(2, few)),
    ):
        out = op(left, right)
        assert isinstance(out, Tensor)
        assert out.dtype is dtypes.int32
        np.testing.assert_array_equal(out.numpy(), want)


def test_arrays_are_factors_on_either_side() -> None:
    for left, right in ((Tensor(I), I.T), (I, Tensor(I.T))):
        out = left @ right
        assert isinstance(out, Tensor)
        np.testing.assert_array_equal(out.numpy(), I @ I.T)
    np.testing.assert_array_equal(Tensor(I).dot(I.T).numpy(), I @ I.T)
