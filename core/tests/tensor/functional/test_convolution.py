from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ShapeError
from plugrad_conformance.testing.realize_all import realize_all

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
    realize_all([x.grad for x in ours])
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_padding_may_differ_on_each_side() -> None:
    x, w = random(1, 2, 4, 5), random(3, 2, 3, 3)
    expected = F.conv2d(F.pad(torch.tensor(x), (1, 0, 2, 3)), torch.tensor(w)).numpy()
    np.testing.assert_allclose(
        Tensor(x).conv2d(Tensor(w), padding=(1, 0, 2, 3)).numpy(), expected, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(
        Tensor(x).conv2d(Tensor(w), padding=((2, 3), (1, 0))).numpy(), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("axes", "x_shape", "w_shape", "options"),
    [
        (1, (2, 3, 9), (4, 3, 3), {"stride": 2, "padding": 1}),
        (1, (2, 4, 9), (6, 2, 3), {"groups": 2, "dilation": 2, "padding": "same"}),
        (2, (1, 2, 6, 7), (3, 2, 3, 5), {"padding": "same"}),
        (2, (1, 2, 6, 7), (3, 2, 2, 3), {"padding": "valid", "stride": 2}),
        (3, (1, 2, 4, 5, 4), (4, 1, 2, 3, 2), {"groups": 2, "padding": (1, 0, 1), "stride": (1, 2, 1)}),
        (3, (1, 1, 4, 4, 5), (2, 1, 2, 2, 3), {"dilation": 2}),
    ],
)
def test_convolutions_over_any_axes_are_those_of_torch(
    axes: int, x_shape: Any, w_shape: Any, options: Any
) -> None:
    x, w, b = random(*x_shape), random(*w_shape), random(w_shape[0])
    ours = [Tensor(a, requires_grad=True) for a in (x, w, b)]
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, w, b)]
    out = getattr(ours[0], f"conv{axes}d")(*ours[1:], **options)
    expected = getattr(F, f"conv{axes}d")(*theirs, **options)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours[0].conv2d(*ours[1:], **options).numpy(), out.numpy())
    out.square().sum().backward()
    expected.square().sum().backward()
    realize_all([x.grad for x in ours])
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_an_even_window_of_the_same_size_reaches_farther_behind() -> None:
    x, w = Tensor([[[1.0, 2.0, 3.0]]]), Tensor([[[1.0, 10.0]]])
    assert x.conv1d(w, padding="same").tolist() == [[[21.0, 32.0, 3.0]]]


def test_one_image_needs_no_axis_of_a_batch() -> None:
    x, w, bias = random(4, 5, 6), random(6, 2, 3, 2), random(6)
    options: Any = {"groups": 2, "stride": (2, 1), "padding": (1, 0)}
    expected = F.conv2d(*map(torch.tensor, (x, w, bias)), **options).numpy()
    out = Tensor(x).conv2d(Tensor(w), Tensor(bias), **options)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
    w, bias = random(4, 3, 3, 2), random(6)
    expected = F.conv_transpose2d(*map(torch.tensor, (x, w, bias)), **options).numpy()
    out = Tensor(x).conv_transpose2d(Tensor(w), Tensor(bias), **options)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert Tensor(x).conv1d(Tensor(random(2, 5, 3))).shape == (4, 2, 4)
    assert Tensor(x[0]).conv1d(Tensor(random(2, 5, 3))).shape == (2, 4)


def test_half_precision_convolves_in_single() -> None:
    x, w = random(1, 8, 4, 4), random(2, 8, 3, 3)
    out = Tensor(x).half().conv2d(Tensor(w).half())
    expected = F.conv2d(torch.tensor(x).half().float(), torch.tensor(w).half().float()).half().float().numpy()
    assert out.dtype.name == "float16"
    np.testing.assert_allclose(out.numpy(), expected, rtol=2e-3, atol=2e-3)


def test_windows_are_never_written_to_memory() -> None:
    x, w = Tensor(random(1, 2, 5, 5)).realize(), Tensor(random(3, 2, 3, 3)).realize()
    assert len(x.conv2d(w).schedule()) == 1


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "options", "message"),
    [
        ((4, 4), (1, 3, 2, 2), {}, r"conv2d of shape \(4, 4\): it takes images \(N, C, H, W\)"),
        ((4, 3, 3), (1, 3, 2, 2), {}, r"conv2d of shape \(4, 3, 3\) .* are 4 channels, the weight takes 3"),
        ((1, 3, 4, 4), (3, 2, 2), {}, r"conv2d: weight of shape \(3, 2, 2\)"),
        ((1, 3, 4, 4), (2, 2, 2, 2), {}, "there are 3 channels, the weight takes 2"),
        ((1, 4, 4, 4), (3, 2, 2, 2), {"groups": 2}, "groups must divide 3"),
        ((1, 1, 2, 2), (1, 1, 3, 3), {}, "a window of 3 .* does not fit into an axis of 2. Use padding"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"stride": 0}, "stride 0 and dilation 1 must each be at least 1"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"stride": (1, 2, 3)}, r"stride=\(1, 2, 3\) has 3 numbers"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": (1, 2, 3)}, r"padding=\(1, 2, 3\) has 3 numbers"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": -1}, r"conv2d: padding \(\(-1, -1\), .* is negative"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": (1, 0, 0, -2)}, r"conv2d: padding \(\(0, -2\), \(1, 0\)\)"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": "full"}, "conv2d: padding=full. Pass one width"),
        ((1, 1, 4, 4), (1, 1, 2, 2), {"padding": "same", "stride": 2}, "padding='same' with stride"),
        ((1, 1), (1, 1), {}, "conv2d: weight of shape"),
    ],
)
def test_what_does_not_fit_is_refused(x_shape: Any, w_shape: Any, options: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(random(*x_shape)).conv2d(Tensor(random(*w_shape)), **options)


def test_what_libraries_have_in_different_orders_is_given_by_name() -> None:
    x, w, b = Tensor(random(1, 2, 4, 4)), Tensor(random(2, 2, 3, 3)), Tensor(random(2))
    for call in (
        lambda: x.conv_transpose2d(w, b, 2, 1),
        lambda: x.max_pool2d(2, 2, 1),
        lambda: x.avg_pool2d(2, 2, 1),
        lambda: x.max_unpool2d(x.int(), 2, 2, 0),
    ):
        with pytest.raises(TypeError, match="positional argument"):
            call()


def test_what_follows_the_bias_by_position_is_in_the_order_of_torch() -> None:
    x, w, b = random(1, 4, 7, 7), random(2, 2, 3, 3), random(2)
    ours = Tensor(x).conv2d(Tensor(w), Tensor(b), 2, 1, 2, 2)
    theirs = torch.nn.functional.conv2d(*map(torch.tensor, (x, w, b)), 2, 1, 2, 2)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-5)
    assert Tensor(x).conv2d(Tensor(w), None, 2, 1, groups=2).shape == (1, 2, 4, 4)
