"""Tests of plugrad.tensor.functional.normalization, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(1, 2, shape).astype(np.float32)


def compare(ours: Any, theirs: Any, *shapes: tuple[int, ...]) -> None:
    """Compare values, and gradients of a weighted sum, of functions of arrays of these shapes."""
    arrays = [random(*shape) for shape in shapes]
    mine = [Tensor(a, requires_grad=True) for a in arrays]
    others = [torch.tensor(a, requires_grad=True) for a in arrays]
    out, expected = ours(*mine), theirs(*others)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    weights = random(*expected.shape)
    (out * Tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    realize_all([x.grad for x in mine])
    for left, right in zip(mine, others, strict=True):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(5,), (4, 5)])
def test_layer_norm_is_that_of_torch(shape: tuple[int, ...]) -> None:
    compare(
        lambda x, w, b: x.layer_norm(shape, w, b),
        lambda x, w, b: F.layer_norm(x, shape, w, b),
        (3, 4, 5), shape, shape,
    )  # fmt: skip


def test_layernorm_takes_any_axes() -> None:
    compare(
        lambda x: x.layernorm((0, 2), eps=1e-3),
        lambda x: F.layer_norm(x.permute(1, 0, 2), (3, 5), eps=1e-3).permute(1, 0, 2),
        (3, 4, 5),
    )


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_rms_norm_is_that_of_torch(eps: float | None) -> None:
    compare(
        lambda x, w: x.rms_norm((4, 5), w, eps),
        lambda x, w: F.rms_norm(x, (4, 5), w, eps),
        (3, 4, 5), (4, 5),
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 3), (2, 6, 3, 2)])
def test_group_norm_is_that_of_torch(shape: tuple[int, ...]) -> None:
    compare(
        lambda x, w, b: x.group_norm(3, w, b),
        lambda x, w, b: F.group_norm(x, 3, w, b),
        shape, (6,), (6,),
    )  # fmt: skip


def test_groupnorm_is_group_norm() -> None:
    x = Tensor(random(2, 4))
    assert x.groupnorm(2).uop is x.group_norm(2).uop


def test_instance_norm_is_that_of_torch() -> None:
    compare(
        lambda x, w, b: x.instance_norm(weight=w, bias=b, eps=1e-4),
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-4),
        (2, 3, 4, 5), (3,), (3,),
    )  # fmt: skip


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_is_that_of_torch(training: bool) -> None:
    mean, variance = random(3), random(3) ** 2 + 0.1
    compare(
        lambda x, w, b: x.batch_norm(Tensor(mean), Tensor(variance), w, b, training),
        lambda x, w, b: F.batch_norm(x, torch.tensor(mean), torch.tensor(variance), w, b, training),
        (4, 3, 5), (3,), (3,),
    )  # fmt: skip


def test_batchnorm_takes_any_axis_of_channels() -> None:
    x, mean, scale = random(2, 4, 3), random(3), random(3)
    out = Tensor(x).batchnorm(None, Tensor(mean), Tensor(mean), Tensor(scale), axis=2)
    np.testing.assert_allclose(out.numpy(), (x - mean) * scale + mean, rtol=1e-5, atol=1e-5)


def test_halves_are_normalized_in_single() -> None:
    x = (RNG.normal(300, 1, (4, 64))).astype(np.float16)
    for ours, theirs in (
        (Tensor(x).layer_norm(64), F.layer_norm(torch.tensor(x).float(), (64,))),
        (Tensor(x).rms_norm(64), F.rms_norm(torch.tensor(x).float(), (64,))),
        (Tensor(x).group_norm(2), F.group_norm(torch.tensor(x).float(), 2)),
        (
            Tensor(x).batch_norm(training=True),
            F.batch_norm(torch.tensor(x).float(), None, None, training=True),
        ),
    ):
        assert ours.dtype.name == "float16"
        np.testing.assert_allclose(ours.numpy(), theirs.half().numpy(), rtol=2e-3, atol=2e-3)


def test_what_does_not_fit_is_refused() -> None:
    x = Tensor(random(2, 6, 3))
    with pytest.raises(
        ShapeError, match=r"layer_norm over \(6,\) of shape \(2, 6, 3\), which does not end in it"
    ):
        x.layer_norm(6)
    with pytest.raises(ShapeError, match=r"rms_norm over \(\) of shape"):
        x.rms_norm(())
    with pytest.raises(ShapeError, match=r"group_norm of shape \(2, 6, 3\) in 4 groups"):
        x.group_norm(4)
    with pytest.raises(ShapeError, match=r"instance_norm of shape \(6, 3\)"):
        x[0].instance_norm()
    with pytest.raises(ShapeError, match="running_mean and running_var, which are missing"):
        x.batch_norm()
    with pytest.raises(ShapeError, match=r"batch_norm of shape \(3,\)"):
        x[0, 0].batch_norm(training=True)
    with pytest.raises(ShapeError, match=r"batch_statistics of shape \(3,\)"):
        x[0, 0].batch_statistics()
    with pytest.raises(DtypeError, match="layernorm of int32: it takes floats"):
        Tensor([1, 2]).layernorm()


def test_training_moves_the_running_statistics_as_in_torch() -> None:
    x = RNG.standard_normal((4, 3, 5)).astype(np.float32)
    mean, variance = (RNG.uniform(0.5, 2, 3).astype(np.float32) for _ in range(2))
    ours = [Tensor(a).contiguous() for a in (mean, variance)]
    theirs = [torch.tensor(a) for a in (mean, variance)]
    out = Tensor(x).batch_norm(*ours, None, None, True, 0.3, 1e-3)
    expected = F.batch_norm(torch.tensor(x), *theirs, None, None, True, 0.3, 1e-3)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
    for left, right in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(left.numpy(), right.numpy(), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_default_epsilon_of_rms_norm_is_that_of_torch(dtype: str) -> None:
    x = np.array([[0.001, -0.002, 0.0]], np.float32)
    expected = F.rms_norm(torch.tensor(x).to(getattr(torch, dtype)), (3,))
    out = Tensor(x).cast(dtype).rms_norm(3)
    np.testing.assert_allclose(out.float().numpy(), expected.float().numpy(), rtol=1e-2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: x.layer_norm(4, w), r"layer_norm of shape \(2, 4, 4\) with a weight of shape \(1,\)"),
        (lambda x, w: x.layer_norm((4, 4), None, w), r"layer_norm .* a bias .*: it must have shape \(4, 4\)"),
        (lambda x, w: x.rms_norm(4, w), r"rms_norm of shape \(2, 4, 4\) with a weight of shape \(1,\)"),
        (lambda x, w: x.group_norm(2, w), r"group_norm of shape \(2, 4, 4\) with a weight of shape \(1,\)"),
        (lambda x, w: x.instance_norm(bias=w), r"instance_norm of shape \(2, 4, 4\) with a bias"),
        (lambda x, w: x.batch_norm(w, w), r"batch_norm: mean of shape \(1,\) for 4 channels"),
    ],
)
def test_factors_of_other_shapes_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call(Tensor.ones(2, 4, 4), Tensor.ones(1))
