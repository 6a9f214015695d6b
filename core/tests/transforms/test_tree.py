from typing import NamedTuple

import pytest

from plugrad import Tensor
from plugrad.errors import TransformError
from plugrad.transforms.tree import leaves_of, mapped, only_tensors, rebuilt, spread


class Pair(NamedTuple):
    a: Tensor
    b: object


def test_a_tree_keeps_its_form() -> None:
    x, y = Tensor([1]), Tensor([2])
    tree = {"p": Pair(x, [y, 3]), "q": None}
    assert leaves_of(tree) == [x, y] or [*map(id, leaves_of(tree))] == [id(x), id(y)]
    back = rebuilt(tree, iter("xy"))
    assert back == {"p": Pair("x", ["y", 3]), "q": None}  # pyright: ignore[reportArgumentType]
    assert mapped(lambda t: t.shape, (x,)) == ((1,),)


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
