"""Tests of plugrad.tensor.linalg.lu: panels divide the size, or leave columns behind."""

from typing import Any

import numpy as np
import pytest

from plugrad import Device, Tensor, events
from plugrad.jit import jit
from plugrad.tensor.linalg import lu
from plugrad.transforms import vmap


@pytest.fixture(autouse=True)
def narrow_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lu, "_WIDTH", 4)


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
    check_lu(x, *(Tensor(u).numpy() for u in lu.lu_factors(tensor.uop, tensor.device)))


def test_rows_are_swapped_among_panels() -> None:
    # each pivot is in the last row that is left
    x = np.eye(10)[::-1].copy() + np.tri(10)[::-1] * 1e-3
    tensor = Tensor(x)
    factors, order = (Tensor(u).numpy() for u in lu.lu_factors(tensor.uop, tensor.device))
    check_lu(x, factors, order)
    assert order.tolist() == list(range(10))[::-1]


def test_a_column_without_a_pivot_leaves_a_zero() -> None:
    x = numbers(10, 10)
    x[:, 6] = 0.0
    tensor = Tensor(x)
    factors, order = (Tensor(u).numpy() for u in lu.lu_factors(tensor.uop, tensor.device))
    check_lu(x, factors, order)
    assert factors[6, 6] == 0.0


def test_what_is_not_finite_is_never_read_as_if_it_were() -> None:
    x = numbers(10, 10)
    x[5, 7] = np.nan
    assert not np.isfinite(Tensor(x).inv().numpy()).all()
    assert np.isnan(Tensor(x).det().item())


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


@pytest.mark.wide_on_cpu
def test_one_matrix_of_a_mapped_batch_is_not_known() -> None:
    x = numbers(2, 9, 9)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(9)
    found = vmap(lambda tensor: tensor.inv())(Tensor(x))
    np.testing.assert_allclose(found.numpy(), np.linalg.inv(x), atol=1e-10)


@pytest.mark.wide_on_cpu
def test_twice_the_size_is_planned_as_often_as_one_more_half() -> None:
    if not Device[Device.DEFAULT].capabilities.grid_dims:
        pytest.skip("one kernel makes all steps")
    counts: list[int] = []
    for size in (16, 32, 64):
        x = Tensor(np.eye(size)).realize()
        done: list[events.RealizeEvent] = []
        with events.subscribe(events.RealizeEvent, done.append):
            lu.lu_factors(x.uop, x.device)
        counts.append(len(done))
    # the steps of a panel are planned twice and repeated, and what follows them planned; all other panels run
    # at once
    assert counts[2] - counts[1] == counts[1] - counts[0] == 2 * 4 + 1
