"""Tests of plugrad.tensor.linalg.matrix_results: what functions of matrices give, by name."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import plugrad.array_api as xp
from plugrad import Tensor
from plugrad.jit import jit
from plugrad.transforms import checkpoint, jvp, linearize, vjp, vmap

WAYS: dict[str, Callable[[Any], Any]] = {
    "eigh": lambda x: x.eigh(),
    "lstsq": lambda x: x.lstsq(x),
    "qr": lambda x: x.qr(),
    "slogdet": lambda x: x.slogdet(),
    "svd": lambda x: x.svd(),
}
FIELDS = {
    "eigh": ("eigenvalues", "eigenvectors"),
    "lstsq": ("solution", "residuals", "rank", "singular_values"),
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "svd": ("U", "S", "Vh"),
}
OF_THE_STANDARD = ("eigh", "qr", "slogdet", "svd")
MATRIX = [[2.0, 1.0], [1.0, 3.0]]


def x() -> Tensor:
    return Tensor(MATRIX)


@pytest.mark.parametrize("name", WAYS)
def test_the_parts_of_a_tuple_have_the_names_of_torch(name: str) -> None:
    theirs = torch.tensor(MATRIX)
    of_torch = torch.linalg.lstsq(theirs, theirs) if name == "lstsq" else getattr(torch.linalg, name)(theirs)
    found = WAYS[name](x())
    assert isinstance(found, tuple)
    assert found._fields == FIELDS[name]
    assert len(found) == len(of_torch)
    for at, field in enumerate(FIELDS[name]):
        assert hasattr(of_torch, field)
        assert getattr(found, field) is found[at]
    assert [*found] == [*found[:]]


@pytest.mark.parametrize("name", OF_THE_STANDARD)
def test_the_array_api_has_the_names_of_numpy(name: str) -> None:
    of_numpy = getattr(np.linalg, name)(np.array(MATRIX))
    found = getattr(xp.linalg, name)(x())
    assert found._fields == of_numpy._fields
    assert type(found) is type(WAYS[name](x()))
    of_pairs = getattr(xp.linalg, name)(Tensor.complex(x(), Tensor([[0.0, 1.0], [-1.0, 0.0]])))
    assert type(of_pairs) is type(found)


@pytest.mark.parametrize(
    "given", [("qr", (3, 2), "complete"), ("qr", (2, 3), "r"), ("svd", (2, 3), False), ("svd", (3, 2), True)]
)
def test_every_way_to_ask_gives_names(given: Any) -> None:
    name, shape, how = given
    assert getattr(Tensor.ones(*shape), name)(how)._fields == FIELDS[name]


@pytest.mark.parametrize("name", WAYS)
def test_the_names_are_there_in_functions_made_of_others(name: str) -> None:
    kind = type(WAYS[name](x()))
    assert type(vmap(WAYS[name])(Tensor([MATRIX, MATRIX]))) is kind
    assert type(checkpoint(WAYS[name])(x())) is kind


@pytest.mark.parametrize("name", OF_THE_STANDARD)
def test_the_names_are_there_in_what_they_move_by(name: str) -> None:
    kind = type(WAYS[name](x()))
    y, moved = jvp(WAYS[name], (x(),), (x(),))
    assert type(y) is kind
    assert type(moved) is kind
    y, push = linearize(WAYS[name], x())
    assert type(y) is kind
    assert type(push(x())) is kind
    y, pull = vjp(WAYS[name], x())
    assert type(y) is kind
    assert pull(kind(*[part.ones_like() for part in y]))[0].shape == (2, 2)


def test_the_names_are_there_when_a_jitted_function_runs_again() -> None:
    factor = jit(lambda x: x.slogdet())
    for _ in range(4):
        found = factor(x())
        assert type(found) is type(x().slogdet())
        assert found.logabsdet.item() == pytest.approx(np.log(5.0))


@pytest.mark.parametrize("name", WAYS)
def test_they_can_be_pickled_and_copied(name: str) -> None:
    found = WAYS[name](x())
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(again) is type(found)
        for field in FIELDS[name]:
            np.testing.assert_array_equal(getattr(again, field).numpy(), getattr(found, field).numpy())
