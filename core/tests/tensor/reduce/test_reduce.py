from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.transforms import grad, vmap
from plugrad.uop import Ops

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4, 5)).astype(np.float32)
AXES = [None, 0, -1, (0, 2), (2, 1), (0, 1, 2), ()]


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_reductions_are_those_of_numpy(name: str, axis: Any, keepdim: bool) -> None:
    expected = getattr(np, name)(X, axis=axis, keepdims=keepdim)
    out = getattr(Tensor(X), name)(axis, keepdim)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", ["PYTHON", None])
@pytest.mark.parametrize("dtype", ["fp8e4m3fnuz", "fp8e5m2fnuz", "fp8e4m3", "fp8e5m2"])
def test_floats_of_a_byte_have_greatest_values_where_they_have_no_infinity(dtype: str, device: Any) -> None:
    rows = [[-1.0, -2.0, 3.0, -4.0], [-8.0, -2.0, -1.0, -16.0]] * 6
    x = Tensor(rows, device=device).cast(dtype)
    assert (x.max().cast("float32").item(), x.min().cast("float32").item()) == (3, -16)
    assert x.cummax(1)[0][:2].cast("float32").tolist() == [[-1, -1, 3, 3], [-8, -2, -1, -1]]
    windows = x[:2].reshape(1, 1, 2, 4).max_pool2d(2, padding=1)
    assert windows.cast("float32").tolist() == [[[[-1, 3, -4], [-8, -1, -16]]]]


@pytest.mark.parametrize("axis", [None, 1, (0, 2)], ids=str)
def test_variance_is_that_of_torch(axis: Any) -> None:
    x = torch.tensor(X)
    for correction in (0, 1, 2, 0.5, -1.5):
        expected = torch.var(x, dim=axis, correction=correction).numpy()
        np.testing.assert_allclose(Tensor(X).var(axis, correction=correction).numpy(), expected, rtol=1e-5)
        expected = torch.std(x, dim=axis, correction=correction, keepdim=True).numpy()
        np.testing.assert_allclose(
            Tensor(X).std(axis, keepdim=True, correction=correction).numpy(), expected, rtol=1e-5
        )


def test_variance_of_numbers_far_from_zero_keeps_its_digits() -> None:
    np.testing.assert_allclose(Tensor([10000.0, 10001.0, 10002.0]).var().item(), 1.0, rtol=1e-6)


@pytest.mark.parametrize("size", [1_000_000, 999_983])
def test_long_sums_keep_their_digits(size: int) -> None:
    same = np.full(size, 0.1, np.float32)
    np.testing.assert_allclose(Tensor(same).sum().item(), same.sum(dtype=np.float64), rtol=5e-6)
    columns = np.stack([same, same * 3], 1)
    np.testing.assert_allclose(Tensor(columns).sum(0).numpy(), columns.sum(0, dtype=np.float64), rtol=5e-6)
    far = np.arange(size, dtype=np.float32) % 97 + 10000
    np.testing.assert_allclose(Tensor(far).mean().item(), far.mean(dtype=np.float64), rtol=5e-6)
    np.testing.assert_allclose(Tensor(far).var().item(), far.var(dtype=np.float64, ddof=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("bool", "int64"), ("int8", "int64"), ("uint8", "uint64"), ("int32", "int64"), ("uint64", "uint64"),
        ("float16", "float16"), ("bfloat16", "bfloat16"), ("float32", "float32"), ("float64", "float64"),
    ],
)  # fmt: skip
def test_sums_do_not_overflow_where_their_dtype_is_narrow(dtype: str, expected: str) -> None:
    total = Tensor.ones(300, dtype=dtype).sum()
    assert total.dtype.name == expected
    assert total.item() == 300
    assert Tensor([True, True, False]).sum().item() == 2


def test_sums_and_products_of_integers_have_64_bits_as_in_numpy() -> None:
    x = np.full(3, 2**31 - 1, np.int32)
    assert Tensor(x).sum().item() == x.sum()
    assert Tensor(x[:2]).prod().item() == x[:2].prod()
    assert Tensor(x).sum(dtype="int32").item() == x.sum(dtype=np.int32)
    assert (Tensor(x) > 0).count_nonzero().dtype is dtypes.int32


def test_half_sums_accumulate_in_single_precision() -> None:
    x = np.full(5000, 0.1, np.float16)
    assert abs(Tensor(x).sum().item() - float(x.astype(np.float32).sum())) < 0.3
    assert Tensor(np.full(300, 250, np.float16)).mean().item() == 250


def test_a_dtype_may_be_asked_for() -> None:
    out = Tensor([200, 100], dtype="uint8").sum(dtype="uint8")
    assert (out.dtype, out.item()) == (dtypes.uint8, 44)
    assert Tensor([1, 2]).prod(dtype="float64").dtype is dtypes.float64


