"""Tests of plugrad.tensor.functional.pooling, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("axes", "shape", "options"),
    [(1, (2, 3, 8), {}), (2, (2, 3, 6, 8), {"stride": 3}), (3, (1, 2, 4, 4, 6), {}), (2, (1, 1, 7, 7), {})],
)
def test_unpooling_is_that_of_torch(axes: int, shape: Any, options: Any) -> None:
    x = random(*shape)
    values, places = getattr(F, f"max_pool{axes}d")(torch.tensor(x), 2, **options, return_indices=True)
    expected = getattr(F, f"max_unpool{axes}d")(values, places, 2, **options, output_size=shape[-axes:])
    ours, indices = getattr(Tensor(x), f"max_pool{axes}d")(2, **options, return_indices=True)
    out = getattr(ours, f"max_unpool{axes}d")(indices, 2, **options, output_size=shape[-axes:])
    np.testing.assert_array_equal(out.numpy(), expected.numpy())
    if "stride" not in options and 7 not in shape:
        out = getattr(ours, f"max_unpool{axes}d")(indices, 2)
        np.testing.assert_array_equal(out.numpy(), expected.numpy())


def test_places_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"max_unpool2d of shape \(2, 2\) with indices \(2,\)"):
        Tensor(random(2, 2)).max_unpool2d(Tensor([1, 2]))
    with pytest.raises(DtypeError, match=r"with indices .* of float32"):
        Tensor(random(2, 2)).max_unpool2d(Tensor(random(2, 2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_size": 0}, "max_unpool2d: kernel size 0, stride 0 and dilation 1 must each be at least 1"),
        ({"stride": -1}, "max_unpool2d: kernel size 2, stride -1 and dilation 1 must each be at least 1"),
        (
            {"dilation": (1, 0)},
            "max_unpool2d: kernel size 2, stride 2 and dilation 0 must each be at least 1",
        ),
        ({"padding": -1}, r"max_unpool2d: padding .* is negative"),
        ({"padding": 2}, r"and padding=\(2, 2\) gives axes of \(0, 0\)\. Pad less"),
        ({"output_size": (4, 0)}, r"gives axes of \(4, 0\)\. Pad less"),
        ({"output_size": (-4, 4)}, r"gives axes of \(-4, 4\)\. Pad less"),
    ],
    ids=str,
)
def test_windows_that_are_none_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(random(2, 2)).max_unpool2d(Tensor([[0, 1], [2, 3]]), **options)


def test_values_of_places_outside_are_dropped() -> None:
    out = Tensor([[1.0, 2.0]]).max_unpool1d(Tensor([[1, 9]]))
    assert out.tolist() == [[0.0, 1.0, 0.0, 0.0]]


def test_no_windows_give_no_elements() -> None:
    assert Tensor.zeros(2, 0, 3).max_unpool2d(Tensor.zeros(2, 0, 3, dtype="int32")).shape == (2, 0, 6)
