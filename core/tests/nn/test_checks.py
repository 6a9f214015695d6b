"""Tests of plugrad.nn.checks: layers name the argument that they cannot take."""

from collections.abc import Callable
from typing import Any

import pytest

from plugrad import nn
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor

SIZES: list[tuple[str, Callable[[Any], object]]] = [
    ("Linear: in_features", lambda n: nn.Linear(n, 3)),
    ("Linear: out_features", lambda n: nn.Linear(3, n)),
    ("Bilinear: in2_features", lambda n: nn.Bilinear(3, n, 3)),
    ("Embedding: num_embeddings", lambda n: nn.Embedding(n, 3)),
    ("Conv2d: in_channels", lambda n: nn.Conv2d(n, 4, 3)),
    ("ConvTranspose1d: groups", lambda n: nn.ConvTranspose1d(4, 4, 3, groups=n)),
    ("BatchNorm: num_features", lambda n: nn.BatchNorm(n)),
    ("InstanceNorm2d: num_features", lambda n: nn.InstanceNorm2d(n)),
    ("LayerNorm: normalized_shape", lambda n: nn.LayerNorm(n)),
    ("RMSNorm: normalized_shape", lambda n: nn.RMSNorm([3, n])),
    ("GroupNorm: num_groups", lambda n: nn.GroupNorm(n, 4)),
    ("LSTM: hidden_size", lambda n: nn.LSTM(3, n)),
    ("GRU: num_layers", lambda n: nn.GRU(3, 3, n)),
    ("RNNCell: input_size", lambda n: nn.RNNCell(n, 3)),
    ("MultiHeadAttention: num_heads", lambda n: nn.MultiHeadAttention(8, n)),
    ("Linear: out_features", lambda n: nn.TransformerEncoderLayer(8, 2, n)),
]


@pytest.mark.parametrize(("name", "make"), SIZES)
@pytest.mark.parametrize("size", [-1, 2.5, "a", None], ids=str)
def test_sizes_are_integers(name: str, make: Callable[[Any], object], size: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{name}={size!r} is no size"):
        make(size)


@pytest.mark.parametrize("p", [-0.1, "a", None], ids=str)
def test_shares_are_probabilities(p: Any) -> None:
    for make in (nn.Dropout, lambda p: nn.LSTM(3, 3, dropout=p), lambda p: nn.MultiHeadAttention(8, 2, p)):
        with pytest.raises(ArgumentError, match=r"lies outside of 0\.\.1"):
            make(p)


def test_inputs_are_tensors() -> None:
    x: Any = Tensor.ones(2, 4)
    for name, call in (
        ("Linear: x", lambda: nn.Linear(4, 2)([1.0])),
        ("Conv1d: x", lambda: nn.Conv1d(4, 2, 1)(3)),
        ("Embedding: indices", lambda: nn.Embedding(4, 2)(1)),
        ("MultiHeadAttention: key", lambda: nn.MultiHeadAttention(4, 2)(x, "a", x)),
        ("MultiHeadAttention: key_padding_mask", lambda: nn.MultiHeadAttention(4, 2)(x, x, x, [True])),
    ):
        with pytest.raises(DtypeError, match=f"{name} is .*, which is no tensor"):
            call()