def test_means_of_integers_are_floats() -> None:
    out = Tensor([1, 2]).mean()
    assert (out.dtype, out.item()) == (dtypes.float32, 1.5)
    assert Tensor([True, False]).mean().item() == 0.5


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16"])
def test_extremes_hold_for_every_dtype(dtype: str) -> None:
    values = np.array([[0, 1], [1, 1]] if dtype == "bool" else [[0, 100], [7, 3]], dtype)
    for name in ("max", "min"):
        out = getattr(Tensor(values), name)(0)
        assert out.dtype.name == dtype
        np.testing.assert_array_equal(out.numpy(), getattr(values, name)(0))
    if np.issubdtype(values.dtype, np.integer):
        limits = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        assert Tensor(limits).min().item() == limits[0]
        assert Tensor(limits).max().item() == limits[1]


def test_nan_is_the_extreme_of_anything() -> None:
    x = Tensor([1.0, float("nan"), 2.0])
    for out in (x.max(), x.min(), x.sum(), x.mean()):
        assert np.isnan(out.item())
    assert Tensor([-np.inf, -np.inf]).max().item() == -np.inf


def test_truth_of_some_and_of_all() -> None:
    x = np.array([[1, 0, 2], [3, 4, 5]], np.int32)
    np.testing.assert_array_equal(Tensor(x).any(0).numpy(), x.any(0))
    np.testing.assert_array_equal(Tensor(x).all(1).numpy(), x.all(1))
    assert Tensor(x).any().item() is True
    assert Tensor(x).all(keepdim=True).tolist() == [[False]]
    assert Tensor([0.0, float("nan")]).any().item() is True


def test_reducing_nothing() -> None:
    empty = Tensor.zeros(0, 3)
    assert empty.sum().item() == 0
    assert empty.sum(0).tolist() == [0.0] * 3
    assert empty.prod(0).tolist() == [1.0] * 3
    assert empty.all().item() is True
    assert empty.any().item() is False
    assert np.isnan(empty.mean().item())
    assert empty.sum(1).tolist() == []
    for name in ("max", "min", "argmax"):
        with pytest.raises(
            ShapeError, match=rf"{name[-3:]} over axis 0 of shape \(0, 3\): there are no elements"
        ):
            getattr(empty, name)(0)


@pytest.mark.parametrize("name", ["sum", "max", "mean", "argmax", "softmax", "any", "prod", "logsumexp"])
def test_an_axis_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(AxisError, match=f"{name}: axis 3 is out of range"):
        getattr(Tensor(X), name)(3)


def test_scalars_reduce_to_themselves() -> None:
    t = Tensor(2.5)
    assert t.sum().item() == t.max().item() == t.mean().item() == 2.5
    assert t.softmax().item() == 1.0
    assert t.log_softmax().item() == 0.0


