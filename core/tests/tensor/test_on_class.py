"""Tests of plugrad.tensor.on_class: methods called on the class refuse what is no tensor."""

import abc
import copy
import inspect
import pickle
from typing import Any, Protocol, runtime_checkable

import pytest

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.listed import JOINS

NAMES = [name for name in dir(Tensor) if inspect.isfunction(getattr(Tensor, name)) and name[0] != "_"]


@pytest.mark.parametrize("given", [5, [1, 2], "text", None], ids=repr)
def test_what_is_no_tensor_is_refused_by_every_method(given: Any) -> None:
    assert len(NAMES) > 400
    for name in NAMES:
        said = rf"^{name}: .* is no tensor\. Write Tensor\(data\)\.{name}\("
        if isinstance(given, list) and name in JOINS:
            said = rf"^{name}: element 0 of the list, 1 \(int\), is no tensor\. Write Tensor\(1\)\."
        with pytest.raises(DtypeError, match=said):
            getattr(Tensor, name)(given)


def test_methods_of_the_class_do_what_those_of_a_tensor_do() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert Tensor.sum(x, 0).tolist() == x.sum(0).tolist()
    assert Tensor.cat([x, x]).shape == Tensor.cat(x, x).shape == (4, 2)  # pyright: ignore[reportArgumentType]
    assert Tensor.sum(x, dim=1, keepdims=True).shape == (2, 1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Tensor.relu()  # pyright: ignore[reportCallIssue]
    with pytest.raises(ShapeError, match=r"^matmul"):
        Tensor.matmul(x, Tensor.ones(3))


def test_methods_are_one_object_each_with_their_own_signature() -> None:
    assert Tensor.relu is Tensor.relu
    assert list(inspect.signature(Tensor.sum).parameters)[:2] == ["self", "axis"]
    assert Tensor.relu.__doc__ == Tensor([1.0]).relu.__doc__
    assert pickle.loads(pickle.dumps(Tensor.relu)) is copy.deepcopy(Tensor.relu) is Tensor.relu


def test_a_class_of_ones_own_has_its_methods() -> None:
    class Own(Tensor):
        __slots__ = ()

        def relu(self) -> Any:
            return "own"

        def expand_dims(self) -> Any:
            return "new"

    assert Own.relu(Tensor([1.0])) == "own"  # pyright: ignore[reportArgumentType]
    assert Own.expand_dims(Own([1.0])) == Own([1.0]).expand_dims() == "new"
    assert Own.sum is Tensor.sum


def test_a_class_of_ones_own_may_be_abstract_with_a_metaclass_made_of_both() -> None:
    class AbstractTensorType(type(Tensor), abc.ABCMeta):
        pass

    class Image(Tensor, abc.ABC, metaclass=AbstractTensorType):
        __slots__ = ()

        @abc.abstractmethod
        def invert(self) -> Any: ...

    class Photo(Image):
        __slots__ = ()

        def invert(self) -> Any:
            return 1.0 - self

    with pytest.raises(TypeError, match="abstract"):
        Image([1.0])  # pyright: ignore[reportAbstractUsage]
    photo = Photo([0.25, 1.0])
    assert photo.invert().tolist() == [0.75, 0.0]
    assert isinstance(photo, Image)
    assert not isinstance(Tensor([1.0]), Image)
    assert Photo.sum is Tensor.sum


def test_a_class_of_ones_own_may_follow_a_protocol_with_a_metaclass_made_of_both() -> None:
    @runtime_checkable
    class Inverts(Protocol):
        def invert(self) -> Any: ...

    class InvertingType(type(Tensor), type(Inverts)):
        pass

    class Photo(Tensor, Inverts, metaclass=InvertingType):
        __slots__ = ()

        def invert(self) -> Any:
            return 1.0 - self

    assert isinstance(Photo([1.0]), Inverts)
    assert Photo.sum(Photo([0.25, 0.5]).invert()).item() == 1.25


def test_a_method_that_is_replaced_is_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Tensor.relu6
    with monkeypatch.context() as patch:
        patch.setattr(Tensor, "relu6", lambda x: "replaced")  # pyright: ignore[reportUnknownLambdaType]
        assert Tensor.relu6(Tensor([1.0])) == Tensor([1.0]).relu6() == "replaced"
    assert Tensor.relu6 is before
    assert Tensor([9.0]).relu6().tolist() == [6.0]


def test_names_that_are_not_there_say_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'expand_dims'\. Instead: write x\.unsqueeze"):
        Tensor.expand_dims(5)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        Tensor.colour(5)  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(Tensor, "expand_dims")
