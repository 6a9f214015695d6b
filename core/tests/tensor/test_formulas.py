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
