"""Tests of plugrad.nn.layers.containers, against torch."""

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError
from plugrad.nn import Linear, Sequential
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict
from plugrad.tensor import Tensor


def test_layers_run_one_after_the_other_and_are_named_as_torchs() -> None:
    ours = Sequential(Linear(3, 4), Tensor.relu, Sequential(Linear(4, 2)))
    theirs = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(4, 2))
    )
    state = {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert list(get_state_dict(ours)) == list(state)
    assert len(get_parameters(ours)) == 4
    load_state_dict(ours, state)
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_allclose(
        ours(Tensor(x)).numpy(), theirs(torch.tensor(x)).detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_it_is_a_list() -> None:
    model = Sequential(Linear(3, 4), Tensor.relu)
    assert len(model) == 2
    assert model[1] is Tensor.relu
    x = Tensor.ones(1, 2)
    assert Sequential()(x) is x


def test_a_slice_is_a_sequence_of_layers() -> None:
    model = Sequential(Linear(3, 4), Tensor.relu, Linear(4, 2))
    assert isinstance(model[:2], Sequential)
    assert model[1:][1] is model[2]


def test_lists_of_layers_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"Sequential: layer 0 is \[.* which is no layer"):
        Sequential([Linear(3, 4)])
