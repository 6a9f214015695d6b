"""Tests of plugrad.tensor.shape.joins: lists of tensors that are joined."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import AxisError, DtypeError, ShapeError

a = np.arange(6, dtype=np.float32).reshape(2, 3)
b = a + 10
JOINS = (
    *("block_diag", "cartesian_prod", "cat", "column_stack", "dstack", "hstack"),
    *("meshgrid", "stack", "vstack"),
)
tensors: Any = Tensor  # the static type takes tensors one by one


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_stacks_take_a_list(name: str) -> None:
    want = getattr(np, name)([a, b])
    np.testing.assert_array_equal(getattr(tensors, name)([Tensor(a), Tensor(b)]).numpy(), want)
    np.testing.assert_array_equal(getattr(tensors, name)((Tensor(a), Tensor(b))).numpy(), want)


@pytest.mark.parametrize("name", ["cat", "concat", "concatenate", "stack"])
@pytest.mark.parametrize("call", [lambda f, x: f(x, 1), lambda f, x: f(x, dim=1)])
def test_an_axis_may_follow_the_list(name: str, call: Callable[..., Any]) -> None:
    want = call(getattr(torch, name), [torch.tensor(a), torch.tensor(b)])
    np.testing.assert_array_equal(call(getattr(tensors, name), [Tensor(a), Tensor(b)]).numpy(), want.numpy())


def test_grids_and_blocks_take_a_list() -> None:
    rows, columns = Tensor([1, 2]), Tensor([3, 4, 5])
    assert [grid.shape for grid in tensors.meshgrid([rows, columns])] == [(2, 3), (2, 3)]
    assert tensors.cartesian_prod([rows, columns]).shape == (6, 2)
    assert tensors.block_diag([rows, columns]).shape == (2, 5)


@pytest.mark.parametrize("name", JOINS)
def test_what_is_no_tensor_is_named(name: str) -> None:
    with pytest.raises(DtypeError, match=rf"^{name} of 3 \(int\)\. Pass tensors"):
        getattr(tensors, name)([Tensor(a), 3])


def test_lists_that_cannot_be_joined_are_refused() -> None:
    x = Tensor(a)
    with pytest.raises(ShapeError, match="cat of an empty list"):
        tensors.cat([])
    with pytest.raises(AxisError, match="cat: axis 2 is out of range"):
        tensors.cat([x, x], 2)
    with pytest.raises(AxisError, match=r"cat: axis=1.5 is no axis"):
        tensors.cat([x, x], 1.5)
    with pytest.raises(TypeError, match=r"cat\(\) got its axis by position and by name"):
        tensors.cat([x, x], 1, dim=1)
    with pytest.raises(DtypeError, match=r"cat of \[1, 2\] \(list\)"):
        tensors.cat([[1, 2], [3]])
    with pytest.raises(DtypeError, match=r"hstack of 1 \(int\)"):
        tensors.hstack([x, x], 1)
