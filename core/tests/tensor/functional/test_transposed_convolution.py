"""Tests of plugrad.tensor.functional.transposed_convolution, against torch."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ShapeError
from plugrad.events import KernelEvent, subscribe
from plugrad.uop import Ops
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


TRANSPOSED: list[tuple[int, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (1, (2, 3, 5), (3, 4, 3), {}),
    (1, (2, 4, 5), (4, 3, 3), {"groups": 2, "stride": 3, "output_padding": 2, "padding": 1}),
    (2, (2, 3, 4, 5), (3, 2, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    (2, (1, 4, 4, 3), (4, 2, 2, 3), {"groups": 2, "stride": (2, 1), "dilation": (1, 2), "padding": (0, 1)}),
    (2, (1, 2, 4, 4), (2, 2, 2, 2), {"stride": 3, "dilation": 2, "padding": 3, "output_padding": (2, 1)}),
    (3, (1, 2, 3, 2, 3), (2, 3, 2, 3, 2), {"stride": 2, "padding": (0, 1, 0)}),
    # phases of their own reach: of equal kernels, with an uneven cut, in groups, of kernels that differ
    (2, (2, 3, 4, 4), (3, 2, 4, 4), {"stride": 2, "padding": 1}),
    (2, (1, 2, 3, 4), (2, 3, 6, 4), {"stride": (3, 2), "padding": (2, 1), "output_padding": (1, 0)}),
    (1, (2, 4, 7), (4, 2, 6), {"groups": 2, "stride": 3, "padding": 3, "output_padding": 0}),
    (2, (1, 2, 3, 3), (2, 2, 5, 3), {"stride": (3, 2), "padding": 1, "output_padding": (1, 1)}),
    # products are folded: few output channels, also in groups, uneven cuts, axes, more results
    (2, (2, 8, 4, 5), (8, 2, 3, 3), {"stride": 2, "padding": 1, "output_padding": (1, 0)}),
    (2, (2, 16, 4, 3), (16, 1, 3, 5), {"groups": 2, "stride": 2, "padding": (0, 2)}),
    (1, (2, 8, 7), (8, 1, 5), {"stride": 3, "padding": 2, "output_padding": 1}),
    (3, (1, 4, 3, 2, 3), (4, 1, 3, 3, 2), {"stride": (2, 2, 1), "padding": (1, 0, 1)}),
]


@pytest.mark.parametrize(("axes", "x_shape", "w_shape", "options"), TRANSPOSED)
def test_transposed_convolutions_are_those_of_torch(
    axes: int, x_shape: Any, w_shape: Any, options: Any
) -> None:
    arrays = random(*x_shape), random(*w_shape), random(w_shape[1] * options.get("groups", 1))
    ours = [Tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = getattr(ours[0], f"conv_transpose{axes}d")(*ours[1:], **options)
    expected = getattr(F, f"conv_transpose{axes}d")(*theirs, **options)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours[0].conv_transpose2d(*ours[1:], **options).numpy(), out.numpy())
    out.square().sum().backward()
    expected.square().sum().backward()
    realize_all([x.grad for x in ours])
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_steps_kernels_and_widths_of_any_size_are_those_of_torch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes, groups = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    kernel, steps, sizes = (rng.integers(1, most, axes) for most in (6, 5, 7))
    longest = np.minimum(2, ((sizes - 1) * steps + kernel - 1) // 2)
    options: dict[str, Any] = {
        "groups": groups,
        "stride": tuple(steps.tolist()),
        "padding": tuple(rng.integers(0, longest + 1).tolist()),
        "output_padding": tuple(rng.integers(0, steps).tolist()),
    }
    x, weight = random(2 * groups, *sizes), random(2 * groups, 3, *kernel)
    found = getattr(Tensor(x), f"conv_transpose{axes}d")(Tensor(weight), **options)
    expected = getattr(F, f"conv_transpose{axes}d")(torch.tensor(x), torch.tensor(weight), **options)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_folded_products_leave_an_infinity_where_it_is() -> None:
    x = np.ones((1, 4, 5, 5), np.float32)
    x[0, 0, 2, 2] = np.inf
    weight = random(4, 1, 3, 3)
    found = Tensor(x).conv_transpose2d(Tensor(weight), stride=2, padding=1).numpy()
    expected = F.conv_transpose2d(torch.tensor(x), torch.tensor(weight), stride=2, padding=1).numpy()
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    assert not np.isnan(found).any()


def test_folded_products_have_second_derivatives() -> None:
    arrays = random(1, 4, 3, 3), random(4, 1, 3, 3)
    ours = [Tensor(a) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    flow = ours[0].conv_transpose2d(ours[1], stride=2).square().sum().gradient(ours[0])[0]
    found = flow.square().sum().gradient(*ours)
    out = F.conv_transpose2d(*theirs, stride=2).square().sum()
    (slope,) = torch.autograd.grad(out, theirs[:1], create_graph=True)
    for a, b in zip(found, torch.autograd.grad(slope.square().sum(), theirs), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-2)


def test_steps_multiply_no_zeros() -> None:
    x, weight = Tensor.ones(1, 8, 6, 6).contiguous().realize(), Tensor.ones(8, 4, 4, 4).contiguous().realize()
    flops: list[int] = []
    with subscribe(KernelEvent, lambda event: flops.append(event.flops)):
        x.conv_transpose2d(weight, stride=4).realize()
    assert sum(flops) < 1.5 * 2 * weight.numel() * 6 * 6


@pytest.mark.parametrize(
    ("w_shape", "options", "message"),
    [
        ((3, 1, 2, 2), {}, r"conv_transpose2d of shape \(1, 4, 4, 4\) with weight \(3, 1, 2, 2\)"),
        ((4, 1, 2, 2), {"groups": 3}, "and groups must divide 4"),
        ((4, 1, 2, 2), {"output_padding": 1}, "output_padding 1 with stride 1 and dilation 1"),
        ((4, 1, 2, 2), {"stride": 0}, "stride 0 must be at least 1"),
        ((4, 1, 2, 2), {"padding": "same"}, "conv_transpose2d: padding=same. Pass one width"),
        ((4, 1, 2), {}, r"weight of shape \(4, 1, 2\): it takes \(C, O/groups, KH, KW\)"),
        ((4, 1), {}, r"conv_transpose2d: weight of shape \(4, 1\): it takes \(C, O/groups, KH, KW\)"),
    ],
)
def test_transposed_convolutions_that_do_not_fit_are_refused(
    w_shape: Any, options: Any, message: str
) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(random(1, 4, 4, 4)).conv_transpose2d(Tensor(random(*w_shape)), **options)


def test_a_negative_padding_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"conv_transpose1d: padding \(\(-1, -1\),\) .* is negative"):
        Tensor.ones(1, 1, 4).conv_transpose1d(Tensor.ones(1, 1, 2), padding=-1)


def test_phases_compute_what_stays_and_no_more() -> None:
    x, weight = Tensor.empty(1, 2, 4, 4, device="PYTHON"), Tensor.empty(2, 3, 4, 4, device="PYTHON")
    out = x.conv_transpose2d(weight, stride=2, padding=1)
    sums = [u for u in out.uop.toposort() if u.op is Ops.REDUCE_AXIS]
    # 8 x 8 results of 3 channels, each of 2 channels and 2 x 2 elements under the kernel
    assert sum(math.prod(u.src[0].shape) for u in sums) == 8 * 8 * 3 * 2 * 2 * 2
