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


def test_lgamma_is_precise_around_its_zeros() -> None:
    found = Tensor([1 + 1e-9, 2 + 1e-9], dtype="float64").lgamma().numpy()
    assert np.allclose(found, [-0.5772156649e-9, 0.4227843351e-9], rtol=1e-6, atol=0)


def test_poles_and_ends_are_infinite_or_nan() -> None:
    assert Tensor([0.0, -1.0, math.inf, -math.inf]).lgamma().tolist() == [math.inf] * 4
    assert Tensor([0.0, -0.0, math.inf]).digamma().tolist() == [-math.inf, math.inf, math.inf]
    assert np.isnan(Tensor([-1.0, -math.inf, math.nan]).digamma().numpy()).all()
    assert Tensor([1.0, -1.0]).erfinv().tolist() == [math.inf, -math.inf]
    assert np.isnan(Tensor([1.5, math.nan]).erfinv().numpy()).all()


def test_the_slope_of_lgamma_is_digamma() -> None:
    x = Tensor(np.concatenate([RIGHT[:400], LEFT]))
    assert np.allclose(x.lgamma().sum().gradient(x)[0].numpy(), x.digamma().numpy(), rtol=1e-12, atol=1e-12)


def test_the_slope_of_erfinv_goes_on_to_its_end() -> None:
    x = Tensor([0.0, 0.9, 1.0], dtype="float64")
    expected = [math.sqrt(math.pi) / 2 * math.exp(special.erfinv(v) ** 2) for v in (0.0, 0.9)]
    found = x.erfinv().sum().gradient(x)[0].tolist()
    assert np.allclose(found[:2], expected, rtol=1e-12)
    assert found[2] == math.inf
