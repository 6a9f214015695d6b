from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.jit import jit

RNG = np.random.default_rng(3)
LONG = 150


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float64"])
@pytest.mark.parametrize("largest", [False, True])
def test_the_least_and_greatest_come_in_order_the_first_of_equals_first(dtype: str, largest: bool) -> None:
    x = RNG.integers(0, 2 if dtype == "bool" else 12, (2, LONG)).astype(dtype)
    if dtype == "uint64":
        x[:, 70:75] = [2**64 - 1, 2**63, 2**63 - 1, 2**32, 2**31]
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    expected = np.argsort(-ranks if largest else ranks, -1, kind="stable")[:, :20]
    values, positions = Tensor(x).topk(20, largest=largest)
    np.testing.assert_array_equal(positions.numpy(), expected)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, expected, -1))


@pytest.mark.wide_on_cpu
def test_nan_is_greatest_and_zeros_are_equal_in_long_rows() -> None:
    x = np.zeros(LONG, np.float32)
    x[::2] = -0.0
    x[[3, 100]], x[[50, 120]], x[7] = np.nan, np.inf, -np.inf
    assert Tensor(x).topk(6)[1].tolist() == [3, 100, 50, 120, 0, 1]
    assert Tensor(x).topk(4, largest=False)[1].tolist() == [7, 0, 1, 2]
    order = Tensor(x).argsort().tolist()
    ranks = (1, 2, 6, 145, 147, 149)
    assert [Tensor(x).kthvalue(k)[1].item() for k in ranks] == [order[k - 1] for k in ranks]


def test_a_row_of_the_greatest_keys_only_has_places_inside_of_it() -> None:
    x = np.full(LONG, np.iinfo(np.int32).max, np.int32)
    assert Tensor(x).topk(3, largest=False)[1].tolist() == [0, 1, 2]
    assert Tensor(x).kthvalue(LONG)[1].item() == LONG - 1


@pytest.mark.parametrize("axis", [0, 1])
def test_medians_and_quantiles_of_long_axes_are_those_of_torch(axis: int) -> None:
    x = np.moveaxis(RNG.standard_normal((2, LONG)).astype(np.float32), -1, axis)
    t = torch.tensor(x)
    for ours, theirs in (
        (Tensor(x).median(axis), t.median(axis)),
        (Tensor(x).nanmedian(axis), t.nanmedian(axis)),
        (Tensor(x).kthvalue(LONG // 2, axis), t.kthvalue(LONG // 2, axis)),
    ):
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy())
        np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())
    for q in (0.3, [0.0, 0.25, 1.0]):
        found = Tensor(x).quantile(q, axis).numpy()
        np.testing.assert_allclose(found, t.quantile(torch.tensor(q), axis).numpy(), rtol=1e-6)
    x[0, 0] = np.nan
    has_nan = np.isnan(Tensor(x).quantile(0.5, axis).numpy())
    assert has_nan.tolist() == np.isnan(x).any(axis).tolist()
    assert np.isnan(Tensor(x).median(axis)[0].numpy()).tolist() == has_nan.tolist()


@pytest.mark.wide_on_cpu
def test_gradients_reach_the_elements_that_were_found() -> None:
    x = RNG.permutation(LONG).astype(np.float32)
    t = torch.tensor(x, requires_grad=True)
    ours = Tensor(x)
    for found, wanted in (
        (ours.topk(5)[0].square().sum(), t.topk(5)[0].square().sum()),
        (ours.quantile(0.3), t.quantile(0.3)),
        (ours.median(), t.median()),
    ):
        (theirs,) = torch.autograd.grad(wanted, t)
        np.testing.assert_allclose(found.gradient(ours)[0].numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.wide_on_cpu
def test_long_rows_of_symbolic_size_are_searched_up_to_their_end() -> None:
    x = RNG.standard_normal((2, 2 * LONG)).astype(np.float32)

    @jit
    def found(v: Any) -> Any:
        rows = Tensor(x).shrink([None, (0, v)])
        return (
            rows.topk(4)[1].realize(),
            rows.median(1)[1].realize(),
            rows.quantile(0.6, 1).realize(),
            rows.kthvalue(3)[1].realize(),
        )

    n = Variable("n", LONG, 2 * LONG)
    for size in (LONG, 211, 2 * LONG):
        part = torch.tensor(x[:, :size])
        top, middle, quantile, third = found(n.bind(size))
        np.testing.assert_array_equal(top.numpy(), part.topk(4)[1].numpy())
        np.testing.assert_array_equal(middle.numpy(), part.median(1)[1].numpy())
        np.testing.assert_allclose(quantile.numpy(), part.quantile(0.6, 1).numpy(), rtol=1e-5)
        np.testing.assert_array_equal(third.numpy(), part.kthvalue(3)[1].numpy())
