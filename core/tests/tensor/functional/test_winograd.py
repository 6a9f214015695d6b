"""Tests of plugrad.tensor.functional.winograd, against the sums that it replaces."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, context
from plugrad.tensor.functional import convolution
from plugrad.tensor.functional.winograd import pays_winograd
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "options"),
    [
        ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": 1}),
        ((1, 4, 7, 10), (6, 2, 3, 3), {"groups": 2}),
        ((1, 1, 3, 3), (1, 1, 3, 3), {}),
        ((1, 8, 6, 5), (2, 8, 3, 3), {"padding": (2, 0, 1, 1)}),
    ],
)
def test_winograd_is_convolution_within_its_tolerance(
    x_shape: Any, w_shape: Any, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # small ones are faster without it
    monkeypatch.setattr(convolution, "pays_winograd", lambda *arguments: True)
    x, w, b = (RNG.standard_normal(s).astype(np.float32) for s in (x_shape, w_shape, w_shape[:1]))
    ours = [Tensor(a, requires_grad=True) for a in (x, w, b)]
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, w, b)]
    with context(WINO=1):
        out = ours[0].conv2d(*ours[1:], **options)
        out.square().sum().backward()
    image = theirs[0]
    if len(np.shape(options.get("padding", 0))) and len(options["padding"]) == 4:
        image, options = F.pad(image, options["padding"]), {}
    expected = F.conv2d(image, *theirs[1:], **options)
    expected.square().sum().backward()
    greatest = np.abs(expected.detach().numpy()).max()
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=0, atol=1e-4 * greatest)
    realize_all([x.grad for x in ours])
    for a, other in zip(ours, theirs, strict=True):
        assert a.grad is not None
        greatest = np.abs(other.grad.numpy()).max()
        np.testing.assert_allclose(a.grad.numpy(), other.grad.numpy(), rtol=0, atol=1e-3 * greatest)


def test_other_windows_are_convolved_as_without_it() -> None:
    x = Tensor(RNG.standard_normal((1, 2, 8, 8)).astype(np.float32))
    for w_shape, options in (
        ((1, 2, 3, 3), {"stride": 2}),
        ((1, 2, 2, 3), {}),
        ((1, 2, 3, 3), {"dilation": 2}),
    ):
        w = Tensor(RNG.standard_normal(w_shape).astype(np.float32))
        plain = x.conv2d(w, **options)
        with context(WINO=1):
            assert x.conv2d(w, **options).uop is plain.uop


@pytest.mark.parametrize(
    ("channels", "size", "batch", "pays"),
    # maps of ResNet-18: the last one has few pieces, whose transformed kernels are much to load
    [
        (64, 56, 1, True),
        (128, 28, 1, True),
        (256, 14, 1, True),
        (512, 7, 1, False),
        (512, 7, 8, True),
        (2, 56, 1, False),
    ],
)
def test_winograd_is_taken_where_transforms_cost_less_than_they_save(
    channels: int, size: int, batch: int, pays: bool
) -> None:
    x = Tensor.empty(batch, channels, size + 2, size + 2, device="PYTHON")
    weight = Tensor.empty(channels, channels, 3, 3, device="PYTHON")
    assert pays_winograd(x.uop, weight.uop, 1) == pays
    with context(WINO=1):
        changed = x.conv2d(weight).uop
    assert (changed is not x.conv2d(weight).uop) == pays
