import inspect
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.flags import checks_flags

NO_FLAGS: list[Any] = [
    None,
    "a",
    "",
    2,
    -1,
    1.0,
    [],
    [True],
    (0,),
    {},
    np.array([1, 0]),
    np.array([True]),
    np.array(1),
    np.str_("a"),
    torch.ones(2),
    torch.tensor(True),
    slice(1),
    ...,
    object(),
]


def _flags() -> list[tuple[str, str]]:
    """Return the methods with parameters that are True or False by default, and those."""
    members = {name: inspect.getattr_static(Tensor, name) for name in dir(Tensor) if not name.startswith("_")}
    functions = {name: getattr(member, "__func__", member) for name, member in members.items()}
    return [
        (name, parameter.name)
        for name, function in functions.items()
        if inspect.isfunction(function)
        for parameter in inspect.signature(function).parameters.values()
        if isinstance(parameter.default, bool) and name not in ("train", "no_grad")
    ]


@pytest.mark.parametrize(("method", "flag"), _flags())
def test_what_is_neither_true_nor_false_is_refused_by_all_methods(method: str, flag: str) -> None:
    """Before anything else is looked at: it is one check for all."""
    for value in [*NO_FLAGS, Tensor([True]), Tensor(True)]:
        with pytest.raises(ArgumentError, match=rf"^{method}: {flag}=.* is neither True nor False"):
            getattr(Tensor([1.0, 2.0]), method)(**{flag: value})


def test_flags_are_checked_by_place_as_well() -> None:
    t = Tensor([1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"^sum: keepdim='a' \(str\) is neither True nor False"):
        t.sum(0, "a")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"^sum: keepdim=\[0\]"):
        t.sum(0, keepdims=[0])  # pyright: ignore[reportCallIssue]


def test_truth_values_of_python_and_numpy_are_flags() -> None:
    t = Tensor([1.0, 2.0])
    for value in (True, 1, np.True_, np.array(True)):
        assert t.sum(0, value).shape == (1,)
    for value in (False, 0, np.False_):
        assert t.sum(0, keepdim=value).shape == ()


def test_a_tensor_is_made_with_flags_only() -> None:
    with pytest.raises(ArgumentError, match=r"requires_grad='a' \(str\) is neither True nor False"):
        Tensor([1.0], requires_grad="a")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"copy=None \(NoneType\) is neither True nor False"):
        Tensor([1.0], copy=None)  # pyright: ignore[reportArgumentType]
    for switch in (Tensor.train, Tensor.no_grad):
        with pytest.raises(ArgumentError, match="mode='a'"), switch("a"):  # pyright: ignore[reportArgumentType]
            pass


def test_a_checked_method_is_called_as_before() -> None:
    class Shape:
        @classmethod
        def of(cls, size: int, is_square: bool = False, *, is_flat: bool = True) -> tuple[Any, ...]:
            """Say it."""
            return (cls, size, is_square, is_flat)

        def own(self, first: int, last: bool = True) -> tuple[Any, ...]:
            if first < 0:
                raise ShapeError("negative")
            return (self, first, last)

    checked = checks_flags(Shape)
    assert checked.of(3, True, is_flat=False) == (Shape, 3, True, False)
    assert checked.of.__doc__ == "Say it."
    shape = checked()
    assert shape.own(1) == (shape, 1, True)
    assert shape.own(first=1, last=False) == (shape, 1, False)
    with pytest.raises(ShapeError, match="negative"):
        shape.own(-1)
    with pytest.raises(TypeError, match="missing"):
        shape.own()  # pyright: ignore[reportCallIssue]
