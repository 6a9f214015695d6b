"""Members of `Enum` are told apart, found and pickled as those of `enum.Enum` are."""

import copy
import pickle

import pytest

from plugrad._enum import Enum, auto


class Colour(Enum):
    RED = auto()
    GREEN = auto()

    def darker(self) -> str:
        return f"dark {self.name}"


def test_members_are_numbered_in_order() -> None:
    assert [(colour.name, colour.value) for colour in Colour] == [("RED", 1), ("GREEN", 2)]
    assert len(Colour) == 2


def test_members_are_found_by_name() -> None:
    assert Colour["GREEN"] is Colour.GREEN
    with pytest.raises(KeyError, match="BLUE"):
        Colour["BLUE"]
    assert list(Colour.__members__) == ["RED", "GREEN"]


def test_a_member_has_the_methods_of_its_class() -> None:
    assert isinstance(Colour.RED, Colour)
    assert Colour.RED.darker() == "dark RED"
    assert repr(Colour.RED) == "Colour.RED"


def test_members_are_equal_to_themselves_only() -> None:
    assert len({Colour.RED, Colour.GREEN, Colour.RED}) == 2


def test_copies_and_pickles_are_the_member() -> None:
    assert copy.deepcopy(Colour.RED) is Colour.RED
    assert pickle.loads(pickle.dumps(Colour.RED)) is Colour.RED
