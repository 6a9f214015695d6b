"""Tests of plugrad.nn.tree: any objects are a model."""

import doctest
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any

import pytest

from plugrad.errors import StateError
from plugrad.nn import Linear, tree
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict
from plugrad.nn.tree import named_tensors
from plugrad.tensor import Tensor


def kind(value: object) -> str:
    """Return an id that is the same in every process."""
    return type(value).__name__


def weight() -> Tensor:
    return Tensor([1.0], requires_grad=True)


def names(model: object) -> list[str]:
    return [name for name, _ in named_tensors(model)]


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


def test_shared_tensors_are_trained_once_and_named_twice() -> None:
    tied = weight()
    model = {"a": tied, "b": [tied], "c": weight()}
    assert names(model) == ["a", "b.0", "c"]
    assert get_parameters(model) == [tied, model["c"]]


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


def test_two_tensors_of_one_name_are_an_error() -> None:
    model = {"a.b": weight(), "a": {"b": weight()}}
    with pytest.raises(StateError, match=r"two tensors of the model are named 'a\.b'"):
        get_state_dict(model)
    assert len(get_parameters(model)) == 2


@pytest.mark.parametrize("junk", [None, 3, "a", [1], {"weight": 3}, {3: Tensor(1)}], ids=str)
def test_junk_is_no_state(junk: Any) -> None:
    with pytest.raises(StateError, match=r"^load_state_dict: "):
        load_state_dict({"weight": weight()}, junk, strict=False)


def test_examples_show_what_happens() -> None:
    assert doctest.testmod(tree, extraglobs={"Tensor": Tensor}).failed == 0
