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


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 6, 7), (4, 3, 3, 3), {}),
    ((2, 3, 6, 7), (4, 3, 3, 2), {"stride": 2}),
    ((1, 3, 6, 7), (4, 3, 2, 3), {"dilation": 2, "padding": 1}),
    ((2, 4, 5, 5), (6, 2, 3, 3), {"groups": 2, "padding": (1, 2)}),
    ((2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4}),
    ((1, 2, 9, 8), (3, 2, 2, 2), {"stride": (3, 2), "dilation": (2, 3)}),
    ((1, 2, 4, 4), (3, 2, 1, 1), {}),
    ((1, 2, 4, 4), (3, 2, 1, 1), {"stride": 3}),
    ((2, 2, 3, 3), (3, 2, 3, 3), {}),
]


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS)
def test_convolutions_are_those_of_torch(x_shape: Any, w_shape: Any, options: Any) -> None:
    x, w, b = random(*x_shape), random(*w_shape), random(w_shape[0])
    expected = F.conv2d(torch.tensor(x), torch.tensor(w), torch.tensor(b), **options).numpy()
    out = Tensor(x).conv2d(Tensor(w), Tensor(b), **options)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS[:6])
def test_gradients_of_convolutions_are_those_of_torch(x_shape: Any, w_shape: Any, options: Any) -> None:
    x, w = random(*x_shape), random(*w_shape)
    ours = Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)
    theirs = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    ours[0].conv2d(ours[1], **options).square().sum().backward()
    F.conv2d(*theirs, **options).square().sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_padding_may_differ_on_each_side() -> None:
    x, w = random(1, 2, 4, 5), random(3, 2, 3, 3)
    expected = F.conv2d(F.pad(torch.tensor(x), (1, 0, 2, 3)), torch.tensor(w)).numpy()
    np.testing.assert_allclose(
        Tensor(x).conv2d(Tensor(w), padding=(1, 0, 2, 3)).numpy(), expected, rtol=1e-4, atol=1e-5
    )


def test_half_precision_convolves_in_single() -> None:
    x, w = random(1, 8, 4, 4), random(2, 8, 3, 3)
    out = Tensor(x).half().conv2d(Tensor(w).half())
    expected = F.conv2d(torch.tensor(x).half().float(), torch.tensor(w).half().float()).half().float().numpy()
    assert out.dtype.name == "float16"
    np.testing.assert_allclose(out.numpy(), expected, rtol=2e-3, atol=2e-3)


POOLS: list[dict[str, Any]] = [
    {"kernel_size": 2}, {"kernel_size": 3}, {"kernel_size": (2, 3), "stride": 1},
    {"kernel_size": 3, "stride": 2}, {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0)},
]  # fmt: skip


@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pools_are_those_of_torch(options: Any) -> None:
    x = random(2, 3, 7, 8)
    np.testing.assert_array_equal(
        Tensor(x).max_pool2d(**options).numpy(), F.max_pool2d(torch.tensor(x), **options).numpy()
    )
    for include in (True, False):
        expected = F.avg_pool2d(torch.tensor(x), **options, count_include_pad=include).numpy()
        out = Tensor(x).avg_pool2d(**options, count_include_pad=include).numpy()
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


def test_pools_may_be_dilated() -> None:
    x = random(1, 1, 7, 8)
    expected = F.max_pool2d(torch.tensor(x), 2, stride=1, dilation=3).numpy()
    np.testing.assert_array_equal(Tensor(x).max_pool2d(2, 1, 3).numpy(), expected)


@pytest.mark.parametrize("options", POOLS[:4], ids=str)
def test_gradients_of_pools_are_those_of_torch(options: Any) -> None:
    x = random(1, 2, 6, 7)
    for name in ("max_pool2d", "avg_pool2d"):
        ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        getattr(ours, name)(**options).square().sum().backward()
        getattr(F, name)(theirs, **options).square().sum().backward()
        assert ours.grad is not None
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_pools_of_integers() -> None:
    x = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    assert Tensor(x).max_pool2d(3, 2, padding=1).tolist() == [[[[-3, -1], [5, 7]]]]
    assert Tensor(x).avg_pool2d().tolist() == [[[[-5.5, -3.5], [2.5, 4.5]]]]


def test_windows_are_never_written_to_memory() -> None:
    x, w = Tensor(random(1, 2, 5, 5)).realize(), Tensor(random(3, 2, 3, 3)).realize()
    assert len(x.conv2d(w).schedule()) == 1
    assert len(x.max_pool2d().schedule()) == 1


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "options", "message"),
    [
        ((3, 4, 4), (1, 3, 2, 2), {}, r"conv2d of shape \(3, 4, 4\): it takes images \(N, C, H, W\)"),
        ((1, 3, 4, 4), (3, 2, 2), {}, r"conv2d: weight of shape \(3, 2, 2\)"),
        ((1, 3, 4, 4), (2, 2, 2, 2), {}, r"the images have 3 channels, the weight takes 2 \* 1"),
        ((1, 4, 4, 4), (3, 2, 2, 2), {"groups": 2}, "gives 3, which 2 must divide"),
        ((1, 1, 2, 2), (1, 1, 3, 3), {}, "a window of 3 .* does not fit into an axis of 2. Use padding"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"stride": 0}, "stride 0 and dilation 1 must each be at least 1"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"stride": (1, 2, 3)}, r"stride=\(1, 2, 3\) has 3 numbers"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": (1, 2, 3)}, r"padding=\(1, 2, 3\) has 3 numbers"),
    ],
)
def test_what_does_not_fit_is_refused(x_shape: Any, w_shape: Any, options: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(random(*x_shape)).conv2d(Tensor(random(*w_shape)), **options)
