"""Tests of plugrad.array_api.complex_steps, beside NumPy's complex128."""

from typing import Any

import numpy as np
import pytest

from plugrad.array_api import complex_steps as steps
from plugrad.tensor import Tensor

RANDOM = np.random.default_rng(3)
# each sign and size that a part may have, beside each other
PARTS = np.array([0.0, -0.0, 1.0, -2.5, 1e-300, -1e300])
EDGES = (PARTS[:, None] + 0 * PARTS).astype(complex)
EDGES.imag = PARTS


def pair(x: Any) -> Any:
    """Return complex matrices as one tensor: (..., m, n) -> (..., 2, m, n)."""
    x = np.asarray(x, complex)
    return Tensor(np.stack([x.real, x.imag], -3), device="PYTHON")


def numbers(x: Any) -> np.ndarray:
    real, imag = np.moveaxis(x.numpy(), -3, 0)
    out = np.empty(real.shape, complex)
    out.real, out.imag = real, imag
    return out


def bits(x: np.ndarray) -> tuple[Any, ...]:
    """Return what tells -0.0 from 0.0, and takes every NaN for one."""
    x = np.where(np.isnan(x.real), np.nan, x.real), np.where(np.isnan(x.imag), np.nan, x.imag)
    return tuple((part.tolist().__repr__(), np.signbit(part[~np.isnan(part)]).tolist()) for part in x)


def random(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


# --- arithmetic ---


def test_a_product_with_i_and_a_conjugate_are_exact_with_signed_zeros_and_infinities() -> None:
    edges = EDGES.copy()
    edges.real[0], edges.imag[:, 0], edges.real[1, 1] = np.inf, -np.inf, np.nan
    turned = np.empty_like(edges)
    turned.real, turned.imag = -edges.imag, edges.real
    assert bits(numbers(steps.times_i(pair(edges)))) == bits(turned)
    assert bits(numbers(steps.conjugate(pair(edges)))) == bits(edges.conj())
    assert bits(numbers(steps.adjoint(pair(edges)))) == bits(edges.conj().T)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products_are_those_of_numpy_to_the_bit() -> None:
    infinite = np.array([[complex(np.inf, 1), complex(2, -np.inf), complex(np.nan, 0), 3 - 4j]])
    for x, y in ((EDGES, EDGES[::-1, ::-1]), (EDGES, EDGES[:1]), (infinite, infinite[:, ::-1])):
        found = numbers(steps.multiplied(pair(x), pair(y)))
        real, imag = x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real
        assert np.array_equal(found.real, real, equal_nan=True)
        assert np.array_equal(found.imag, imag, equal_nan=True)


def test_quotients_are_in_range_where_squares_are_not_and_zero_by_zero() -> None:
    x, y = (
        np.array([[1e300 + 1e300j, 1e-300j, 3 - 4j]]),
        np.array([[2e300 - 1e300j, -2e-300, 1e-200 + 1e200j]]),
    )
    np.testing.assert_allclose(numbers(steps.divided(pair(x), pair(y))), x / y, rtol=1e-14)
    by_zero = numbers(
        steps.divided(pair([[1 + 1j, 0, complex(-0.0, -0.0)]]), pair([[0, complex(-0.0, 0.0), 0]]))
    )
    assert by_zero.tolist() == [[0, 0, 0]]
    assert np.isnan(numbers(steps.divided(pair([[1.0]]), pair([[complex(np.nan, 0)]])))).all()


def test_units_are_directions_and_magnitudes_of_numbers_of_any_size() -> None:
    x = np.array([[3e300 - 4e300j, -3e-300 + 4e-300j, -2, 5j, 0, complex(-0.0, -0.0)]])
    directions, sizes = steps.units(pair(x))
    np.testing.assert_allclose(numbers(directions), [[0.6 - 0.8j, -0.6 + 0.8j, -1, 1j, 1, 1]], rtol=1e-15)
    np.testing.assert_allclose(sizes.squeeze(-3).numpy(), np.abs(x), rtol=1e-15)
    assert np.isnan(numbers(steps.units(pair([[complex(np.nan, 1)]]))[0])).any()


@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 4)), ((2, 1, 2), (2, 2, 1)), ((2, 0), (0, 3)), ((0, 2), (2, 1))]
)
def test_products_of_matrices_may_be_empty_and_many(shapes: tuple[tuple[int, ...], ...]) -> None:
    x, y = (random(*shape) for shape in shapes)
    np.testing.assert_allclose(numbers(steps.product(pair(x), pair(y))), x @ y, rtol=1e-13)


def test_parts_keep_their_axis() -> None:
    x = random(2, 3, 1)
    assert np.array_equal(steps.part(pair(x), 0).numpy(), x.real[:, None])
    assert np.array_equal(steps.part(pair(x), 1).numpy(), x.imag[:, None])


# --- steps ---


def test_elimination_takes_the_greatest_pivot_of_each_column() -> None:
    x = random(2, 3, 3)
    x[1, :, 1] = x[1, :, 0] * 2j
    factors, order = steps.eliminated(pair(x))
    found = numbers(factors)
    lower, upper = np.tril(found, -1) + np.eye(3), np.triu(found)
    rows = np.take_along_axis(x, order.numpy()[..., None], -2)
    np.testing.assert_allclose(lower @ upper, rows, atol=1e-14)
    assert (np.abs(np.tril(found, -1)) <= np.sqrt(2)).all()
    assert sorted(order[0].tolist()) == [0, 1, 2]


@pytest.mark.parametrize("x", [np.zeros((1, 1)), np.array([[2 - 1j]]), np.zeros((2, 2))])
def test_elimination_of_one_row_or_of_zeros_changes_nothing(x: np.ndarray) -> None:
    factors, order = steps.eliminated(pair(x))
    assert numbers(factors).tolist() == x.tolist()
    assert order.tolist() == list(range(len(x)))


@pytest.mark.parametrize("shape", [(3, 2), (2, 2, 2), (1, 1), (2, 3)])
def test_reflections_leave_the_triangle_of_qr(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    found = np.triu(numbers(steps.reflected(pair(x))))[..., : min(shape[-2:]), :]
    np.testing.assert_allclose(np.abs(found), np.abs(np.linalg.qr(x)[1]), atol=1e-13)


def test_reflections_of_zeros_and_of_nothing_are_those() -> None:
    assert not numbers(steps.reflected(pair(np.zeros((3, 2))))).any()
    assert numbers(steps.reflected(pair(np.zeros((3, 0))))).shape == (3, 0)


def test_rows_are_rotated_until_they_are_orthogonal_and_the_rest_along_with_them() -> None:
    x = random(2, 4, 3)
    x[1, 1] = x[1, 0] * 1j
    beside = np.broadcast_to(np.eye(4), (2, 4, 4))
    found = numbers(steps.orthogonal_rows(pair(np.concatenate([x, beside], -1)), 3, 8))
    rows, turns = found[..., :3], found[..., 3:]
    np.testing.assert_allclose(turns @ x, rows, atol=1e-12)
    np.testing.assert_allclose(turns @ turns.conj().swapaxes(-1, -2), beside, atol=1e-12)
    products = rows @ rows.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(products * (1 - beside), 0, atol=1e-12)
