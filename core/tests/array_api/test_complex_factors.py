"""Tests of plugrad.array_api.complex_factors, beside NumPy's complex128."""

from typing import Any

import numpy as np
import pytest

from plugrad.array_api import complex_factors as factors
from plugrad.tensor import Tensor

RANDOM = np.random.default_rng(4)


def pair(x: Any) -> Any:
    """Return complex matrices as one tensor: (..., m, n) -> (..., 2, m, n)."""
    x = np.asarray(x, complex)
    return Tensor(np.stack([x.real, x.imag], -3))


def numbers(x: Any, axis: int = -3) -> np.ndarray:
    real, imag = np.moveaxis(x.numpy(), axis, 0)
    return real + 1j * imag


def random(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def near(found: np.ndarray, wanted: Any, tolerance: float = 1e-12) -> None:
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max(initial=1e-300))


# --- as real matrices ---


@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 2), (0, 2), (2, 0)])
def test_interleaved_matrices_come_back_to_the_bit(shape: tuple[int, ...]) -> None:
    x = pair(random(*shape))
    wide = factors.interleaved(x)
    assert wide.shape == (*shape[:-2], 2 * shape[-2], 2 * shape[-1])
    assert np.array_equal(factors.deinterleaved(wide).numpy(), x.numpy())


def test_interleaved_matrices_multiply_as_the_numbers_do_and_keep_infinities_apart() -> None:
    x, y = random(2, 2), random(2, 3)
    found = factors.interleaved(pair(x)) @ factors.interleaved(pair(y))
    near(numbers(factors.deinterleaved(found)), x @ y)
    edges = Tensor(np.array([[[np.inf, -0.0]], [[2.0, -np.inf]]]))
    wanted = [[np.inf, -2.0, -0.0, np.inf], [2.0, np.inf, -np.inf, -0.0]]
    wide = factors.interleaved(edges).numpy()
    assert np.array_equal(wide, wanted)
    assert np.array_equal(np.signbit(wide), np.signbit(wanted))


def test_the_identity_may_be_wide_or_empty() -> None:
    for rows, columns in ((2, 3), (3, 2), (0, 2)):
        assert np.array_equal(numbers(factors.identity(pair([[1]]), rows, columns)), np.eye(rows, columns))


# --- determinants ---


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 2, 2), (0, 0), (2, 0, 0)])
def test_determinants_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    found, sign, logarithm = factors.determinants(pair(x))
    near(numbers(found, -1), np.linalg.det(x))
    wanted = np.linalg.slogdet(x)
    near(numbers(sign, -1), wanted[0])
    near(logarithm.numpy(), wanted[1])


def test_determinants_of_singular_matrices_are_0_and_of_large_ones_in_logarithms() -> None:
    found, sign, logarithm = factors.determinants(pair([np.zeros((2, 2)), [[1, 2j], [0, 0]]]))
    assert numbers(found, -1).tolist() == numbers(sign, -1).tolist() == [0, 0]
    assert logarithm.tolist() == [-np.inf, -np.inf]
    _, sign, logarithm = factors.determinants(pair(np.diag([1e200j, 1e200, -1e200])))
    near(numbers(sign, -1), np.array(-1j))
    near(logarithm.numpy(), np.array(600 * np.log(10)))
    assert np.isnan(numbers(factors.determinants(pair([[np.nan]]))[0], -1)).all()


# --- QR ---


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2, 2, 2), (2, 0), (0, 2)])
def test_qr_gives_orthonormal_columns_and_a_triangle_with_a_real_diagonal(
    shape: tuple[int, ...], complete: bool
) -> None:
    x = random(*shape)
    q, r = (numbers(y) for y in factors.qr(pair(x), complete))
    wanted = np.linalg.qr(x, "complete" if complete else "reduced")
    assert (q.shape, r.shape) == tuple(y.shape for y in wanted)
    near(q @ r, x)
    near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *q.shape[-1:] * 2)))
    assert not np.tril(r, -1).any()
    assert not np.diagonal(r, 0, -2, -1).imag.any()


def test_qr_of_zeros_is_orthonormal_and_of_real_matrices_has_the_signs_of_numpy() -> None:
    q, r = (numbers(y) for y in factors.qr(pair(np.zeros((3, 2))), False))
    assert not r.any()
    near(adjoint(q) @ q, np.eye(2))
    x = RANDOM.normal(size=(3, 3))
    for found, wanted in zip(factors.qr(pair(x), False), np.linalg.qr(x), strict=True):
        near(numbers(found), wanted)


# --- singular values ---


def of_rank_1() -> np.ndarray:
    return random(3, 1) @ random(1, 2)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    "x", [random(3, 2), random(2, 2, 2), random(1, 1), of_rank_1(), np.zeros((2, 2)), random(2, 2) * 1e-200]
)
def test_singular_values_and_vectors_make_the_matrix(x: np.ndarray, complete: bool) -> None:
    u, s, v = factors.singular(pair(x), complete)
    u, s, v = numbers(u), s.numpy(), numbers(v)
    count = x.shape[-1]
    near(s, np.linalg.svd(x, compute_uv=False))
    near(u[..., :count] * s[..., None, :] @ adjoint(v), x)
    assert u.shape[-1] == (x.shape[-2] if complete else count)
    for y in (u, v):
        near(adjoint(y) @ y, np.broadcast_to(np.eye(y.shape[-1]), (*x.shape[:-2], *y.shape[-1:] * 2)))


@pytest.mark.parametrize("x", [random(3, 2), random(2, 3), of_rank_1(), np.zeros((2, 2)), random(2, 2, 1)])
def test_pseudo_inverses_are_those_of_numpy(x: np.ndarray) -> None:
    near(numbers(factors.pseudo_inverse(pair(x), None)), np.linalg.pinv(x))


def test_pseudo_inverses_leave_out_what_is_small_beside_the_greatest() -> None:
    x = np.diag([1j, 1e-3])
    near(numbers(factors.pseudo_inverse(pair(x), 1e-2)), np.linalg.pinv(x, 1e-2))
    near(numbers(factors.pseudo_inverse(pair(x), 1e-4)), np.linalg.pinv(x, 1e-4))


# --- eigenvalues ---


@pytest.mark.parametrize(
    "x", [random(3, 3), random(2, 2, 2), random(1, 1), np.zeros((2, 2)), np.eye(3) * 2, np.diag([3, -3, 0])]
)
def test_eigenvalues_and_vectors_of_hermitian_matrices(x: np.ndarray) -> None:
    x = (x + adjoint(x)) / 2
    w, v = factors.eigen(pair(x))
    w, v = w.numpy(), numbers(v)
    near(w, np.linalg.eigvalsh(x))
    near(v * w[..., None, :] @ adjoint(v), x)
    near(adjoint(v) @ v, np.broadcast_to(np.eye(x.shape[-1]), x.shape))


def test_only_the_lower_triangle_and_a_real_diagonal_are_read() -> None:
    x = np.array([[1 + 5j, 99], [2 - 3j, 4 - 7j]])
    near(factors.eigen(pair(x))[0].numpy(), np.linalg.eigvalsh(x))
