"""Tests of plugrad.tensor.functional.adaptive, against torch."""

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


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [((2, 3, 7, 8), (3, 5)), ((1, 2, 6, 6), 3), ((1, 2, 5, 4), (7, None)), ((2, 4, 4), 1), ((1, 3, 7, 7), 7)],
)
def test_adaptive_pools_are_those_of_torch(shape: Any, sizes: Any) -> None:
    x = random(*shape)
    ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    out, expected = ours.adaptive_avg_pool2d(sizes), F.adaptive_avg_pool2d(theirs, sizes)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    values, indices = ours.adaptive_max_pool2d(sizes, return_indices=True)
    best, places = F.adaptive_max_pool2d(theirs, sizes, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), best.detach().numpy())
    np.testing.assert_array_equal(indices.numpy(), places.numpy())
    (out.square().sum() + values.square().sum()).backward()
    (expected.square().sum() + best.square().sum()).backward()
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_adaptive_pools_over_one_and_three_axes_are_those_of_torch() -> None:
    x, y = random(2, 3, 10), random(1, 2, 5, 3, 4)
    for name, value, sizes in (("1d", x, 4), ("3d", y, (2, 3, 3))):
        expected = getattr(F, f"adaptive_avg_pool{name}")(torch.tensor(value), sizes).numpy()
        out = getattr(Tensor(value), f"adaptive_avg_pool{name}")(sizes).numpy()
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
        expected = getattr(F, f"adaptive_max_pool{name}")(torch.tensor(value), sizes).numpy()
        np.testing.assert_array_equal(
            getattr(Tensor(value), f"adaptive_max_pool{name}")(sizes).numpy(), expected
        )


def test_means_of_whole_axes_are_one_kernel() -> None:
    assert len(Tensor(random(2, 3, 7, 7)).adaptive_avg_pool2d(1).schedule()) == 1


def test_other_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"adaptive_avg_pool2d: output_size=\(1, 2, 3\)|at least 3 axes"):
        Tensor(random(4, 4)).adaptive_avg_pool2d((1, 2, 3))
    with pytest.raises(ShapeError, match=r"adaptive_max_pool1d of shape \(4, 4\) to \(0,\)"):
        Tensor(random(4, 4)).adaptive_max_pool1d(0)
    with pytest.raises(ShapeError, match=r"adaptive_max_pool1d: output_size=\(1, 2\) has 2 numbers"):
        Tensor(random(4, 4)).adaptive_max_pool1d((1, 2))
