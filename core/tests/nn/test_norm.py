"""Tests of plugrad.nn.norm, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ShapeError
from plugrad.nn import BatchNorm, LayerNorm
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def close(ours: Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


def torch_state(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: Tensor(value.numpy()) for name, value in module.state_dict().items()}


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (4, 3, 5, 2)])
def test_batchnorm_trains_and_evaluates_as_torchs(shape: tuple[int, ...]) -> None:
    kinds: Any = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}
    ours, theirs = BatchNorm(3), kinds[len(shape)](3)
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    for _ in range(2):
        x = RNG.normal(2, 3, size=shape).astype(np.float32)
        with Tensor.train():
            close(ours(Tensor(x)), theirs(torch.tensor(x)))
    for name, tensor in get_state_dict(ours).items():
        close(tensor, theirs.state_dict()[name])
        assert tensor.dtype.name == str(theirs.state_dict()[name].dtype).removeprefix("torch.")
    theirs.eval()
    x = RNG.normal(size=shape).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))


def test_gradients_flow_through_the_batch_statistics() -> None:
    ours, theirs = BatchNorm(3), torch.nn.BatchNorm2d(3)
    x, weights = (RNG.normal(size=(4, 3, 5, 2)).astype(np.float32) for _ in range(2))
    mine, other = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    with Tensor.train():
        (ours(mine) * Tensor(weights)).sum().backward()
    (theirs(other) * torch.tensor(weights)).sum().backward()
    for left, right in ((mine, other), (ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        assert left is not None
        assert left.grad is not None
        assert right.grad is not None
        close(left.grad, right.grad)


def test_running_statistics_are_not_trained_and_not_tracked_outside_of_training() -> None:
    layer = BatchNorm(3)
    before = {name: tensor.numpy() for name, tensor in get_state_dict(layer).items()}
    layer(Tensor.rand(4, 3)).realize()
    for name, tensor in get_state_dict(layer).items():
        np.testing.assert_array_equal(tensor.numpy(), before[name])
        assert tensor.requires_grad == (name in ("weight", "bias"))


def test_batchnorm_without_statistics_uses_the_batch() -> None:
    ours, theirs = BatchNorm(3, track_running_stats=False, affine=False), torch.nn.BatchNorm1d(3)
    x = RNG.normal(2, 3, size=(6, 3)).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))
    assert get_state_dict(ours) == {}


def test_batchnorm_refuses_other_channels() -> None:
    with pytest.raises(ShapeError, match=r"BatchNorm of 3 channels got shape \(2, 4\)"):
        BatchNorm(3)(Tensor.ones(2, 4))


@pytest.mark.parametrize("shape", [5, (5,), (4, 5)])
def test_layernorm_computes_what_torch_computes(shape: int | tuple[int, ...]) -> None:
    ours, theirs = LayerNorm(shape), torch.nn.LayerNorm(shape)
    torch.nn.init.normal_(theirs.weight)
    load_state_dict(ours, torch_state(theirs))
    x = RNG.normal(2, 3, size=(3, 4, 5)).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))


def test_layernorm_refuses_other_shapes() -> None:
    with pytest.raises(ShapeError, match=r"LayerNorm over \(4,\) got shape \(2, 3\)"):
        LayerNorm(4)(Tensor.ones(2, 3))
