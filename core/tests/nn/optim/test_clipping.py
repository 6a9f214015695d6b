"""Tests of plugrad.nn.optim.clipping beside torch's functions."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError, GradientError
from plugrad.nn.optim import SGD, clip_grad_norm_, clip_grad_value_
from plugrad.tensor import Tensor


def with_gradients() -> tuple[list[Tensor], list[Any]]:
    rng = np.random.default_rng(8)
    mine, other = [], []
    for shape in ((3, 2), (4,), ()):
        value, grad = rng.normal(size=shape).astype(np.float32), rng.normal(size=shape).astype(np.float32)
        p, q = Tensor(value), torch.tensor(value, requires_grad=True)
        p.grad, q.grad = Tensor(grad), torch.tensor(grad)
        mine.append(p)
        other.append(q)
    mine.append(Tensor([1.0]))
    return mine, other


def assert_same_gradients(mine: list[Tensor], other: list[Any]) -> None:
    for p, q in zip(mine, other, strict=False):
        assert p.grad is not None
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_norms_are_clipped_as_torch_does(norm_type: float, max_norm: float) -> None:
    mine, other = with_gradients()
    norm = clip_grad_norm_(mine, max_norm, norm_type)
    wanted = torch.nn.utils.clip_grad_norm_(other, max_norm, norm_type)
    np.testing.assert_allclose(norm.numpy(), wanted.numpy(), rtol=1e-5)
    assert_same_gradients(mine, other)


def test_values_are_clipped_as_torch_does() -> None:
    mine, other = with_gradients()
    clip_grad_value_(mine, 0.5)
    torch.nn.utils.clip_grad_value_(other, 0.5)
    assert_same_gradients(mine, other)


def test_the_norm_of_half_gradients_does_not_overflow() -> None:
    w = Tensor([1.0, 1.0], dtype="float16")
    w.grad = Tensor([300.0, 400.0], dtype="float16")
    assert clip_grad_norm_(w, 5.0).item() == 500.0
    assert w.grad.tolist() == [3.0, 4.0]


def test_updates_use_clipped_gradients() -> None:
    w = Tensor([1.0])
    optimizer = SGD([w], lr=1.0)
    (w * 100).sum().backward()
    clip_grad_norm_(optimizer.params, 1.0)
    optimizer.step()
    np.testing.assert_allclose(w.numpy(), [0.0], atol=1e-6)


def test_parameters_without_gradients_have_the_norm_0() -> None:
    assert clip_grad_norm_([Tensor([1.0])], 1.0).item() == 0.0


def test_wrong_limits_are_refused() -> None:
    w = Tensor([1.0])
    with pytest.raises(ArgumentError, match="max_norm=-1"):
        clip_grad_norm_(w, -1)
    with pytest.raises(ArgumentError, match="norm_type=0"):
        clip_grad_norm_(w, 1, 0)
    with pytest.raises(ArgumentError, match="clip_grad_value_: clip_value=-1"):
        clip_grad_value_(w, -1)
    w.grad = Tensor([float("nan")])
    with pytest.raises(GradientError, match="the norm of the gradients is nan"):
        clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
