"""The loops of factorizations, run by the interpreter, against NumPy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.factors import lu
from plugrad.codegen.lower import lower
from plugrad.dtype import dtypes, to_numpy
from plugrad.uop.ops import FactorArg, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered

RNG = np.random.default_rng(3)


def factorized(kind: str, x: Any, bits: int = 128) -> Any:
    """Return a batch of matrices as the loops of `kind` leave them."""
    loops = replace(
        CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=(), vector_bits=bits
    )
    dtype = dtypes.float64 if x.dtype == np.float64 else dtypes.float32
    assert to_numpy(dtype) == x.dtype
    _, rows, columns = x.shape
    b, i, j = (UOp.range(size, axis) for axis, size in enumerate(x.shape))
    place = (b * rows + i) * columns + j
    value = UOp(Ops.PARAM, dtype, (), (1, x.size)).index(place).load()
    whole = UOp(Ops.FACTOR, dtype, (value, i, j), FactorArg(kind, (rows, columns)))
    store = UOp(Ops.PARAM, dtype, (), (0, x.size)).index(place).store(whole, b, i, j)
    out = np.empty(x.size, x.dtype)
    run_lowered(lower(UOp.sink(store, arg=KernelInfo(kind)), loops), [out, x.flatten()])
    return out.reshape(x.shape)


@pytest.mark.parametrize("bits", [0, 128, 512])
def test_triangles_of_cholesky_multiply_to_the_matrix(bits: int) -> None:
    x = RNG.standard_normal((2, 9, 9)).astype(np.float32)
    x = x @ x.swapaxes(-1, -2) + np.eye(9, dtype=np.float32)
    upper = np.triu(factorized("cholesky", x, bits))
    np.testing.assert_allclose(upper.swapaxes(-1, -2) @ upper, x, rtol=1e-4, atol=1e-5)


def test_a_matrix_that_is_not_positive_is_nan_from_there_on() -> None:
    x = np.diag([1.0, 4.0, -1.0, 2.0])[None]
    upper = factorized("cholesky", x)[0]
    assert upper[1, 1] == 2.0
    assert np.isnan(np.diag(upper)[2:]).all() or np.isnan(upper[2, 2])


@pytest.mark.parametrize("shape", [(2, 5, 9), (1, 9, 5), (2, 6, 6)])
@pytest.mark.parametrize("bits", [0, 128, 512])
def test_reflections_leave_the_triangle_of_numpy(shape: Any, bits: int) -> None:
    columns = RNG.standard_normal(shape)
    columns[0, 1] = 0.0
    found = np.triu(factorized("householder", columns, bits).swapaxes(-1, -2))
    for mine, x in zip(found, columns.swapaxes(-1, -2), strict=True):
        rows = min(x.shape)
        np.testing.assert_allclose(np.abs(mine[:rows]), np.abs(np.linalg.qr(x)[1]), atol=1e-12)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("bits", [0, 128, 512])
def test_rows_in_their_order_are_the_product_of_lu_factors(
    blocks: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 12
    monkeypatch.setattr(lu, "_WIDTH", size // blocks)
    monkeypatch.setattr(lu, "_ONE_BLOCK", 4)
    x = RNG.standard_normal((2, size, size))
    x[1, :, 3] = 0.0
    origin = np.broadcast_to(np.arange(size)[:, None], (2, size, 1))
    found = factorized("lu", np.concatenate([x, origin], axis=2), bits)
    for matrix, given in zip(found, x, strict=True):
        order = matrix[:, size].astype(int)
        lower = np.tril(matrix[:, :size], -1) + np.eye(size)
        assert np.abs(lower).max() <= 1.0
        np.testing.assert_allclose(lower @ np.triu(matrix[:, :size]), given[order], atol=1e-12)


def test_blocks_of_large_matrices_have_few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lu, "_MOST_OF_BLOCK", 1 << 9)
    monkeypatch.setattr(lu, "_ONE_BLOCK", 4)
    x = RNG.standard_normal((1, 64, 64))
    found = factorized("lu", np.concatenate([x, np.arange(64.0).reshape(1, 64, 1)], axis=2), 512)[0]
    lower = np.tril(found[:, :64], -1) + np.eye(64)
    np.testing.assert_allclose(lower @ np.triu(found[:, :64]), x[0, found[:, 64].astype(int)], atol=1e-12)


def spectra() -> list[Any]:
    """Return eigenvalues of usual, graded, repeated and missing kinds."""
    return [
        RNG.standard_normal(7), 10.0 ** -np.arange(7), np.repeat([2.0, -1.0], [4, 3]), np.zeros(7),
        np.array([3.0, 0.0, 0.0]), np.arange(16.0), np.ones(5) + np.array([0, 0, 0, 1e-15, 0]),
    ]  # fmt: skip


@pytest.mark.parametrize("values", spectra(), ids=range(len(spectra())))
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_eigenvalues_and_vectors_are_what_they_should_be(values: Any, is_diagonal: bool) -> None:
    size = len(values)
    q = np.eye(size) if is_diagonal else np.linalg.qr(RNG.standard_normal((size, size)))[0]
    x = (q * values) @ q.T
    state = np.concatenate([(x + x.T) / 2, np.eye(size), np.zeros((1, size))])[None]
    found = factorized("eigh", state)[0]
    vectors, mine = found[size : 2 * size], found[2 * size]
    np.testing.assert_allclose(mine, np.sort(values), atol=1e-14 * max(1, np.abs(values).max()))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(size), atol=1e-14 * size)
    np.testing.assert_allclose(vectors @ x, mine[:, None] * vectors, atol=1e-14 * size)


@pytest.mark.parametrize("values", spectra(), ids=range(len(spectra())))
@pytest.mark.parametrize("is_bidiagonal", [False, True])
def test_singular_values_and_vectors_are_what_they_should_be(values: Any, is_bidiagonal: bool) -> None:
    size = len(values)
    if is_bidiagonal:
        # with zeros on the diagonal, and ones beside it
        x = np.diag(values) + np.eye(size, k=1)
    else:
        left, right = (np.linalg.qr(RNG.standard_normal((size, size)))[0] for _ in range(2))
        x = (left * values) @ right
    state = np.concatenate([x, np.eye(size), np.eye(size), np.zeros((1, size))])[None]
    found = factorized("svd", state)[0]
    u, v, mine = found[size : 2 * size], found[2 * size : 3 * size], found[3 * size]
    expected = np.linalg.svd(x, compute_uv=False)
    np.testing.assert_allclose(mine, expected, atol=1e-14 * max(1, expected[0]))
    np.testing.assert_allclose((u.T * mine) @ v, x, atol=1e-14 * size * max(1, expected[0]))
    for rows in (u, v):
        np.testing.assert_allclose(rows @ rows.T, np.eye(size), atol=1e-14 * size)


@pytest.mark.parametrize(("kind", "copies"), [("eigh", 1), ("svd", 2)])
def test_nan_ends_as_nan(kind: str, copies: int) -> None:
    x = np.eye(4)
    x[1, 2] = x[2, 1] = np.nan
    found = factorized(kind, np.concatenate([x, *[np.eye(4)] * copies, np.zeros((1, 4))])[None])[0]
    assert np.isnan(found[-1]).any()


@pytest.mark.parametrize("bits", [0, 128, 512])
def test_inverses_of_triangles_are_those_of_numpy(bits: int) -> None:
    lower = np.tril(RNG.standard_normal((2, 9, 9))) + 3 * np.eye(9)
    np.testing.assert_allclose(factorized("inverse", lower, bits), np.linalg.inv(lower), atol=1e-12)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("bits", [0, 128, 512])
def test_solutions_are_those_of_numpy(count: int, bits: int) -> None:
    factors, right = RNG.standard_normal((2, 7, 7)) + 4 * np.eye(7), RNG.standard_normal((2, 7, count))
    found = factorized("substitution", np.concatenate([factors, right], axis=2), bits)[..., 7:]
    x = (np.tril(factors, -1) + np.eye(7)) @ np.triu(factors)
    np.testing.assert_allclose(found, np.linalg.solve(x, right), atol=1e-12)
