"""Tests of plugrad.tensor.functional.pooling, against torch."""

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.transforms import jvp, vmap
from plugrad.uop.ops import Ops

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def test_pools_may_be_dilated() -> None:
    x = random(1, 1, 7, 8)
    for options in ({"padding": 0}, {"padding": 1}, {"padding": 1, "ceil_mode": True}):
        expected, places = F.max_pool2d(
            torch.tensor(x), 2, stride=2, dilation=3, return_indices=True, **options
        )
        values, indices = Tensor(x).max_pool2d(2, 2, dilation=3, return_indices=True, **options)
        np.testing.assert_array_equal(values.numpy(), expected.numpy())
        np.testing.assert_array_equal(indices.numpy(), places.numpy())


def test_a_window_of_as_many_numbers_pools_as_many_axes() -> None:
    x = random(2, 3, 8)
    np.testing.assert_array_equal(
        Tensor(x).max_pool2d((2,)).numpy(), F.max_pool1d(torch.tensor(x), 2).numpy()
    )
    np.testing.assert_array_equal(Tensor(x).max_pool2d().numpy(), F.max_pool2d(torch.tensor(x), 2).numpy())


def test_the_place_of_nan_and_the_first_of_equals_is_found() -> None:
    x = np.array([[[1, 1, np.nan, 2], [1, 0, 3, np.nan]]], np.float32)
    expected, places = F.max_pool2d(torch.tensor(x), 2, return_indices=True)
    values, indices = Tensor(x).max_pool2d(2, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), expected.numpy())
    assert indices.tolist()[0][0][0] == places.tolist()[0][0][0] == 0
    assert indices.tolist()[0][0][1] in (2, 7)
    lowest = Tensor([[[float("-inf")] * 2] * 2]).max_pool2d(2, padding=1, return_indices=True)[1]
    assert lowest.tolist() == [[[0, 1], [2, 3]]]


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 1, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
        {"kernel_size": 2, "stride": 3},
        {"kernel_size": 3, "stride": 1, "dilation": 2, "padding": (1, 0)},
    ],
    ids=str,
)
def test_the_first_of_equal_values_gets_the_gradient(options: Any) -> None:
    x = random(1, 2, 6, 6).round()
    x[0, 1, 2, 2] = np.nan
    ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    pairs = (
        (ours.max_pool2d(**options), F.max_pool2d(theirs, **options)),
        (ours.adaptive_max_pool2d((4, 3)), F.adaptive_max_pool2d(theirs, (4, 3))),
    )
    for out, expected in pairs:
        weights = random(*expected.shape)
        (found,) = out.gradient(ours, gradient=Tensor(weights))
        (wanted,) = torch.autograd.grad(expected, theirs, torch.tensor(weights))
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "padding": 1}], ids=str
)
def test_an_element_asks_only_the_windows_it_may_lie_in(options: Any) -> None:
    x = Tensor(random(1, 1, 8, 8), requires_grad=True)
    (found,) = x.max_pool2d(**options).sum().gradient(x)
    sums = [u for u in found.uop.toposort() if u.op is Ops.REDUCE_AXIS and u.arg[0] is Ops.ADD]
    most = -(-options["kernel_size"] // options.get("stride", options["kernel_size"]))
    terms = [prod(u.src[0].shape[axis] for axis in u.arg[1]) for u in sums]
    assert terms == ([most**2] if most > 1 else [])


def test_the_gradient_of_a_pool_can_be_differentiated() -> None:
    value = random(1, 1, 6, 6)
    x, other = Tensor(value, requires_grad=True), torch.tensor(value, requires_grad=True)
    (found,) = (x * x).max_pool2d(3, 2, padding=1).sum().gradient(x)
    (second,) = (found * found).sum().gradient(x)
    pooled = F.max_pool2d(other * other, 3, 2, 1).sum()
    (wanted,) = torch.autograd.grad(pooled, other, create_graph=True)
    (expected,) = torch.autograd.grad((wanted * wanted).sum(), other)
    np.testing.assert_allclose(second.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_pools_can_be_batched_and_pushed_forward() -> None:
    x, v = Tensor(random(3, 1, 4, 4)), Tensor(random(3, 1, 4, 4))

    def pool(x: Tensor) -> Tensor:
        return x.max_pool2d()

    values, places = x.max_pool2d(return_indices=True)
    assert (vmap(pool)(x) == values).all().item()
    out, tangent = jvp(pool, (x,), (v,))
    assert (out == values).all().item()
    assert (tangent == v.flatten(2).gather(2, places.flatten(2)).reshape(*places.shape)).all().item()


def test_the_same_pool_is_the_same_graph() -> None:
    x = Tensor(random(1, 1, 4, 4))
    assert x.max_pool2d().uop is x.max_pool2d().uop


def test_a_last_window_may_be_greater_than_the_axis() -> None:
    x = random(1, 1, 3, 7)
    options: Any = {"kernel_size": (3, 1), "stride": 3, "dilation": 2, "ceil_mode": True}
    out = Tensor(x).max_pool2d(**options)
    np.testing.assert_array_equal(out.numpy(), F.max_pool2d(torch.tensor(x), **options).numpy())