@pytest.mark.parametrize("axis", [None, 0, 1, -1], ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
def test_positions_of_extremes_are_those_of_numpy(axis: int | None, keepdim: bool) -> None:
    x = np.round(X, 0)
    for name in ("argmax", "argmin"):
        out = getattr(Tensor(x), name)(axis, keepdim)
        assert out.dtype is dtypes.int32
        np.testing.assert_array_equal(out.numpy(), getattr(np, name)(x, axis, keepdims=keepdim))


def test_the_first_of_equals_is_found_and_nan_before_anything() -> None:
    assert Tensor([1, 3, 3, 2]).argmax().item() == 1
    assert Tensor([2, 1, 1]).argmin().item() == 1
    assert Tensor([1.0, float("nan"), 5.0, float("nan")]).argmax().item() == 1
    assert Tensor([1.0, float("nan"), -5.0]).argmin().item() == 1
    assert Tensor([-np.inf, -np.inf]).argmax().item() == 0
    assert Tensor([True, False]).argmin().item() == 1
    assert Tensor([3, 255, 7], dtype="uint8").argmax().item() == 1


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_is_that_of_torch(axis: int) -> None:
    x = torch.tensor(X * 10)
    np.testing.assert_allclose(
        Tensor(X * 10).softmax(axis).numpy(), x.softmax(axis).numpy(), rtol=1e-5, atol=1e-7
    )
    expected = x.log_softmax(axis).numpy()
    np.testing.assert_allclose(Tensor(X * 10).log_softmax(axis).numpy(), expected, rtol=1e-5, atol=1e-6)
    expected = x.logsumexp(axis, keepdim=True).numpy()
    np.testing.assert_allclose(Tensor(X * 10).logsumexp(axis, keepdim=True).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_has_the_derivatives_of_torch(axis: int) -> None:
    t, u = Tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    weights = np.cos(X)
    (slope,) = t.softmax(axis).mul(Tensor(weights)).sum().gradient(t)
    (expected,) = torch.autograd.grad((u.softmax(axis) * torch.tensor(weights)).sum(), u, create_graph=True)
    (curve,) = slope.square().sum().gradient(t)
    (bent,) = torch.autograd.grad(expected.square().sum(), u)
    np.testing.assert_allclose(slope.numpy(), expected.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(curve.numpy(), bent.numpy(), atol=1e-6)
    per_row = vmap(grad(lambda row, w: (row.softmax() * w).sum()))(t, Tensor(weights))
    (rows,) = torch.autograd.grad((u.softmax(-1) * torch.tensor(weights)).sum(), u)
    np.testing.assert_allclose(per_row.numpy(), rows.numpy(), atol=1e-6)


def test_the_gradient_of_softmax_is_made_of_its_results() -> None:
    x = Tensor.empty(3, 5)
    (gradient,) = x.softmax().square().sum().gradient(x)
    assert [u.op for u in resolve_graph(gradient.uop)].count(Ops.EXP) == 1
    nothing = Tensor(2.0, requires_grad=True)
    assert nothing.softmax().gradient(nothing)[0].item() == 0.0


def test_softmax_of_large_numbers_does_not_overflow() -> None:
    np.testing.assert_allclose(Tensor([1000.0, 1000.0, -1000.0]).softmax().numpy(), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(Tensor([1e4, 0.0]).log_softmax().numpy(), [0.0, -1e4])
    assert Tensor([-np.inf, -np.inf]).logsumexp().item() == -np.inf
    assert Tensor([np.inf, 0.0]).logsumexp().item() == np.inf
    assert Tensor([-np.inf, 0.0]).softmax().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_softmax_of_narrow_floats_sums_in_single_precision(dtype: str) -> None:
    out = Tensor.zeros(1000, dtype=dtype).softmax()
    assert out.dtype.name == dtype
    np.testing.assert_allclose(out.numpy(), 1e-3, rtol=4e-3)
    assert Tensor([1, 1]).softmax().tolist() == [0.5, 0.5]
    assert Tensor([1.0, 1.0], dtype=dtype).softmax(dtype="float64").dtype is dtypes.float64


@pytest.mark.parametrize("correction", [3, 3.5, 7])
def test_a_divisor_of_variances_is_never_negative(correction: float) -> None:
    assert Tensor([1.0, 2.0, 1.0]).var(correction=correction).item() == float("inf")
    assert np.isnan(Tensor([1.0, 1.0, 1.0]).std(correction=correction).item())


def test_deviations_of_equal_numbers_have_no_slope() -> None:
    x = Tensor([[1.0, 1.0], [2.0, 4.0]], requires_grad=True)
    x.std(1).sum().backward()
    t = torch.tensor([[1.0, 1.0], [2.0, 4.0]], requires_grad=True)
    t.std(1).sum().backward()
    assert x.grad is not None
    assert t.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-6)


def test_logsumexp_of_nothing_is_minus_infinity() -> None:
    assert Tensor.zeros(2, 0).logsumexp(1).tolist() == [-float("inf")] * 2


def test_flags_are_true_or_false_and_no_axes() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    for wrong in (
        lambda: x.sum(0, np.float32),
        lambda: x.max(0, keepdim="no"),
        lambda: x.sum(keepdim=np.array([1, 0])),
        lambda: x.sort(descending=np.array([1, 2])),
        lambda: x.topk(2, largest="no"),
    ):
        with pytest.raises(ArgumentError, match="is neither True nor False"):
            wrong()
    assert x.sum(0, keepdim=np.True_).shape == (1, 2)
    with pytest.raises(AxisError, match=r"var: axis=False is no axis\. Pass an integer, and flags by name"):
        x.var(False)
    with pytest.raises(ArgumentError, match="var: 0 follows the axis"):
        x.var(1, 0)  # pyright: ignore[reportArgumentType]


def test_flags_of_variances_by_position_are_those_of_torch() -> None:
    x, y = Tensor(X), torch.tensor(X)
    for name in ("var", "std"):
        for flags in ((False,), (True,), (False, True), (True, True)):
            ours, theirs = getattr(x, name)(1, *flags), getattr(y, name)(1, *flags)
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


@pytest.mark.parametrize("keepdim", [False, True])
def test_extremes_along_dim_come_with_their_positions_as_in_torch(keepdim: bool) -> None:
    x = np.array([[3, 7, 7], [9, 1, 1]], np.float32)
    for name in ("max", "min"):
        ours, theirs = (getattr(t, name)(dim=1, keepdim=keepdim) for t in (Tensor(x), torch.tensor(x)))
        assert ours.values.tolist() == theirs.values.tolist()
        assert ours.indices.shape == tuple(theirs.indices.shape)
        taken = np.take_along_axis(x, ours.indices.numpy().reshape(2, 1), 1)
        assert taken.ravel().tolist() == ours.values.flatten().tolist()
    with pytest.raises(AxisError, match="max: axis 5"):
        Tensor(x).max(dim=5)
    with pytest.raises(AxisError, match="is no axis"):
        Tensor(x).max(dim=(0, 1))  # pyright: ignore[reportArgumentType]


def test_a_mean_is_of_the_dtype_that_is_asked_for() -> None:
    mean = Tensor([1, 2]).mean(0, dtype="float64")
    assert (mean.dtype.name, mean.item()) == ("float64", 1.5)


@pytest.mark.parametrize("name", ["max", "argmax", "argmin", "median", "nanmedian", "quantile"])
def test_what_has_no_elements_is_named_by_its_own_shape(name: str) -> None:
    fraction = [0.5] if name == "quantile" else []
    with pytest.raises(ShapeError, match=rf"{name} over axis None of shape \(2, 0, 3\): there are no"):
        getattr(Tensor.zeros(2, 0, 3), name)(*fraction)
