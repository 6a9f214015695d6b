"""Tests of plugrad.tensor.linalg.factorizations: large matrices by halves."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.tensor.linalg import factorizations, triangles


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorizations, "_CHOLESKY_STEPS", 4)
    monkeypatch.setattr(triangles, "_BLOCK", 2)


def numbers(*shape: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shape", [(12, 12), (2, 10, 10)])
def test_cholesky_reads_the_lower_triangle(shape: Any) -> None:
    x = numbers(*shape)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])
    tensor = Tensor(np.where(np.tri(shape[-1]) > 0, x, np.nan))
    found = Tensor(factorizations.cholesky_factor(tensor.uop, tensor.device)).numpy()
    np.testing.assert_allclose(found, np.linalg.cholesky(x), atol=1e-12)


def test_cholesky_is_nan_from_the_pivot_on_that_is_not_positive() -> None:
    x = np.eye(10)
    x[6, 6] = -1.0
    tensor = Tensor(x)
    found = Tensor(factorizations.cholesky_factor(tensor.uop, tensor.device)).numpy()
    np.testing.assert_array_equal(found[:, :6], np.eye(10)[:, :6])
    assert np.isnan(found[6:, 6]).all()


def test_an_ill_conditioned_matrix_is_the_product_of_its_factor() -> None:
    q, _ = np.linalg.qr(numbers(32, 32))
    x = (q * np.geomspace(1.0, 1e-12, 32)) @ q.T
    found = Tensor(x).cholesky().numpy()
    np.testing.assert_allclose(found @ found.T, x, atol=1e-15)


@pytest.mark.wide_on_cpu
def test_complex_matrices_are_products_with_the_adjoint() -> None:
    x = numbers(9, 9) + 1j * numbers(9, 10)[:, :9]
    x = x @ x.conj().T + np.eye(9)
    np.testing.assert_allclose(Tensor(x).cholesky().numpy(), np.linalg.cholesky(x), atol=1e-12)
