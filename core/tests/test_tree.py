"""Tests of plugrad.tree: trees of leaves, and any objects as a tree."""

import doctest
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from plugrad import Tensor, tree
from plugrad.nn import Linear
from plugrad.tree import HOLE, freeze, map_leaves, named_leaves, refill

Pair = namedtuple("Pair", ["first", "second"])


def kind(value: object) -> str:
    """Return an id that is the same in every process."""
    return type(value).__name__


def weight() -> Tensor:
    return Tensor([1.0], requires_grad=True)


def names(model: object) -> list[str]:
    return [name for name, _ in named_leaves(model, Tensor)]


class Slotted:
    __slots__ = ("__own", "later", "unset", "weight")

    def __init__(self) -> None:
        self.weight = weight()
        self.later = [weight()]
        self.__own = weight()


class More(Slotted):
    def __init__(self) -> None:
        super().__init__()
        self.bias = weight()


@dataclass(frozen=True, slots=True)
class Frozen:
    inner: Any
    bias: Any = None


def test_slots_are_looked_into_in_their_order() -> None:
    assert names(Slotted()) == ["_Slotted__own", "later.0", "weight"]
    assert names(More()) == ["_Slotted__own", "later.0", "weight", "bias"]
    assert names(Frozen(Frozen([weight()]), weight())) == ["inner.inner.0", "bias"]


def test_lists_have_items_and_attributes() -> None:
    class Layers(list[Any]):
        pass

    layers = Layers([weight(), Linear(2, 1)])
    layers.scale = weight()  # pyright: ignore[reportAttributeAccessIssue]
    assert names(layers) == ["0", "1.weight", "1.bias", "scale"]
    assert names((deque([weight()]), OrderedDict(b=weight(), a=weight()))) == ["0.0", "1.b", "1.a"]


def test_properties_and_missing_attributes_are_not_read() -> None:
    class Loud:
        def __init__(self) -> None:
            self.weight = weight()

        @property
        def other(self) -> Tensor:
            raise RuntimeError("read")

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert names(Loud()) == ["weight"]


def test_what_contains_itself_is_looked_into_once() -> None:
    class Node:
        def __init__(self) -> None:
            self.weight, self.me = weight(), self
            self.children = [{"parent": self, "weight": weight()}]

    assert names(Node()) == ["weight", "children.0.weight"]


def test_very_deep_trees_have_names() -> None:
    deep: Any = weight()
    for _ in range(5000):
        deep = [deep]
    assert names(deep) == [".".join("0" * 5000)]


@pytest.mark.parametrize("item", [None, 3, "text", {1, 2}, Linear, tree, len, object()], ids=kind)
def test_other_things_have_no_tensors(item: object) -> None:
    assert names(item) == []


def test_graphs_are_no_models() -> None:
    x = Tensor([1.0])
    for _ in range(60):
        x = x + x
    assert names({"graph": x.uop, "weight": weight()}) == ["weight"]


def test_a_mapped_tree_keeps_its_form() -> None:
    given = {"p": Pair(1, [2, "text"]), "q": None}
    assert map_leaves(str, given) == {"p": Pair("1", ["2", "text"]), "q": "None"}


def test_refill_puts_values_in_the_places_of_a_class_and_of_holes() -> None:
    given = {"x": [1, "text"], "y": Pair(HOLE, 2)}
    assert refill(given, int, "abc") == {"x": ["a", "text"], "y": Pair("b", "c")}
    kept = refill(given, int, [HOLE] * 3)
    assert refill(kept, float, "abc") == {"x": ["a", "text"], "y": Pair("b", "c")}


def test_keys_of_trees_tell_their_forms_apart() -> None:
    keys = [freeze(repr, each) for each in ([1, 2], (1, 2), Pair(1, 2), [1, [2]], {1: 2}, 1)]
    assert len(set(keys)) == len(keys)
    assert freeze(type, [1, {"a": 2}]) == freeze(type, [3, {"b": 4}])


def test_examples_show_what_happens() -> None:
    assert doctest.testmod(tree).failed == 0
