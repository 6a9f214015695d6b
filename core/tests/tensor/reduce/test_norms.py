import math
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import ArgumentError, AxisError, ShapeError

X = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)], ids=str)
@pytest.mark.parametrize("p", [2, 1, 0, 3, 2.5, 0.5, -1, -2, math.inf, -math.inf])
def test_norms_and_their_gradients_are_those_of_torch(p: float, axis: Any) -> None:
    x = torch.tensor(X, requires_grad=True)
    expected = torch.linalg.vector_norm(x, p, dim=axis)
    t = Tensor(X, requires_grad=True)
    out = t.norm(p, axis)
    assert out.shape == tuple(expected.shape)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=2e-5)
    assert t.norm(p, axis, keepdim=True).ndim == 3
    if p:
        (theirs,) = torch.autograd.grad(expected.sum(), x)
        np.testing.assert_allclose(out.sum().gradient(t)[0].numpy(), theirs.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_norm_of_zeros_has_no_slope(p: float) -> None:
    t = Tensor.zeros(3, requires_grad=True)
    out = t.norm(p)
    assert out.item() == 0
    assert out.gradient(t)[0].tolist() == [0.0] * 3
    assert Tensor.zeros(0).norm(p).item() == 0
    assert Tensor(-3.0).norm(p).item() == 3


def test_dtypes_of_norms() -> None:
    assert Tensor([3, 4]).norm().item() == 5
    assert Tensor([3, 4]).norm().dtype is dtypes.float32
    half = Tensor(np.full(5000, 10, np.float16))
    assert half.norm().dtype is dtypes.float16
    np.testing.assert_allclose(half.norm().item(), 10 * math.sqrt(5000), rtol=1e-3)
    assert Tensor([3.0, 4.0]).norm(dtype="float64").dtype is dtypes.float64
    assert math.isnan(Tensor([1.0, math.nan]).norm().item())
    assert Tensor([1.0, -math.inf]).norm().item() == math.inf


def test_norms_that_are_none_are_refused() -> None:
    wrong: Any = "nuc"
    with pytest.raises(ArgumentError, match="p='nuc' is no number"):
        Tensor(X).norm(wrong)
    with pytest.raises(ArgumentError, match="p=nan is no number"):
        Tensor(X).norm(math.nan)
    with pytest.raises(AxisError, match="norm: axis 3 is out of range"):
        Tensor(X).norm(axis=3)
    with pytest.raises(ShapeError, match="there are no elements"):
        Tensor.zeros(0).norm(math.inf)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.wide_on_cpu
def test_normalizing_is_that_of_torch(axis: int) -> None:
    x = torch.tensor(X, requires_grad=True)
    t = Tensor(X, requires_grad=True)
    for p in (2, 1, 3):
        expected = torch.nn.functional.normalize(x, p, axis)
        out = t.normalize(p, axis)
        np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5)
        (theirs,) = torch.autograd.grad((expected * x.detach().exp()).sum(), x)
        ours = (out * Tensor(X).exp()).sum().gradient(t)[0]
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-5)
    assert Tensor([[3, 4]]).normalize().dtype is dtypes.float32
    assert Tensor.zeros(2, 2).normalize().tolist() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("axis", [0, -1])
def test_softmin_is_that_of_torch(axis: int) -> None:
    expected = torch.nn.functional.softmin(torch.tensor(X), axis).numpy()
    np.testing.assert_allclose(Tensor(X).softmin(axis).numpy(), expected, rtol=1e-5)
    assert Tensor([1, 1], dtype="uint8").softmin().tolist() == [0.5, 0.5]
    assert Tensor([1.0]).softmin(dtype="float64").dtype is dtypes.float64


@pytest.mark.parametrize("axis", [None, 1, (0, 2)], ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
def test_pairs_of_statistics_are_those_of_torch(axis: Any, keepdim: bool) -> None:
    for name in ("var_mean", "std_mean"):
        expected = getattr(torch, name)(torch.tensor(X), dim=axis, correction=0, keepdim=keepdim)
        for ours, theirs in zip(
            getattr(Tensor(X), name)(axis, keepdim=keepdim, correction=0), expected, strict=True
        ):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_vectors_of_zeros_stay_zeros_when_they_are_normalized(dtype: str) -> None:
    found = Tensor([[0.0, 0.0], [3.0, 4.0]], dtype=dtype).normalize()
    assert found.dtype.name == dtype
    np.testing.assert_allclose(found.float().numpy(), [[0, 0], [0.6, 0.8]], rtol=4e-3)
