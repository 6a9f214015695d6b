"""Tests of plugrad.nn.checks: layers name the argument that they cannot take."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import nn
from plugrad.errors import ArgumentError, DtypeError, ShapeError
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
    ("RNNCell: input_size", lambda n: nn.RNNCell(n, 3)),
    ("MultiheadAttention: num_heads", lambda n: nn.MultiheadAttention(8, n)),
    ("Linear: out_features", lambda n: nn.TransformerEncoderLayer(8, 2, n)),
]


@pytest.mark.parametrize(("name", "make"), SIZES)
@pytest.mark.parametrize("size", [-1, 2.5, "a", None, True], ids=str)
def test_sizes_are_integers(name: str, make: Callable[[Any], object], size: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{name}={size!r}: pass an integer, 0 or more"):
        make(size)


@pytest.mark.parametrize("p", [-0.1, 1.5], ids=str)
def test_shares_are_probabilities(p: float) -> None:
    for make in (nn.Dropout, lambda p: nn.LSTM(3, 3, dropout=p), lambda p: nn.MultiheadAttention(8, 2, p)):
        with pytest.raises(ArgumentError, match=r"lies outside of 0\.\.1"):
            make(p)


def test_inputs_are_tensors() -> None:
    x: Any = Tensor.ones(2, 4)
    for name, call in (
        ("Linear: x", lambda: nn.Linear(4, 2)([1.0])),
        ("Conv1d: x", lambda: nn.Conv1d(4, 2, 1)(3)),
        ("Embedding: indices", lambda: nn.Embedding(4, 2)(1)),
        ("MultiheadAttention: key", lambda: nn.MultiheadAttention(4, 2)(x, "a", x)),
        ("MultiheadAttention: key_padding_mask", lambda: nn.MultiheadAttention(4, 2)(x, x, x, [True])),
    ):
        with pytest.raises(DtypeError, match=f"{name} is .*, which is no tensor"):
            call()


def test_every_layer_refuses_what_is_no_tensor() -> None:
    made: dict[str, tuple[Any, ...]] = {
        "Linear": (4, 3),
        "Bilinear": (4, 3, 2),
        "Embedding": (4, 3),
        **dict.fromkeys(("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"), (4, 3)),
        "GroupNorm": (2, 4),
        "MultiheadAttention": (4, 2),
        **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), (4, 2, 8)),
        "TransformerEncoder": (nn.TransformerEncoderLayer(4, 2, 8), 2),
        "TransformerDecoder": (nn.TransformerDecoderLayer(4, 2, 8), 2),
        **dict.fromkeys(("Unflatten",), (1, (2, 2))),
        **dict.fromkeys(("Threshold", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d"), (1, 1.0)),
        "Sequential": (),
    }
    for name in nn.__all__:
        layer_class = getattr(nn, name)
        is_layer = inspect.isclass(layer_class) and issubclass(layer_class, nn.Module)
        if not is_layer or name in ("Identity", "Module", "ModuleDict", "ModuleList"):
            continue
        needed = [p for p in inspect.signature(layer_class).parameters.values() if p.default is p.empty]
        one_each = {"kernel_size": 1, "padding": 1, "in_channels": 4, "out_channels": 4}
        layer = layer_class(
            *made.get(name, [one_each.get(p.name, 2) for p in needed if p.kind is not p.VAR_POSITIONAL])
        )
        wanted = [p for p in inspect.signature(layer.forward).parameters.values() if p.default is p.empty]
        for junk in (None, "a", [1.0], 3):
            with pytest.raises(
                DtypeError, match=rf"^{re.escape(type(layer).__name__)}: .* is .*, which is no tensor"
            ):
                layer(*[junk] * len(wanted))


def test_sizes_of_numpy_are_integers_as_well() -> None:
    assert nn.Linear(np.int64(4), np.int32(3))(Tensor.ones(2, 4)).shape == (2, 3)  # pyright: ignore[reportArgumentType]


def test_rows_of_padding_and_copies_of_layers_are_integers() -> None:
    for junk in ("a", 1.5, [], -5, 4):
        with pytest.raises(ArgumentError, match="Embedding: padding_idx="):
            nn.Embedding(4, 3, junk)  # pyright: ignore[reportArgumentType]
    layer: Any = nn.TransformerEncoderLayer(4, 2, 8)
    for junk in (0, "a", None, 1.5):
        with pytest.raises(ArgumentError, match="TransformerEncoder: num_layers="):
            nn.TransformerEncoder(layer, junk)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="MultiheadAttention: kdim='a': pass an integer, 0 or more"):
        nn.MultiheadAttention(4, 2, kdim="a")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ShapeError, match="MultiheadAttention of size 0"):
        nn.MultiheadAttention(0, 1)
