"""Tests of plugrad.nn.transformer, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError
from plugrad.nn import TransformerEncoderLayer
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def load(ours: Any, theirs: torch.nn.Module) -> None:
    """Give our layer the values of torch's, whose names and their order it has to share."""
    state = {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert list(get_state_dict(ours)) == list(state)
    load_state_dict(ours, state)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def close(ours: Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"norm_first": True, "activation": "gelu"}], ids=str)
def test_the_layer_computes_what_torchs_computes(options: Any) -> None:
    ours = TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    load(ours, theirs)
    theirs.eval()
    x = random(2, 5, 8)
    causal = np.triu(np.ones((5, 5), bool), 1)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))
    close(ours(Tensor(x), Tensor(causal)), theirs(torch.tensor(x), torch.tensor(causal)))


def test_elements_drop_out_while_training() -> None:
    layer, x = TransformerEncoderLayer(8, 2, 16), Tensor(random(3, 2, 8)).realize()
    assert (layer(x).numpy() == layer(x).numpy()).all()
    with Tensor.train():
        assert (layer(x).numpy() != layer(x).numpy()).any()


def test_other_activations_are_refused() -> None:
    with pytest.raises(ArgumentError, match="activation='tanh' is neither 'relu' nor 'gelu'"):
        TransformerEncoderLayer(8, 2, activation="tanh")
