import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import promoted

Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize(
    ("tensor", "number", "expected"),
    [
        ("float16", 1, "float16"),
        ("float16", 1.5, "float16"),
        ("bfloat16", 2.5, "bfloat16"),
        ("float64", 1.5, "float64"),
        ("int8", 1, "int8"),
        ("int8", 1.5, "float32"),
        ("int64", 1.5, "float32"),
        ("bool", True, "bool"),
        ("bool", 1, "int32"),
        ("bool", 1.5, "float32"),
        ("uint8", True, "uint8"),
    ],
)
def test_python_numbers_are_weak(tensor: str, number: Any, expected: str) -> None:
    out = Tensor([1], dtype=tensor) + number
    assert out.dtype.name == expected
    assert (number + Tensor([1], dtype=tensor)).dtype is out.dtype


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("int8", "uint8", "int16"),
        ("int32", "int64", "int64"),
        ("float16", "bfloat16", "float32"),
        ("float16", "int64", "float16"),
        ("bool", "uint8", "uint8"),
        ("float32", "float64", "float64"),
    ],
)
def test_tensors_meet_in_the_narrowest_dtype_above_both(left: str, right: str, expected: str) -> None:
    a, b = Tensor([1], dtype=left), Tensor([1], dtype=right)
    assert (a + b).dtype.name == (b * a).dtype.name == expected
    assert promoted([a, b]).name == expected


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(
        DtypeError, match=r"300 does not fit uint8, which holds 0\.\.255\. Cast to a wider dtype"
    ):
        Tensor([1], dtype="uint8") + 300


def test_equal_expressions_are_one_node() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 4, t * 4
    assert a is not b
    assert a.uop is b.uop


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"shapes \(2,\) and \(3,\) do not broadcast: axis -1 has sizes 2 and 3"
    ):
        Tensor([1, 2]) + Tensor([1, 2, 3])


@pytest.mark.parametrize(
    "op", [operator.add, operator.truediv, operator.lt, operator.mod, operator.and_, operator.pow]
)
def test_an_operand_that_is_no_number_is_refused(op: Binary) -> None:
    with pytest.raises(DtypeError, match=r"cannot compute with 'a' \(str\) and a tensor"):
        op(Tensor([1]), "a")


def test_constants_fold_into_one_kernel_constant() -> None:
    items = ((Tensor([1.0, 2.0]).realize() + 3) + 4).schedule()
    constants = {
        u.arg
        for item in items
        for u in item.ast.toposort()
        if u.op.name == "CONST" and u.dtype.kind == "float"
    }
    assert constants == {7.0} or constants == {3.0, 4.0}, "folded by the kernel's own passes at the latest"


def test_arrays_and_numbers_of_numpy_are_operands_on_either_side() -> None:
    t = Tensor([1, 2])
    array = np.array([10, 20], np.int32)
    for out in (t + array, array + t, t.maximum(array) + 0 * array + t):
        assert isinstance(out, Tensor)
    assert (array - t).tolist() == [9, 18]
    assert (t < array).tolist() == [True, True]
    # NumPy's numbers are weak, like Python's
    assert (t * np.int64(3)).dtype is dtypes.int32
    assert (np.float64(0.5) * Tensor([1.0])).dtype is dtypes.float32
    assert Tensor([True]).where(array, 0).tolist() == [10, 20]
