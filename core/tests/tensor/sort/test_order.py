from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError

RNG = np.random.default_rng(2)
X = RNG.integers(-4, 4, (3, 40)).astype(np.float32)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "uint32", "int64", "uint64", "float16", "float64"]
)
def test_sorting_is_stable_for_every_dtype(dtype: str) -> None:
    x = RNG.integers(0, 2 if dtype == "bool" else 100, 20).astype(dtype)
    if dtype in ("int8", "int64", "float16", "float64"):
        x = (x - x[3]).astype(dtype)
    if dtype in ("uint32", "int64", "uint64", "float64"):
        x[:4] = [2**31 - 1, 2**31 + 5, 0, 1] if dtype == "uint32" else [2**40, 2**33, 2**62, 1]
    for descending in (False, True):
        values, positions = Tensor(x).sort(descending=descending)
        values.realize(positions)
        expected = np.argsort(x, kind="stable")
        if descending:
            expected = len(x) - 1 - np.argsort(x[::-1], kind="stable")[::-1]
        np.testing.assert_array_equal(positions.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), x[expected])


def test_edge_values_are_in_order() -> None:
    x = np.array([np.nan, 1.0, -np.inf, -0.0, 0.0, np.inf, -1.0, 1e-40, -1e-40, np.nan], np.float32)
    assert Tensor(x).argsort().tolist() == torch.sort(torch.tensor(x), stable=True).indices.tolist()
    theirs = torch.sort(torch.tensor(x), descending=True, stable=True).indices
    assert Tensor(x).argsort(descending=True).tolist() == theirs.tolist()


def test_long_rows_go_through_the_network() -> None:
    x = RNG.integers(0, 500, (2, 700)).astype(np.int32)
    np.testing.assert_array_equal(Tensor(x).argsort(-1).numpy(), np.argsort(x, -1, kind="stable"))
    wide = x.astype(np.int64) * (1 << 33) + x[:, ::-1]
    np.testing.assert_array_equal(Tensor(wide[0]).argsort().numpy(), np.argsort(wide[0], kind="stable"))


def test_axes_other_than_the_last_are_sorted() -> None:
    values, positions = Tensor(X).sort(0, descending=True)
    values.realize(positions)
    expected = torch.sort(torch.tensor(X), dim=0, descending=True, stable=True)
    np.testing.assert_array_equal(values.numpy(), expected.values.numpy())
    np.testing.assert_array_equal(positions.numpy(), expected.indices.numpy())


def test_the_greatest_and_the_least_come_in_order() -> None:
    x = RNG.permutation(50).reshape(2, 25).astype(np.int32)
    for largest in (True, False):
        values, positions = Tensor(x).topk(3, 1, largest)
        expected = torch.topk(torch.tensor(x), 3, 1, largest)
        np.testing.assert_array_equal(values.numpy(), expected.values.numpy())
        np.testing.assert_array_equal(positions.numpy(), expected.indices.numpy())
    with pytest.raises(ArgumentError, match="topk: k=26 of 25 elements on axis 1"):
        Tensor(x).topk(26, 1)


def test_medians_are_those_of_torch() -> None:
    x = RNG.standard_normal((3, 6)).astype(np.float32)
    x[1, 2] = np.nan
    values, positions = Tensor(x).median(1, keepdim=True)
    expected = torch.tensor(x).median(1, keepdim=True)
    np.testing.assert_array_equal(values.numpy(), expected.values.numpy())
    np.testing.assert_array_equal(positions.numpy(), expected.indices.numpy())
    assert Tensor(x[0]).median().item() == torch.tensor(x[0]).median().item()
    assert np.isnan(Tensor(x).median().item())
    assert Tensor(x).median(keepdim=True).shape == (1, 1)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles_are_those_of_torch(interpolation: Any) -> None:
    x = RNG.standard_normal((3, 8)).astype(np.float32)
    x[2, 0] = np.nan
    q = np.array([0.0, 0.3, 0.5, 1.0], np.float32)
    ours = Tensor(x).quantile(Tensor(q), 1, True, interpolation)
    theirs = torch.tensor(x).quantile(torch.tensor(q), 1, True, interpolation=interpolation)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)
    if interpolation == "linear":
        one = Tensor(x[:2]).quantile(0.4)
        np.testing.assert_allclose(one.item(), np.quantile(x[:2], 0.4), rtol=1e-5)
        assert Tensor(x).quantile(0.4, 0).shape == (8,)
        assert Tensor([np.inf, 1.0, 2.0]).quantile(0.5).item() == 2.0


