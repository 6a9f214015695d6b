"""Formulas of elements, where they are special."""

import math

import numpy as np
import pytest

from plugrad import Tensor


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_sign_of_zero_and_nan_is_seen(dtype: str) -> None:
    assert Tensor([-0.0, 0.0, -math.inf, 1.0], dtype=dtype).signbit().tolist() == [True, False, True, False]


def test_ties_of_fmax_give_their_gradient_to_the_first() -> None:
    x, y = Tensor([1.0, math.nan]), Tensor([1.0, 2.0])
    assert [g.tolist() for g in x.fmax(y).sum().gradient(x, y)] == [[1.0, 0.0], [0.0, 1.0]]


def test_logit_has_infinite_slopes_at_its_ends() -> None:
    x = Tensor([0.0, 1.0])
    assert x.logit().sum().gradient(x)[0].tolist() == [math.inf, math.inf]


def test_logit_is_precise_around_its_zero() -> None:
    x = Tensor([0.5 + 1e-9], dtype="float64")
    assert np.isclose(x.logit().item(), 4e-9, rtol=1e-6, atol=0)


def test_sinc_is_flat_at_zero() -> None:
    x = Tensor([0.0, 1e-3], dtype="float64")
    assert np.allclose(x.sinc().sum().gradient(x)[0].numpy(), [0.0, -(math.pi**2) / 3 * 1e-3], rtol=1e-5)


def test_nothing_times_a_logarithm_is_nothing() -> None:
    x, y = Tensor([0.0, 0.0, 0.0]), Tensor([0.0, -1.0, math.inf])
    assert x.xlogy(y).tolist() == [0.0, 0.0, 0.0]
    assert x.xlogy(y).sum().gradient(x)[0].tolist() == [0.0, 0.0, 0.0]


def test_addcmul_of_integers_stays_integer() -> None:
    assert Tensor([1]).addcmul(Tensor([2]), Tensor([3]), value=2).tolist() == [13]


def test_truth_values_have_no_fraction() -> None:
    assert Tensor([True, False]).frac().tolist() == [False, False]


def test_products_of_integers_do_not_wrap_before_they_become_floats() -> None:
    x = Tensor([100], dtype="int8")
    assert x.addcmul(x, x, value=0.5).tolist() == [5100.0]


def test_logit_and_logaddexp2_have_derivatives_that_are_nan_where_they_are() -> None:
    x = Tensor([-1.0, 2.0, math.nan, 0.5, 0.1])
    (slope,) = x.logit().sum().gradient(x)
    assert np.isnan(slope.numpy()).tolist() == [True, True, True, False, False]
    y = Tensor([0.0, math.nan, 1.0, -math.inf, math.inf])
    slopes = [part.numpy() for part in x.logaddexp2(y).sum().gradient(x, y)]
    for slope in slopes:
        assert np.isnan(slope).tolist() == [False, True, True, False, False]


def test_an_infinite_sum_of_powers_has_the_slope_of_the_greater() -> None:
    inf = math.inf
    x, y = Tensor([inf, 0.0, -inf]), Tensor([0.0, inf, -inf])
    slopes = x.logaddexp2(y).sum().gradient(x, y)
    assert [slope.tolist() for slope in slopes] == [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]


def test_ldexp_takes_an_infinite_power_as_a_large_one() -> None:
    inf = math.inf
    assert Tensor([0.0, inf, 3.0, 3.0]).ldexp(Tensor([inf, -inf, inf, -inf])).tolist() == [0, inf, inf, 0]
