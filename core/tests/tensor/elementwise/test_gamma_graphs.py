"""The gamma function's logarithm and its derivative, and the inverse of the error function."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from plugrad import Tensor

RIGHT = np.concatenate([np.linspace(0.01, 12, 400), np.geomspace(1e-30, 1e30, 100)])
LEFT = np.linspace(-9.97, -0.03, 300)
UNIT = np.concatenate([np.linspace(-0.999, 0.999, 400), 1 - np.geomspace(1e-7, 0.1, 50)])
#: a few units in the last place, also of what is added up next to a zero
TOLERANCE = {"float32": 2e-6, "float64": 1e-13}


def errors(name: str, values: NDArray[np.float64], reference: str, dtype: str) -> NDArray[np.float64]:
    """Return errors relative to the result, or to 1 if that is less."""
    given = values.astype(dtype)
    expected = getattr(special, reference)(given.astype(np.float64))
    found = getattr(Tensor(given), name)().numpy()
    assert found.dtype == dtype
    return np.abs(found - expected) / np.maximum(np.abs(expected), 1)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("values", [RIGHT, LEFT], ids=["right", "left"])
@pytest.mark.parametrize(("name", "reference"), [("lgamma", "gammaln"), ("digamma", "digamma")])
def test_the_gamma_function_is_that_of_scipy(
    name: str, reference: str, values: NDArray[np.float64], dtype: str
) -> None:
    assert errors(name, values, reference, dtype).max() < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_inverse_of_erf_is_that_of_scipy(dtype: str) -> None:
    assert errors("erfinv", UNIT, "erfinv", dtype).max() < TOLERANCE[dtype]


def test_the_inverse_of_erf_in_float32_is_four_units_off_at_most() -> None:
    ends = 1 - np.geomspace(2.0**-24, 0.1, 2000)
    values = np.concatenate([np.linspace(-0.9999, 0.9999, 20000), ends, np.geomspace(1e-30, 0.1, 500)])
    given = values.astype(np.float32)
    expected = special.erfinv(given.astype(np.float64))
    units = np.spacing(np.abs(expected).astype(np.float32))
    assert (np.abs(Tensor(given).erfinv().numpy() - expected) <= 4 * units).all()


def test_lgamma_is_precise_around_its_zeros() -> None:
    found = Tensor([1 + 1e-9, 2 + 1e-9], dtype="float64").lgamma().numpy()
    assert np.allclose(found, [-0.5772156649e-9, 0.4227843351e-9], rtol=1e-6, atol=0)


def test_poles_and_ends_are_infinite_or_nan() -> None:
    assert Tensor([0.0, -1.0, math.inf, -math.inf]).lgamma().tolist() == [math.inf] * 4
    assert Tensor([0.0, -0.0, math.inf]).digamma().tolist() == [-math.inf, math.inf, math.inf]
    assert np.isnan(Tensor([-1.0, -math.inf, math.nan]).digamma().numpy()).all()
    assert Tensor([1.0, -1.0]).erfinv().tolist() == [math.inf, -math.inf]
    assert np.isnan(Tensor([1.5, math.nan]).erfinv().numpy()).all()


@pytest.mark.wide_on_cpu
def test_the_slope_of_lgamma_is_digamma() -> None:
    x = Tensor(np.concatenate([RIGHT[:400], LEFT]))
    assert np.allclose(x.lgamma().sum().gradient(x)[0].numpy(), x.digamma().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.wide_on_cpu
def test_the_slope_of_erfinv_goes_on_to_its_end() -> None:
    x = Tensor([0.0, 0.9, 1.0], dtype="float64")
    expected = [math.sqrt(math.pi) / 2 * math.exp(special.erfinv(v) ** 2) for v in (0.0, 0.9)]
    found = x.erfinv().sum().gradient(x)[0].tolist()
    assert np.allclose(found[:2], expected, rtol=1e-12)
    assert found[2] == math.inf


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lgamma_is_infinite_at_whole_numbers_of_any_size(dtype: str) -> None:
    x = Tensor(np.array([-(2.0**23), -1e10, -1e30, -np.finfo(dtype).max], dtype))
    assert np.isposinf(x.lgamma().numpy()).all()


def test_lgamma_of_subnormal_numbers_is_precise_on_both_sides_of_0() -> None:
    tiny = np.array([1e-45, -1e-45, -1e-40], np.float32)
    np.testing.assert_allclose(
        Tensor(tiny).lgamma().numpy(), special.gammaln(np.abs(tiny).astype(float)), 1e-6
    )


def test_derivatives_at_poles_and_at_infinity_are_those_of_digamma() -> None:
    x = Tensor([-1.0, -3.0, math.inf, 0.0, 2.0])
    (slope,) = x.lgamma().sum().gradient(x)
    np.testing.assert_allclose(slope.numpy(), [math.nan, math.nan, math.inf, -math.inf, 0.42278433], 1e-6)
    (slope,) = x.digamma().sum().gradient(x)
    assert np.isnan(slope.numpy()).tolist() == [True, True, False, False, False]


def test_the_inverse_of_erf_has_no_slope_where_it_has_no_value() -> None:
    x = Tensor([math.nan, 2.0, -math.inf, 0.0, 1.0])
    (slope,) = x.erfinv().sum().gradient(x)
    np.testing.assert_allclose(slope.numpy(), [math.nan] * 3 + [math.sqrt(math.pi) / 2, math.inf], 1e-6)