def test_what_is_not_zero_is_counted() -> None:
    assert Tensor([[0, 1], [2, 3]]).count_nonzero(0).tolist() == [1, 2]
    assert Tensor([0.0, -0.0, np.nan]).count_nonzero().item() == 1


def test_gradients_follow_the_order() -> None:
    x = RNG.standard_normal((2, 7)).astype(np.float32)
    weight = np.arange(14, dtype=np.float32).reshape(2, 7)
    t, u = Tensor(x), torch.tensor(x, requires_grad=True)
    ours = (
        (t.sort(1)[0] * Tensor(weight)).sum() + t.topk(2)[0].exp().sum() + t.quantile(0.3, 1).square().sum()
    )
    theirs = (u.sort(1).values * torch.tensor(weight)).sum()
    theirs = theirs + u.topk(2).values.exp().sum() + u.quantile(0.3, 1).square().sum()
    (expected,) = torch.autograd.grad(theirs, u)
    (gradient,) = ours.gradient(t)
    np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_nothing_and_scalars_are_sorted() -> None:
    assert [t.tolist() for t in Tensor([], dtype="float32").sort()] == [[], []]
    assert [t.tolist() for t in Tensor(3).sort()] == [3, 0]
    assert Tensor([[5]]).argsort().tolist() == [[0]]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(AxisError, match="argsort: axis 2 is out of range"):
        Tensor(X).argsort(2)
    with pytest.raises(DtypeError, match="quantile of int32: it takes floats"):
        Tensor([1]).quantile(0.5)
    with pytest.raises(ArgumentError, match=r"quantile: q=1\.5 lies outside of 0\.\.1"):
        Tensor(X).quantile(1.5)
    with pytest.raises(ShapeError, match="median over axis None of shape"):
        Tensor([], dtype="float32").median()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_quantiles_of_many_narrow_floats_find_their_places(dtype: str) -> None:
    x = Tensor(np.arange(5001, dtype=np.float32) / 64).cast(dtype)
    want = np.quantile(x.float().numpy(), [0.1, 0.37, 0.9])
    np.testing.assert_array_equal(x.quantile([0.1, 0.37, 0.9]).numpy(), Tensor(want).cast(dtype).numpy())


def test_quantiles_of_double_precision_take_fractions_in_it() -> None:
    x = np.linspace(0, 1, 8)
    np.testing.assert_allclose(Tensor(x).quantile(0.3).numpy(), np.quantile(x, 0.3), rtol=1e-14)
    np.testing.assert_allclose(Tensor(x).quantile([0.3, 0.7]).numpy(), np.quantile(x, [0.3, 0.7]), rtol=1e-14)


@pytest.mark.parametrize("how", ["linear", "midpoint"])
def test_quantiles_next_to_an_infinity_are_infinite(how: Any) -> None:
    inf = np.inf
    x = Tensor([[-inf, 1.0, 2.0, inf], [inf, inf, inf, 0.0], [-3e38, 3e38, 3e38, 3e38]])
    found = x.quantile([0.1, 0.5, 0.9], 1, interpolation=how).numpy()
    middle = [[-inf, 1.5, inf], [inf, inf, inf]]
    np.testing.assert_array_equal(found[:, :2].T, middle)
    assert np.isfinite(found[:, 2]).all()


def test_gradients_of_quantiles_next_to_an_infinity_are_finite() -> None:
    x = Tensor([0.0, 1.0, 2.0, float("inf")])
    (gradient,) = x.quantile(0.5).gradient(x)
    assert gradient.tolist() == [0.0, 0.5, 0.5, 0.0]
