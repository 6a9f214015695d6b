"""Tests of plugrad.tensor.linalg.blocked_factorizations: the last panel is whole, or cut off."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, events
from plugrad.jit import jit
from plugrad.tensor.linalg import blocked_factorizations
from plugrad.transforms import vmap


@pytest.fixture(autouse=True)
def narrow_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked_factorizations, "_WIDTH", 4)


def numbers(*shape: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def check_lu(x: Any, factors: Any, order: Any) -> None:
    lower, upper = np.tril(factors, -1) + np.eye(x.shape[-1]), np.triu(factors)
    swapped = np.take_along_axis(x, order[..., None].astype(np.int64), -2)
    np.testing.assert_allclose(lower @ upper, swapped, atol=1e-12 * np.abs(x).max())
    assert np.abs(lower).max() <= 1.0


@pytest.mark.parametrize("shape", [(12, 12), (2, 10, 10), (13, 13)])
def test_factors_multiply_to_the_rows_in_their_order(shape: Any) -> None:
    x = numbers(*shape)
    tensor = Tensor(x)
    check_lu(x, *(Tensor(u).numpy() for u in blocked_factorizations.blocked_lu(tensor.uop, tensor.device)))


def test_rows_are_swapped_among_panels() -> None:
    # each pivot is in the last row that is left
    x = np.eye(10)[::-1].copy() + np.tri(10)[::-1] * 1e-3
    tensor = Tensor(x)
    factors, order = (Tensor(u).numpy() for u in blocked_factorizations.blocked_lu(tensor.uop, tensor.device))
    check_lu(x, factors, order)
    assert order.tolist() == list(range(10))[::-1]


def test_a_column_without_a_pivot_leaves_a_zero() -> None:
    x = numbers(10, 10)
    x[:, 6] = 0.0
    tensor = Tensor(x)
    factors, order = (Tensor(u).numpy() for u in blocked_factorizations.blocked_lu(tensor.uop, tensor.device))
    check_lu(x, factors, order)
    assert factors[6, 6] == 0.0


def test_what_is_not_finite_is_never_read_as_if_it_were() -> None:
    x = numbers(10, 10)
    x[5, 7] = np.nan
    assert not np.isfinite(Tensor(x).inv().numpy()).all()
    assert np.isnan(Tensor(x).det().item())


@pytest.mark.parametrize("shape", [(12, 12), (2, 10, 10)])
def test_cholesky_reads_the_lower_triangle(shape: Any) -> None:
    x = numbers(*shape)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])
    tensor = Tensor(np.where(np.tri(shape[-1]) > 0, x, np.nan))
    found = Tensor(blocked_factorizations.blocked_cholesky(tensor.uop, tensor.device)).numpy()
    np.testing.assert_allclose(found, np.linalg.cholesky(x), atol=1e-12)


def test_cholesky_is_nan_from_the_pivot_on_that_is_not_positive() -> None:
    x = np.eye(10)
    x[6, 6] = -1.0
    tensor = Tensor(x)
    found = Tensor(blocked_factorizations.blocked_cholesky(tensor.uop, tensor.device)).numpy()
    np.testing.assert_array_equal(found[:, :6], np.eye(10)[:, :6])
    assert np.isnan(found[6:, 6]).all()


def test_jitted_systems_are_solved_each_time() -> None:
    @jit
    def solved(x: Tensor, b: Tensor) -> Tensor:
        return x.solve(b).realize()

    for seed in range(4):
        x, b = numbers(10 + seed, 20)[:10, :10], numbers(10, seed + 1)[:, :1]
        np.testing.assert_allclose(solved(Tensor(x), Tensor(b)).numpy(), np.linalg.solve(x, b), rtol=1e-7)


def test_the_gradient_of_a_large_determinant_is_the_inverse() -> None:
    x = Tensor(numbers(10, 10))
    (gradient,) = x.slogdet()[1].gradient(x)
    np.testing.assert_allclose(gradient.numpy(), np.linalg.inv(x.numpy()).T, atol=1e-10)


def test_one_matrix_of_a_mapped_batch_is_not_known() -> None:
    x = numbers(2, 9, 9)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(9)
    found = vmap(lambda tensor: tensor.inv())(Tensor(x))
    np.testing.assert_allclose(found.numpy(), np.linalg.inv(x), atol=1e-10)


def test_panels_are_planned_twice_whatever_their_number() -> None:
    counts: list[list[int]] = []
    for size in (12, 20):
        x = Tensor(np.eye(size)).realize()
        done: list[events.RealizeEvent] = []
        with events.subscribe(events.RealizeEvent, done.append):
            blocked_factorizations.blocked_lu(x.uop, x.device)
        counts.append([event.kernels for event in done])
    # the steps of a panel are planned twice, and what follows them once; all other panels run at once
    assert len(counts[0]) == len(counts[1]) == 2 * 3 + 1
