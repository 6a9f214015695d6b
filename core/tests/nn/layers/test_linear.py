"""Tests of plugrad.nn.layers.linear, against torch."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import events
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.nn import Bilinear, Embedding, Linear
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor


def test_linear_computes_what_torch_computes() -> None:
    ours, theirs = Linear(5, 3), torch.nn.Linear(5, 3)
    ours.weight.assign(Tensor(theirs.weight.detach().numpy()))
    assert ours.bias is not None
    ours.bias.assign(Tensor(theirs.bias.detach().numpy()))
    x = np.random.default_rng(1).normal(size=(2, 4, 5)).astype(np.float32)
    expected = theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_linear_starts_inside_of_torchs_bounds_and_spread() -> None:
    weight = Linear(64, 128).weight.numpy()
    bound = 1 / math.sqrt(64)
    assert np.abs(weight).max() <= bound
    assert abs(weight.std() - bound / math.sqrt(3)) < 0.05 * bound
    assert abs(weight.mean()) < 0.05 * bound


def test_names_are_those_of_torch() -> None:
    assert list(get_state_dict(Linear(2, 2))) == list(torch.nn.Linear(2, 2).state_dict())
    assert list(get_state_dict(Linear(2, 2, bias=False))) == ["weight"]
    assert list(get_state_dict(Embedding(2, 2))) == list(torch.nn.Embedding(2, 2).state_dict())


def test_embedding_returns_rows_and_sums_their_gradients() -> None:
    ours = Embedding(7, 3)
    indices = [[1, 6, 1], [0, 2, 1]]
    theirs = torch.nn.Embedding(7, 3, _weight=torch.tensor(ours.weight.numpy()))
    out = ours(Tensor(indices))
    np.testing.assert_array_equal(out.numpy(), theirs(torch.tensor(indices)).detach().numpy())
    (ours(Tensor(indices)) * 2).sum().backward()
    (theirs(torch.tensor(indices)) * 2).sum().backward()
    assert ours.weight.grad is not None
    assert theirs.weight.grad is not None
    np.testing.assert_array_equal(ours.weight.grad.numpy(), theirs.weight.grad.numpy())


def test_embedding_of_one_index_and_of_one_outside() -> None:
    layer = Embedding(4, 2)
    np.testing.assert_array_equal(layer(Tensor(3)).numpy(), layer.weight.numpy()[3])
    assert layer(Tensor([4, -1])).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("padding_idx", [2, -1])
def test_the_row_of_padding_is_zeros_and_gets_no_gradient(padding_idx: int) -> None:
    layer = Embedding(4, 2, padding_idx=padding_idx)
    row = padding_idx % 4
    assert layer.weight.numpy()[row].tolist() == [0.0, 0.0]
    # what was loaded is what is read
    layer.weight.assign(Tensor.ones(4, 2)).realize()
    indices = [[row, 1], [0, row]]
    out = layer(Tensor(indices))
    assert out.tolist() == np.ones((2, 2, 2)).tolist()
    theirs = torch.nn.Embedding(4, 2, padding_idx, _weight=torch.ones(4, 2))
    (out * 2).sum().backward()
    (theirs(torch.tensor(indices)) * 2).sum().backward()
    assert layer.weight.grad is not None
    assert theirs.weight.grad is not None
    np.testing.assert_array_equal(layer.weight.grad.numpy(), theirs.weight.grad.numpy())


@pytest.mark.parametrize("padding_idx", [4, -5])
def test_padding_is_a_row_of_the_table(padding_idx: int) -> None:
    with pytest.raises(ArgumentError, match=f"Embedding: padding_idx={padding_idx} of 4 rows"):
        Embedding(4, 2, padding_idx=padding_idx)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("padding_idx", [200, 299])
def test_a_row_of_padding_may_be_beyond_what_indices_can_name(padding_idx: int, dtype: str) -> None:
    layer = Embedding(300, 2, padding_idx=padding_idx)
    last = 200 if dtype != "int8" else 127
    found = layer(Tensor([0, 100, last], dtype=dtype))
    np.testing.assert_array_equal(found.numpy(), layer.weight.numpy()[[0, 100, last]])


@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_rows_are_named_by_integers(dtype: str) -> None:
    with pytest.raises(DtypeError, match=f"Embedding of {dtype}: rows are named by integers"):
        Embedding(3, 2)(Tensor([1, 0], dtype=dtype))


def test_bilinear_computes_what_torch_computes() -> None:
    ours, theirs = Bilinear(3, 4, 2), torch.nn.Bilinear(3, 4, 2)
    state = {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert list(get_state_dict(ours)) == list(state)
    load_state_dict(ours, state)
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=(5, 2, size)).astype(np.float32) for size in (3, 4))
    expected = theirs(torch.tensor(x), torch.tensor(y)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x), Tensor(y)).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert list(get_state_dict(Bilinear(3, 4, 2, bias=False))) == ["weight"]


@pytest.mark.parametrize(
    "make",
    [lambda **o: Linear(2, 3, **o), lambda **o: Bilinear(2, 3, 4, **o), lambda **o: Embedding(3, 2, 1, **o)],
    ids=["Linear", "Bilinear", "Embedding"],
)
def test_parameters_have_the_dtype_and_device_that_are_asked_for(make: Any) -> None:
    for p in get_state_dict(make(dtype="float64", device="PYTHON")).values():
        assert (p.dtype.name, p.device, p.requires_grad) == ("float64", "PYTHON", True)


def test_a_table_that_is_there_is_used_as_it_is() -> None:
    table = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    layer = Embedding.from_pretrained(table, padding_idx=1)
    assert layer.weight is table
    assert not table.requires_grad
    assert layer(Tensor([1, 2])).tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    with pytest.raises(ShapeError, match=r"a table of shape \(3,\)"):
        Embedding.from_pretrained(Tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("device", ["CPU"], indirect=True)
def test_rows_are_read_where_they_are() -> None:
    layer, indices = Embedding(500, 64), Tensor([3, 499] * 64).realize()
    layer.weight.realize()
    found: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
        out = layer(indices).realize()
    # not by a product with a matrix of 0s and 1s, which would be made first
    assert len(found) == 1
    np.testing.assert_array_equal(out.numpy()[:2], layer.weight.numpy()[[3, 499]])


def test_inputs_of_another_size_are_refused_by_the_layer() -> None:
    for shape in ((), (3,), (2, 3), (4, 1)):
        with pytest.raises(ShapeError, match="Linear of 4 inputs got shape"):
            Linear(4, 2)(Tensor.ones(*shape))
    with pytest.raises(ShapeError, match="Bilinear of 3 inputs got shape"):
        Bilinear(4, 3, 2)(Tensor.ones(2, 4), Tensor.ones(2, 4))
