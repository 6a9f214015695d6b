"""Tests of plugrad.tensor.linalg.field, against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.tensor.linalg.field import direction, divided, magnitude, quotient, scaled, square
from plugrad.uop.uop import UOp

X = np.array([3.0, -4.0, 0.0, 1e-300, -1e300])
Z = np.array([3 - 4j, -2, 5j, 0, complex(-0.0, -0.0), 3e300 - 4e300j, -3e-300 + 4e-300j])


def of(f: Callable[..., UOp], *arrays: Any) -> np.ndarray:
    return Tensor(f(*[Tensor(np.asarray(x), device="PYTHON").uop for x in arrays]), device="PYTHON").numpy()


def test_magnitudes_of_complex_numbers_are_sums_for_both_parts() -> None:
    np.testing.assert_array_equal(of(magnitude, X), np.abs(X))
    np.testing.assert_array_equal(of(magnitude, Z), np.abs(Z.real) + np.abs(Z.imag))
    assert np.isnan(of(magnitude, [complex(np.nan, 1)])).all()


def test_squares_and_products_with_real_numbers_are_those_of_parts() -> None:
    np.testing.assert_array_equal(of(square, Z[:3]), [25, 4, 25])
    np.testing.assert_array_equal(of(scaled, Z[:3], [2.0, np.inf, 1.0])[[0, 2]], Z[[0, 2]] * [2, 1])
    np.testing.assert_array_equal(of(divided, [1j], [0.0]).imag, [np.inf])


def test_quotients_are_in_range_where_squares_are_not() -> None:
    x = np.array([1e300 + 1e300j, 1e-300j, 3 - 4j])
    y = np.array([2e300 - 1e300j, -2e-300, 1e-200 + 1e200j])
    np.testing.assert_allclose(of(quotient, x, y), x / y, rtol=1e-14)
    np.testing.assert_array_equal(of(quotient, [1.0, -1.0], [2.0, 0.0]), [0.5, -np.inf])
    assert not np.isfinite(of(quotient, [1j], [0j])).any()


@pytest.mark.parametrize("x", [X, Z])
def test_directions_have_length_1_and_are_1_for_0(x: np.ndarray) -> None:
    ways, lengths = (of(lambda u, at=at: direction(u)[at], x) for at in range(2))
    wanted = np.where(x == 0, 1.0, x / np.where(x == 0, 1.0, np.abs(x)))
    np.testing.assert_allclose(ways, wanted, rtol=1e-15)
    np.testing.assert_allclose(lengths, np.abs(x), rtol=1e-15)
