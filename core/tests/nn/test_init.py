"""Tests of plugrad.nn.init, against torch."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.nn import Linear, init
from plugrad.tensor import Tensor

CASES: list[tuple[str, dict[str, Any]]] = [
    ("uniform_", {"a": -3.0, "b": 1.0}),
    ("normal_", {"mean": 2.0, "std": 0.5}),
    ("trunc_normal_", {"mean": 0.5, "std": 2.0, "a": -1.0, "b": 2.0}),
    ("xavier_uniform_", {"gain": 2.0}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {"a": 0.3}),
    ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ("kaiming_normal_", {"nonlinearity": "tanh"}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_draws_have_torchs_moments_and_limits(name: str, options: dict[str, Any]) -> None:
    shape = (40, 30, 3, 2)
    ours, theirs = Tensor.zeros(*shape).contiguous(), torch.zeros(shape)
    assert getattr(init, name)(ours, **options) is ours
    found, expected = ours.numpy(), getattr(torch.nn.init, name)(theirs, **options).numpy()
    assert abs(found.mean() - expected.mean()) < 0.08 * expected.std()
    assert abs(found.std() / expected.std() - 1) < 0.05
    if "uniform" in name or "trunc" in name:
        np.testing.assert_allclose([found.min(), found.max()], [expected.min(), expected.max()], rtol=0.02)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    w = init.orthogonal_(Tensor.zeros(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    square = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_values_that_are_not_drawn() -> None:
    for name, arguments in (("zeros_", ()), ("ones_", ()), ("constant_", (3.5,)), ("eye_", ())):
        found = getattr(init, name)(Tensor.rand(2, 3), *arguments).tolist()
        assert found == getattr(torch.nn.init, name)(torch.rand(2, 3), *arguments).tolist()


@pytest.mark.parametrize("name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_are_torchs(name: str) -> None:
    assert math.isclose(init.calculate_gain(name), torch.nn.init.calculate_gain(name))
    assert math.isclose(init.calculate_gain(name, 0.2), torch.nn.init.calculate_gain(name, 0.2))


def test_parameters_stay_parameters() -> None:
    layer = Linear(3, 4, dtype="float16", device="PYTHON")
    weight = layer.weight
    init.zeros_(weight)
    assert weight.requires_grad
    assert (weight.dtype.name, weight.device) == ("float16", "PYTHON")
    layer(Tensor.ones(2, 3, device="PYTHON", dtype="float16")).sum().backward()
    assert weight.grad is not None


def test_what_cannot_be_filled_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"xavier_uniform_: a tensor of shape \(3,\); it takes two axes"):
        init.xavier_uniform_(Tensor.zeros(3))
    with pytest.raises(ArgumentError, match="calculate_gain: nonlinearity='gelu' is none of 'tanh'"):
        init.kaiming_normal_(Tensor.zeros(3, 3), nonlinearity="gelu")
    with pytest.raises(ArgumentError, match="kaiming_normal_: mode='fan' is none of 'fan_in', 'fan_out'"):
        init.kaiming_normal_(Tensor.zeros(3, 3), mode="fan")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"normal_: std=-1\.0: pass a number that is 0 or more"):
        init.normal_(Tensor.zeros(3), std=-1.0)
    with pytest.raises(DtypeError, match="constant_: tensor is"):
        init.zeros_([1.0])  # pyright: ignore[reportArgumentType]
