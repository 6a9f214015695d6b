"""Tests of plugrad.tensor.functional.pool, by the greatest and the mean of windows, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ShapeError

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


POOLS: list[dict[str, Any]] = [
    {"kernel_size": 2}, {"kernel_size": 3}, {"kernel_size": (2, 3), "stride": 1},
    {"kernel_size": 3, "stride": 2}, {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0)},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "ceil_mode": True},
    {"kernel_size": (4, 2), "stride": (3, 2), "padding": (2, 1), "ceil_mode": True},
]  # fmt: skip


@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pools_are_those_of_torch(options: Any) -> None:
    x = random(2, 3, 7, 8)
    expected, places = F.max_pool2d(torch.tensor(x), **options, return_indices=True)
    np.testing.assert_array_equal(Tensor(x).max_pool2d(**options).numpy(), expected.numpy())
    values, indices = Tensor(x).max_pool2d(**options, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), expected.numpy())
    np.testing.assert_array_equal(indices.numpy(), places.numpy())
    for include in (True, False):
        expected = F.avg_pool2d(torch.tensor(x), **options, count_include_pad=include).numpy()
        out = Tensor(x).avg_pool2d(**options, count_include_pad=include).numpy()
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", POOLS[:4] + POOLS[6:8], ids=str)
def test_gradients_of_pools_are_those_of_torch(options: Any) -> None:
    x = random(1, 2, 6, 7)
    for name in ("max_pool2d", "avg_pool2d"):
        ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        getattr(ours, name)(**options).square().sum().backward()
        getattr(F, name)(theirs, **options).square().sum().backward()
        assert ours.grad is not None
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("axes", "shape"), [(1, (2, 3, 9)), (3, (1, 2, 5, 6, 4))])
def test_pools_over_one_and_three_axes_are_those_of_torch(axes: int, shape: Any) -> None:
    x = random(*shape)
    for options in ({}, {"stride": 1, "padding": 1}, {"stride": 2, "ceil_mode": True}):
        expected, places = getattr(F, f"max_pool{axes}d")(torch.tensor(x), 3, **options, return_indices=True)
        values, indices = getattr(Tensor(x), f"max_pool{axes}d")(3, **options, return_indices=True)
        np.testing.assert_array_equal(values.numpy(), expected.numpy())
        np.testing.assert_array_equal(indices.numpy(), places.numpy())
        expected = getattr(F, f"avg_pool{axes}d")(torch.tensor(x), 3, **options).numpy()
        out = getattr(Tensor(x), f"avg_pool{axes}d")(3, **options).numpy()
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


def test_pools_of_integers_and_of_halves() -> None:
    x = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    assert Tensor(x).max_pool2d(3, 2, padding=1).tolist() == [[[[-3, -1], [5, 7]]]]
    assert Tensor(x).avg_pool2d().tolist() == [[[[-5.5, -3.5], [2.5, 4.5]]]]
    assert Tensor.full((1, 64, 64), 2000.0, dtype="float16").avg_pool2d(64).item() == 2000.0


def test_windows_are_never_written_to_memory() -> None:
    x = Tensor(random(1, 2, 5, 5)).realize()
    for pooled in (x.max_pool2d(), x.max_pool2d(3, 1), x.avg_pool2d(3, 2)):
        assert len(pooled.schedule()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_size": 5}, r"max_pool2d: a window of 5 .* does not fit into an axis of 4"),
        ({"kernel_size": 2, "padding": 2}, "max_pool2d: padding 2 and 2 around windows of 2"),
        (
            {"kernel_size": 2, "stride": 0, "ceil_mode": True},
            "stride 0 and dilation 1 must each be at least 1",
        ),
        ({"kernel_size": (2, 2, 2)}, "it takes at least 3 axes"),
        ({"kernel_size": 2, "stride": (1, 2, 3)}, r"stride=\(1, 2, 3\) has 3 numbers"),
    ],
)
def test_windows_that_do_not_fit_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(random(4, 4)).max_pool2d(**options)
