"""Tests of plugrad.tensor.reduce.value_index: elements and their positions by name."""

from collections.abc import Callable
from typing import Any

import pytest

from plugrad import Tensor
from plugrad.jit import jit
from plugrad.transforms import vmap

WAYS: dict[str, Callable[[Tensor], Any]] = {
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(1),
    "kthvalue": lambda x: x.kthvalue(1),
    "mode": lambda x: x.mode(),
    "median": lambda x: x.median(-1),
    "nanmedian": lambda x: x.nanmedian(-1, keepdim=True),
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("data", [[3.0, 1.0, 2.0], 4.0])
def test_values_and_indices_are_the_two_of_a_tuple(name: str, data: Any) -> None:
    found = WAYS[name](Tensor(data))
    values, indices = found
    assert found.values is values
    assert found.indices is indices


def test_the_names_are_there_in_functions_made_of_others() -> None:
    x = Tensor([[3.0, 1.0, 2.0], [1.0, 5.0, 4.0]])
    greatest = vmap(lambda row: row.topk(1))(x)
    assert greatest.values.tolist() == [[3.0], [5.0]]
    sort = jit(lambda x: x.sort())
    for _ in range(3):
        assert sort(x).indices.tolist() == [[1, 2, 0], [0, 2, 1]]
