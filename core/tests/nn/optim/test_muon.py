"""Tests of plugrad.nn.optim.muon: the steps of the publication, in NumPy and beside torch's."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ArgumentError, ShapeError
from plugrad.nn.optim import Muon
from plugrad.tensor import Tensor


def orthogonal(g: Any) -> Any:
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / max(np.linalg.norm(g), 1e-7)
    for _ in range(5):
        if g.shape[0] <= g.shape[1]:
            gram = x @ x.T
            x = a * x + (b * gram + c * gram @ gram) @ x
        else:
            gram = x.T @ x
            x = a * x + x @ (b * gram + c * gram @ gram)
    return x


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (1, 3)], ids=str)
@pytest.mark.parametrize("nesterov", [True, False])
def test_muon_takes_the_steps_of_the_publication(shape: Any, nesterov: bool) -> None:
    rng = np.random.default_rng(6)
    value, momentum = rng.normal(size=shape), np.zeros(shape)
    w = Tensor(value.astype(np.float32))
    optimizer = Muon([w], lr=0.1, momentum=0.9, nesterov=nesterov)
    for _ in range(4):
        grad = np.cos(value)
        momentum = 0.9 * momentum + 0.1 * grad
        step = orthogonal(0.1 * grad + 0.9 * momentum if nesterov else momentum)
        w.grad = w.detach().cos()
        value = value * (1 - 0.1 * 0.1) - 0.1 * max(1, shape[0] / shape[1]) ** 0.5 * step
        optimizer.step()
        np.testing.assert_allclose(w.numpy(), value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("adjust", [None, "original", "match_rms_adamw"])
def test_muon_steps_are_torchs_but_for_its_bfloat16(adjust: Any) -> None:
    start = np.random.default_rng(7).normal(size=(8, 4)).astype(np.float32)
    mine, other = Tensor(start), torch.tensor(start, requires_grad=True)
    ours = Muon([mine], lr=0.02, adjust_lr_fn=adjust)
    theirs = torch.optim.Muon([other], lr=0.02, adjust_lr_fn=adjust)
    for _ in range(4):
        mine.grad, other.grad = mine.detach().sin(), other.detach().sin()
        ours.step()
        theirs.step()
    np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), atol=4 * 0.02 * 0.02)
    assert np.abs(mine.numpy() - start).max() > 0.02


def test_only_matrices_are_trained() -> None:
    with pytest.raises(ShapeError, match=r"Muon: a parameter of shape \(3,\)"):
        Muon([Tensor([1.0, 2.0, 3.0])])
    with pytest.raises(ArgumentError, match="Muon: adjust_lr_fn='none'"):
        Muon([Tensor([[1.0]])], adjust_lr_fn="none")
    with pytest.raises(ArgumentError, match=r"Muon: ns_coefficients=\(1.0, 2.0\): pass three numbers"):
        Muon([Tensor([[1.0]])], ns_coefficients=(1.0, 2.0))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
def test_matrices_of_one_shape_are_one_batch_with_the_steps_of_each(shape: Any) -> None:
    rng = np.random.default_rng(8)
    start = [rng.normal(size=shape).astype(np.float32) for _ in range(3)]
    together = [Tensor(a) for a in start]
    apart = [Tensor(a) for a in start]
    one, many = Muon(together, lr=0.1), [Muon([p], lr=0.1) for p in apart]
    for _ in range(3):
        for p in (*together, *apart):
            p.grad = p.detach().cos()
        one.step()
        for optimizer in many:
            optimizer.step()
    for p, q in zip(together, apart, strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-4, atol=1e-5)
