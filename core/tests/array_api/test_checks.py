import inspect
import re
from collections.abc import Sequence
from typing import Any, get_origin

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad import Tensor, dtypes
from plugrad.array_api.checks import checked
from plugrad.errors import ArgumentError, DtypeError

NO_ARRAYS: list[Any] = [
    None,
    "a",
    b"x",
    object(),
    [1, 2],
    {},
    np.ones(2),
    np.datetime64("2020-01-01"),
    1j,
    int,
]

# functions of two operands, one of which may be a complex number of Python
BESIDE_COMPLEX_NUMBERS = {"add", "subtract", "multiply", "divide", "pow", "equal", "not_equal", "where"}

FUNCTIONS = {name: f for name in xp.__all__ if inspect.isfunction(f := getattr(xp, name))}


def _of_arrays(*, several: bool) -> list[str]:
    """Return the functions whose first argument is an array, or a list of arrays."""
    firsts = {
        name: next(iter(inspect.signature(f).parameters.values()), None) for name, f in FUNCTIONS.items()
    }
    return [
        name
        for name, first in firsts.items()
        if first is not None
        and (get_origin(first.annotation) is Sequence if several else "Tensor" in str(first.annotation))
        and "DType" not in str(first.annotation)
        and (
            several
            or (first.kind is not first.VAR_POSITIONAL and get_origin(first.annotation) is not Sequence)
        )
    ]


@pytest.mark.parametrize("name", _of_arrays(several=False))
def test_what_is_no_array_is_refused_by_all_functions(name: str) -> None:
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())
    others = [Tensor([1, 2]) for p in parameters[1:] if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    for junk in NO_ARRAYS:
        if isinstance(junk, complex) and name in BESIDE_COMPLEX_NUMBERS:
            continue
        with pytest.raises(DtypeError, match=rf"^{name}: {parameters[0].name}=.* is no array"):
            FUNCTIONS[name](junk, *others)
    if others and "Tensor" in str(parameters[1].annotation):
        with pytest.raises(DtypeError, match=rf"^{name}: {parameters[1].name}=.* is no (number nor )?array"):
            FUNCTIONS[name](Tensor([True]), object(), *others[1:])


@pytest.mark.parametrize("name", _of_arrays(several=True))
def test_what_is_no_list_of_arrays_is_refused(name: str) -> None:
    for junk in [None, "a", 3, Tensor([1]), np.ones(2)]:
        with pytest.raises(DtypeError, match=f"^{name}: arrays=.* is no list of arrays"):
            FUNCTIONS[name](junk)
    with pytest.raises(DtypeError, match=f"^{name}: arrays=None .* is no array"):
        FUNCTIONS[name]([None])


def test_flags_are_checked() -> None:
    with pytest.raises(ArgumentError, match=r"sum: keepdims=\[0\] \(list\) is neither True nor False"):
        xp.sum(Tensor([1.0]), keepdims=[0])  # pyright: ignore[reportArgumentType]


def test_rest_arguments_and_dtypes_are_checked() -> None:
    for call in (
        lambda: xp.broadcast_arrays(None),  # pyright: ignore[reportArgumentType]
        lambda: xp.meshgrid(Tensor([1]), 3),  # pyright: ignore[reportArgumentType]
        lambda: xp.result_type(None),  # pyright: ignore[reportArgumentType]
        lambda: xp.can_cast(None, dtypes.int8),  # pyright: ignore[reportArgumentType]
        lambda: xp.can_cast(dtypes.int8, object()),  # pyright: ignore[reportArgumentType]
        lambda: xp.finfo(object()),  # pyright: ignore[reportArgumentType]
        lambda: xp.iinfo(None),  # pyright: ignore[reportArgumentType]
        lambda: xp.zeros_like(Tensor([1]), dtype=""),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(DtypeError):
            call()
    with pytest.raises(ArgumentError, match=r"isdtype of kind \[\]"):
        xp.isdtype(dtypes.int8, [])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="result_type of nothing"):
        xp.result_type()


def test_a_function_that_says_nothing_of_arrays_stays_what_it_is() -> None:
    def plain(x: int) -> int:
        return x

    assert checked(plain) is plain


def test_functions_keep_their_names_and_documentation() -> None:
    for name, f in FUNCTIONS.items():
        assert re.search(rf"\b{name}\b", f.__name__)
        assert f.__doc__
