"""What `@frozen` makes is what `@dataclass(frozen=True, slots=True)` makes."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, Generic, TypeVar

import pytest

from plugrad._frozen import field, frozen

T = TypeVar("T")


@frozen
class Base:
    """A class that others derive from."""


@frozen
class Point(Base):
    x: int
    y: float = 0.5
    tags: list[str] = field(default_factory=list[str])
    secret: str = field(default="s", repr=False, compare=False)

    def norm(self) -> float:
        return self.x + self.y

    @property
    def double(self) -> int:
        return 2 * self.x


@frozen
class Point3(Point):
    z: int = 7


@frozen(eq=False)
class Thing:
    name: str


@frozen
class Box(Generic[T]):
    content: T


@frozen
class Odd:
    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and self.value % 2 == other.value % 2

    def __hash__(self) -> int:
        return self.value % 2

    def __repr__(self) -> str:
        return "odd"


def reference(cls: Any) -> Any:
    """Return the class of the standard library with the same fields."""
    made = [(f.name, f.type, again(f)) for f in dataclasses.fields(cls)]
    return dataclasses.make_dataclass(cls.__name__, made, frozen=True, slots=True)


def again(f: "dataclasses.Field[Any]") -> Any:
    return dataclasses.field(
        default=f.default, default_factory=f.default_factory, repr=f.repr, compare=f.compare
    )  # type: ignore[call-overload]


@pytest.mark.parametrize("cls", [Point, Point3, Base])
def test_arguments_texts_and_comparisons_are_those_of_dataclasses(cls: Any) -> None:
    other = reference(cls)
    calls: list[Callable[[Any], Any]] = [
        lambda c: c(),
        lambda c: c(1),
        lambda c: c(1, 2.0, ["a"], "t"),
        lambda c: c(1, tags=["a"]),
        lambda c: c(y=3.0, x=2),
        lambda c: c(1, nothing=2),
        lambda c: c(1, x=2),
    ]
    for call in calls:
        assert outcome(call, cls) == outcome(call, other)
    assert cls.__match_args__ == other.__match_args__
    assert [f.name for f in dataclasses.fields(cls)] == [f.name for f in dataclasses.fields(other)]


def outcome(call: Callable[[Any], Any], cls: Any) -> Any:
    try:
        made = call(cls)
    except TypeError as error:
        return str(error).partition(")")[2]
    return repr(made), made == call(cls), made != cls.__new__, dataclasses.asdict(made)


def test_values_are_compared_and_hashed() -> None:
    assert Point(1, tags=["a"]) == Point(1, 0.5, ["a"], "other")
    assert Point(1) != Point(2)
    assert Point(1) != Point3(1)
    assert Point(1) != 1
    assert hash(Box(1)) == hash(Box(1)) == hash(reference(Box)(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))
    assert {Box(1): "a"}[Box(1)] == "a"
    assert (Odd(1), hash(Odd(3)), repr(Odd(1))) == (Odd(5), 1, "odd")
    thing = Thing("a")
    assert thing == thing
    assert thing != Thing("a")
    assert len({thing, Thing("a")}) == 2


def test_instances_cannot_be_changed_and_have_slots() -> None:
    point = Point3(1)
    for name in ("x", "z", "new"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(point, name, 3)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert not hasattr(point, "__dict__")
    assert (point.norm(), point.double) == (1.5, 2)
    assert Point.__qualname__ == "Point"
    assert Point.__module__ == __name__


def test_defaults_are_made_anew() -> None:
    assert Point(1).tags is not Point(1).tags


def test_instances_are_copied_and_pickled() -> None:
    point = Point3(1, tags=["a"], z=9)
    assert pickle.loads(pickle.dumps(point)) == copy.copy(point) == copy.deepcopy(point) == point
    assert copy.deepcopy(point).tags is not point.tags


def test_the_functions_of_dataclasses_take_them() -> None:
    point = Point3(1)
    assert dataclasses.is_dataclass(point)
    assert dataclasses.replace(point, x=2, z=3) == Point3(2, z=3)
    assert dataclasses.asdict(point) == {"x": 1, "y": 0.5, "tags": [], "secret": "s", "z": 7}
    assert dataclasses.astuple(point) == (1, 0.5, [], "s", 7)


def test_patterns_match_by_position() -> None:
    match Point(1, 2.0):
        case Point(x, y):
            assert (x, y) == (1, 2.0)


def test_a_plain_subclass_compares_as_its_base() -> None:
    @frozen
    class Value:
        x: int

    class Named(Value):
        pass

    assert Named(1) == Named(1)
    assert Named(1) != Value(1)
    assert Value(1) == Value(1)
    assert hash(Named(1)) == hash(Value(1))


def test_it_is_what_a_dataclass_derives_from() -> None:
    @dataclass(frozen=True)
    class Labelled(Point):
        label: str = "l"

    assert Labelled(1).label == "l"
    assert Labelled(1) == Labelled(1)


def test_fields_with_descriptions_are_those_of_dataclasses() -> None:
    ours, theirs = dataclasses.fields(Point), dataclasses.fields(reference(Point))
    parts = ("name", "default", "default_factory", "repr", "compare", "init", "hash", "kw_only")
    assert [[getattr(f, part) for part in parts] for f in ours] == [
        [getattr(f, part) for part in parts] for f in theirs
    ]
    assert getattr(Point, "__dataclass_params__").frozen  # noqa: B009 - dataclasses made by others ask it
