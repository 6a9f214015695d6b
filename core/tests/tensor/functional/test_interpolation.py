"""Tests of plugrad.tensor.functional.interpolation, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, ShapeError

RNG = np.random.default_rng(0)


def compare(x: Any, ours: dict[str, Any], gradient: bool = True) -> None:
    theirs = dict(ours)
    axes = x.ndim - 2
    if theirs["mode"] == "linear":
        theirs["mode"] = ("linear", "bilinear", "trilinear")[axes - 1]
    if theirs["mode"] in ("nearest", "nearest-exact", "area"):
        theirs.pop("align_corners", None)
    mine, other = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    out, expected = mine.interpolate(**ours), F.interpolate(other, **theirs)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    if gradient:
        out.square().sum().backward()
        expected.square().sum().backward()
        assert mine.grad is not None
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "area"])
@pytest.mark.parametrize(
    ("shape", "size"),
    [((2, 3, 7), 5), ((1, 2, 5, 4), (8, 3)), ((1, 1, 3, 4, 2), (5, 2, 4)), ((1, 1, 4, 3), (8, 9))],
)
def test_sizes_are_those_of_torch(mode: Any, shape: Any, size: Any) -> None:
    compare(RNG.standard_normal(shape).astype(np.float32), {"size": size, "mode": mode}, len(shape) < 5)


@pytest.mark.parametrize("options", [{}, {"align_corners": True}], ids=str)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.wide_on_cpu
def test_corners_and_cubics_are_those_of_torch(mode: Any, options: Any) -> None:
    for size in ((4, 9), (7, 1), (3, 3)):
        x = RNG.standard_normal((1, 2, 6, 5)).astype(np.float32)
        compare(x, {"size": size, "mode": mode, **options}, size == (4, 9))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
@pytest.mark.parametrize("factor", [2, 0.5, 1.7, (0.6, 3.0)])
def test_factors_are_those_of_torch(mode: Any, factor: Any) -> None:
    x = RNG.standard_normal((1, 2, 7, 6)).astype(np.float32)
    compare(x, {"scale_factor": factor, "mode": mode}, gradient=False)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.wide_on_cpu
def test_antialiasing_is_that_of_torch(mode: Any, align_corners: bool) -> None:
    for size in ((4, 3), (9, 5), (3, 12)):
        x = RNG.standard_normal((1, 2, 11, 8)).astype(np.float32)
        options = {"size": size, "mode": mode, "antialias": True, "align_corners": align_corners}
        compare(x, options, size == (4, 3))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("recompute", [True, False])
def test_factors_may_be_computed_again(mode: Any, recompute: bool) -> None:
    options: Any = {"scale_factor": (1.3, 0.7), "mode": mode, "recompute_scale_factor": recompute}
    compare(RNG.standard_normal((1, 2, 7, 6)).astype(np.float32), options)


@pytest.mark.parametrize(("mode", "antialias"), [("bilinear", False), ("bilinear", True), ("bicubic", True)])
def test_an_axis_that_keeps_its_size_is_left_alone_as_in_torch(mode: Any, antialias: bool) -> None:
    x = RNG.standard_normal((1, 2, 3, 3)).astype(np.float32)
    # values only: PyTorch's gradient is that of another size here
    compare(x, {"scale_factor": (1.3, 1.7), "mode": mode, "antialias": antialias}, gradient=False)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("factor", [1.3, 2.1])
def test_nearest_pixels_of_odd_factors_are_those_of_torch(axes: int, factor: float) -> None:
    x = RNG.standard_normal((1, 1, *(3,) * axes)).astype(np.float32)
    compare(x, {"scale_factor": factor, "mode": "nearest"}, gradient=False)


def test_the_gradient_of_whole_repeats_is_one_kernel() -> None:
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    compare(x, {"size": (8, 15), "mode": "nearest"})
    compare(x, {"size": (8, 7), "mode": "nearest"})
    values, weights = Tensor(x).realize(), Tensor(RNG.standard_normal((2, 3, 8, 15))).realize()
    (gradient,) = (values.interpolate((8, 15)) * weights).sum().gradient(values)
    assert len(gradient.schedule()) == 1


def test_integers_have_neighbours_only() -> None:
    x = Tensor([[[1, 2, 3]]])
    assert x.interpolate(6).tolist() == [[[1, 1, 2, 2, 3, 3]]]
    assert x.interpolate(2, mode="nearest-exact").tolist() == [[[1, 3]]]
    with pytest.raises(DtypeError, match="interpolate with mode='linear' of int32: it takes floats"):
        x.interpolate(6, mode="linear")


def test_halves_are_mixed_in_single() -> None:
    x = RNG.standard_normal((1, 1, 9)).astype(np.float16)
    out = Tensor(x).interpolate(5, mode="linear")
    expected = F.interpolate(torch.tensor(x).float(), 5, mode="linear").half().numpy()
    assert out.dtype.name == "float16"
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 3, "mode": "cubic"}, ArgumentError, "interpolate: mode='cubic' is none of"),
        (
            {"size": 3, "mode": "trilinear"},
            ArgumentError,
            "mode='trilinear' takes 3 axes behind the channels, not 2",
        ),
        ({"size": 3, "align_corners": True}, ArgumentError, "align_corners goes with linear and cubic modes"),
        ({"size": 3, "antialias": True}, ArgumentError, "antialias goes with 'bilinear' and 'bicubic'"),
        ({}, ArgumentError, "size=None and scale_factor=None. Pass one of them"),
        ({"size": 3, "scale_factor": 2}, ArgumentError, "Pass one of them"),
        ({"scale_factor": -1}, ArgumentError, "scale_factor=-1 is not positive"),
        ({"scale_factor": (1, 2, 3)}, ShapeError, "has 3 numbers"),
        ({"size": (1, 2, 3)}, ShapeError, r"size=\(1, 2, 3\) has 3 numbers"),
        ({"size": 0}, ShapeError, "all sizes must be at least 1"),
        ({"scale_factor": 0.1}, ShapeError, "all sizes must be at least 1"),
    ],
)
def test_wrong_options_are_refused(options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Tensor.ones(1, 1, 4, 4).interpolate(**options)
    with pytest.raises(ShapeError, match=r"interpolate of shape \(4, 4\)"):
        Tensor.ones(4, 4).interpolate(3)
