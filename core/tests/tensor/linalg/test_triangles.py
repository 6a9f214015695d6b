"""Tests of plugrad.tensor.linalg.triangles."""

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.tensor.linalg import triangles


@pytest.mark.parametrize("size", [1, 2, 4, 5, 8, 9, 17])
@pytest.mark.parametrize("is_unit", [False, True])
def test_inverses_are_those_of_numpy(size: int, is_unit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangles, "_SMALL", 4)
    x = np.random.default_rng(size).standard_normal((2, size, size)) / size + np.eye(size) * 2
    wanted = np.tril(x, -1) + np.eye(size) if is_unit else np.tril(x)
    # what is above the diagonal is not read
    tensor = Tensor(np.where(np.tri(size) > 0, x, np.nan))
    found = Tensor(triangles.inverse_of_lower(tensor.uop, tensor.device, is_unit)).numpy()
    np.testing.assert_allclose(found, np.linalg.inv(wanted), atol=1e-12)
    assert not np.triu(found, 1).any()


@pytest.mark.parametrize("size", [1, 3, 4, 9, 13])
@pytest.mark.parametrize("is_upper", [False, True])
def test_systems_are_solved_by_halves(size: int, is_upper: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangles, "_BLOCK", 4)
    rng = np.random.default_rng(size)
    x, right = (
        rng.standard_normal((2, size, size)) / size + np.eye(size) * 2,
        rng.standard_normal((2, size, 3)),
    )
    wanted = np.linalg.solve(np.triu(x) if is_upper else np.tril(x), right)
    # what is on the other side of the diagonal is not read
    is_read = np.tri(size).T > 0 if is_upper else np.tri(size) > 0
    tensor, b = Tensor(np.where(is_read, x, np.nan)), Tensor(right)
    solve = triangles.solve_upper if is_upper else triangles.solve_lower
    np.testing.assert_allclose(Tensor(solve(tensor.uop, b.uop, tensor.device)).numpy(), wanted, atol=1e-12)
