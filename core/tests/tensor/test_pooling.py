"""Tests of plugrad.tensor.pooling, against torch."""

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError
from plugrad.transforms import jvp, vmap
from plugrad.uop.ops import Ops

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


def test_pools_may_be_dilated() -> None:
    x = random(1, 1, 7, 8)
    for options in ({"padding": 0}, {"padding": 1}, {"padding": 1, "ceil_mode": True}):
        expected, places = F.max_pool2d(
            torch.tensor(x), 2, stride=2, dilation=3, return_indices=True, **options
        )
        values, indices = Tensor(x).max_pool2d(2, 2, 3, return_indices=True, **options)
        np.testing.assert_array_equal(values.numpy(), expected.numpy())
        np.testing.assert_array_equal(indices.numpy(), places.numpy())


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


def test_a_window_of_as_many_numbers_pools_as_many_axes() -> None:
    x = random(2, 3, 8)
    np.testing.assert_array_equal(
        Tensor(x).max_pool2d((2,)).numpy(), F.max_pool1d(torch.tensor(x), 2).numpy()
    )
    np.testing.assert_array_equal(Tensor(x).max_pool2d().numpy(), F.max_pool2d(torch.tensor(x), 2).numpy())


def test_pools_of_integers_and_of_halves() -> None:
    x = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    assert Tensor(x).max_pool2d(3, 2, padding=1).tolist() == [[[[-3, -1], [5, 7]]]]
    assert Tensor(x).avg_pool2d().tolist() == [[[[-5.5, -3.5], [2.5, 4.5]]]]
    assert Tensor.full((1, 64, 64), 2000.0, dtype="float16").avg_pool2d(64).item() == 2000.0


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


def test_other_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"adaptive_avg_pool2d: output_size=\(1, 2, 3\)|at least 3 axes"):
        Tensor(random(4, 4)).adaptive_avg_pool2d((1, 2, 3))
    with pytest.raises(ShapeError, match=r"adaptive_max_pool1d of shape \(4, 4\) to \(0,\)"):
        Tensor(random(4, 4)).adaptive_max_pool1d(0)
    with pytest.raises(ShapeError, match=r"adaptive_max_pool1d: output_size=\(1, 2\) has 2 numbers"):
        Tensor(random(4, 4)).adaptive_max_pool1d((1, 2))
    with pytest.raises(ShapeError, match=r"max_unpool2d of shape \(2, 2\) with indices \(2,\)"):
        Tensor(random(2, 2)).max_unpool2d(Tensor([1, 2]))
    with pytest.raises(DtypeError, match=r"with indices .* of float32"):
        Tensor(random(2, 2)).max_unpool2d(Tensor(random(2, 2)))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("divisor", [1, 5, -2])
def test_sums_are_divided_by_another_number_as_in_torch(axes: int, divisor: int) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, *(7,) * axes)).astype(np.float32)
    out = getattr(Tensor(x), f"avg_pool{axes}d")(
        3, 2, padding=1, ceil_mode=True, count_include_pad=False, divisor_override=divisor
    )
    if axes == 1:
        expected = F.avg_pool2d(torch.tensor(x[..., None]), (3, 1), (2, 1), (1, 0), True, False, divisor)[
            ..., 0
        ]
    else:
        function = getattr(F, f"avg_pool{axes}d")
        expected = function(torch.tensor(x), 3, 2, 1, True, False, divisor_override=divisor)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
