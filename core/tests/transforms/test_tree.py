from typing import NamedTuple

import pytest

from plugrad import Tensor
from plugrad.errors import TransformError
from plugrad.transforms.tree import map_tensors, only_tensors, spread, tensors_in


class Pair(NamedTuple):
    a: Tensor
    b: object


def test_tensors_of_a_tree_are_found_and_mapped() -> None:
    x, y = Tensor([1]), Tensor([2])
    tree = {"p": Pair(x, [y, 3]), "q": None}
    assert [*map(id, tensors_in(tree))] == [id(x), id(y)]
    assert map_tensors(lambda t: t.shape, tree) == {"p": ((1,), [(1,), 3]), "q": None}


def test_axes_spread_over_the_tensors_below() -> None:
    x = Tensor([1])
    assert spread(0, (x, [x]), "vmap") == [0, 0]
    assert spread((0, {"a": 1, "b": None}), (x, {"b": x, "a": [x, x]}), "vmap") == [0, None, 1, 1]
    with pytest.raises(TransformError, match="for a tree of another form, tuple"):
        spread((0, 1), (x,), "vmap")
    with pytest.raises(TransformError, match="for a tree of another form, Tensor"):
        spread([0], x, "vmap")


def test_results_are_tensors() -> None:
    x = Tensor([1])
    assert len(only_tensors({"a": (x, x)}, "f")) == 2
    with pytest.raises(TransformError, match=r"f: the function returned 3 \(int\)"):
        only_tensors([x, 3], "f")
    with pytest.raises(TransformError, match="no tensor"):
        only_tensors([], "f")
