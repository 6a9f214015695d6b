"""Tests of plugrad.nn.layers.transformer, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError
from plugrad.nn import (
    LayerNorm,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
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


@pytest.mark.parametrize(
    "options",
    [{}, {"norm_first": True, "activation": "gelu"}, {"bias": False, "layer_norm_eps": 0.1}],
    ids=str,
)
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


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoders_compute_what_torchs_compute(norm_first: bool) -> None:
    ours = TransformerDecoder(TransformerDecoderLayer(8, 2, 16, norm_first=norm_first), 2, LayerNorm(8))
    theirs = torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(8, 2, 16, norm_first=norm_first), 2, torch.nn.LayerNorm(8)
    )
    load(ours, theirs)
    theirs.eval()
    x, memory = random(5, 2, 8), random(3, 2, 8)
    causal = np.triu(np.ones((5, 5), bool), 1)
    padding = np.array([[False, False, True], [False, True, False]])
    close(
        ours(Tensor(x), Tensor(memory), tgt_is_causal=True, memory_key_padding_mask=Tensor(padding)),
        theirs(
            torch.tensor(x),
            torch.tensor(memory),
            torch.tensor(causal),
            memory_key_padding_mask=torch.tensor(padding),
        ),
    )


def test_encoders_are_layers_that_start_as_one_and_train_apart() -> None:
    layer = TransformerEncoderLayer(8, 2, 16, activation=Tensor.silu)
    ours = TransformerEncoder(layer, 2)
    theirs = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, activation=torch.nn.functional.silu),
        2,
        enable_nested_tensor=False,
    )
    first, second = (part.linear1.weight for part in ours.layers)
    assert first is not second
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    load(ours, theirs)
    theirs.eval()
    x = random(5, 2, 8)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))
    with pytest.raises(ArgumentError, match="TransformerEncoder: num_layers=0"):
        TransformerEncoder(layer, 0)
