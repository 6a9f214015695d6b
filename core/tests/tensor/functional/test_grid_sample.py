"""Tests of plugrad.tensor.functional.grid_sample, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, ShapeError

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.wide_on_cpu
def test_samples_are_those_of_torch(mode: Any, padding_mode: Any, align_corners: bool) -> None:
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    grid = RNG.uniform(-1.8, 1.8, (2, 3, 2, 2)).astype(np.float32)
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    ours = [Tensor(a, requires_grad=True) for a in (x, grid)]
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, grid)]
    out, expected = ours[0].grid_sample(ours[1], **options), F.grid_sample(*theirs, **options)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    if padding_mode == "border" and mode == "bicubic":
        return
    out.square().sum().backward()
    expected.square().sum().backward()
    for left, right in zip(ours[: 1 if mode == "nearest" else 2], theirs, strict=False):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.wide_on_cpu
def test_samples_of_volumes_are_those_of_torch(mode: Any) -> None:
    x = RNG.standard_normal((1, 2, 3, 4, 2)).astype(np.float32)
    grid = RNG.uniform(-1.3, 1.3, (1, 2, 3, 2, 3)).astype(np.float32)
    expected = F.grid_sample(torch.tensor(x), torch.tensor(grid), mode=mode, align_corners=False)
    out = Tensor(x).grid_sample(Tensor(grid), mode)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize(("n", "channels", "places"), [(0, 2, 3), (1, 0, 3), (1, 2, 0)])
def test_of_no_images_channels_or_places_there_are_no_samples(
    mode: Any, n: int, channels: int, places: int
) -> None:
    x = Tensor.ones(n, channels, 4, 5).contiguous()
    grid = Tensor.zeros(n, places, 2, 2).contiguous()
    out = x.grid_sample(grid, mode)
    assert out.shape == (n, channels, places, 2)
    assert out.sum().gradient(x)[0].tolist() == x.zeros_like().tolist()


def test_places_that_are_no_numbers_are_outside() -> None:
    grid = Tensor([[[[float("nan"), 0.0], [float("inf"), 0.0], [1e30, 0.0]]]])
    assert Tensor.ones(1, 1, 2, 2).grid_sample(grid, "nearest").tolist() == [[[[0.0, 0.0, 0.0]]]]


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_gradients_at_the_ends_are_those_of_torch(padding_mode: Any, align_corners: bool) -> None:
    x = RNG.standard_normal((1, 2, 3, 4)).astype(np.float32)
    ends = np.array([-3.0, -1.0, -0.75, 0.75, 1.0, 3.0], np.float32)
    grid = np.stack(np.meshgrid(ends, ends[::-1]), -1)[None]
    options: Any = {"padding_mode": padding_mode, "align_corners": align_corners}
    ours, theirs = Tensor(grid, requires_grad=True), torch.tensor(grid, requires_grad=True)
    weights = RNG.standard_normal((1, 2, 6, 6)).astype(np.float32)
    (found,) = Tensor(x).grid_sample(ours, **options).gradient(ours, gradient=Tensor(weights))
    expected = F.grid_sample(torch.tensor(x), theirs, **options)
    (wanted,) = torch.autograd.grad(expected, theirs, torch.tensor(weights))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["border", "reflection"])
def test_no_number_is_the_first_place_where_all_are_brought_inside(mode: Any, padding_mode: Any) -> None:
    x, grid = (
        np.arange(1.0, 7.0, dtype=np.float32).reshape(1, 1, 2, 3),
        np.full((1, 1, 1, 2), np.nan, np.float32),
    )
    expected = F.grid_sample(torch.tensor(x), torch.tensor(grid), mode, padding_mode, align_corners=False)
    assert (
        Tensor(x).grid_sample(Tensor(grid), mode, padding_mode).tolist() == expected.tolist() == [[[[1.0]]]]
    )


def test_what_does_not_fit_is_refused() -> None:
    x, grid = Tensor.ones(1, 1, 2, 2), Tensor.ones(1, 2, 2, 2)
    with pytest.raises(
        ShapeError, match=r"grid_sample of shape \(1, 1, 2, 2\) with a grid of shape \(1, 2, 2, 3\)"
    ):
        x.grid_sample(Tensor.ones(1, 2, 2, 3))
    with pytest.raises(ShapeError, match=r"grid of shape \(2, 2, 2, 2\)"):
        x.grid_sample(Tensor.ones(2, 2, 2, 2))
    with pytest.raises(ShapeError, match=r"grid_sample of shape \(1, 1, 0, 2\)"):
        x[:, :, :0].grid_sample(grid)
    with pytest.raises(ArgumentError, match="mode='linear' is none of"):
        x.grid_sample(grid, "linear")
    with pytest.raises(ArgumentError, match="padding_mode='reflect' is none of"):
        x.grid_sample(grid, padding_mode="reflect")
    with pytest.raises(ArgumentError, match="mode='bicubic' takes images"):
        Tensor.ones(1, 1, 2, 2, 2).grid_sample(Tensor.ones(1, 2, 2, 2, 3), "bicubic")
    with pytest.raises(DtypeError, match="grid_sample of int32: it takes floats"):
        x.grid_sample(grid.cast("int32"))
