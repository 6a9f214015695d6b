"""Tests of plugrad.tensor.linalg for complex matrices: values of NumPy, gradients of torch."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable, context
from plugrad.jit import jit
from plugrad_conformance.testing.realize_all import realize_all

RANDOM = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    # graphs are verified after each pass in the tests of real matrices
    with context(SPEC=0):
        yield


def random(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def positive(*shape: int) -> np.ndarray:
    x = random(*shape)
    return x @ adjoint(x) + np.eye(shape[-1])


def near(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    found = found.numpy() if isinstance(found, Tensor) else found
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max(initial=1e-300))


def identities(x: np.ndarray, size: int) -> np.ndarray:
    return np.broadcast_to(np.eye(size), (*x.shape[:-2], size, size))


# --- products ---


def test_products_of_vectors_and_matrices_are_those_of_numpy() -> None:
    x, y = random(3, 3), random(3, 3)
    a, b = Tensor(x), Tensor(y)
    near(a @ b, x @ y)
    near(Tensor.einsum("ij,jk,kl->il", a, b, a), x @ y @ x)
    near(a[0].vdot(b[0]), np.vdot(x[0], y[0]))
    near(a.inner(b), np.inner(x, y))
    near(a.kron(b), np.kron(x, y))
    near(a.adjoint(), adjoint(x))
    near(a.addmm(a, b, beta=0.5, alpha=2j), 0.5 * x + 2j * x @ y)
    assert (Tensor(x.astype(np.complex64)) @ b).dtype.name == "complex128"


# --- values ---


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 2, 2), (0, 0), (2, 0, 0)])
def test_inverses_and_determinants_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    near(Tensor(x).inv(), np.linalg.inv(x), 1e-11)
    near(Tensor(x).det(), np.linalg.det(x))
    for found, wanted in zip(Tensor(x).slogdet(), np.linalg.slogdet(x), strict=True):
        near(found, wanted)
    near(Tensor(x).solve(Tensor(x) * 1j), 1j * identities(x, shape[-1]))


@pytest.mark.wide_on_cpu
def test_singular_matrices_have_determinant_0_and_large_ones_logarithms() -> None:
    x = Tensor(np.array([np.zeros((2, 2)), [[1, 2j], [0, 0]]]))
    sign, logarithm = x.slogdet()
    assert x.det().tolist() == sign.tolist() == [0, 0]
    assert logarithm.tolist() == [-np.inf, -np.inf]
    assert not np.isfinite(x.inv().numpy()).any((1, 2)).any()
    sign, logarithm = Tensor(np.diag([1e200j, 1e200, -1e200])).slogdet()
    near(sign, np.array(-1j))
    near(logarithm, np.array(600 * np.log(10)))
    assert np.isnan(Tensor([[complex(np.nan)]]).det().numpy()).all()


def test_triangles_of_hermitian_matrices_read_the_lower_half_and_a_real_diagonal() -> None:
    x = positive(2, 3, 3)
    lower = np.linalg.cholesky(x)
    near(Tensor(x).cholesky(), lower)
    near(Tensor(x).cholesky(upper=True), adjoint(lower))
    near(Tensor(np.tril(x) + np.triu(x, 1) * 7 + 1j * np.eye(3)).cholesky(), lower)
    assert np.isnan(Tensor(-np.eye(2) + 0j).cholesky().numpy()).any()


def read(parts: Sequence[Tensor]) -> list[np.ndarray]:
    realize_all(parts)
    return [part.numpy() for part in parts]


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2, 2, 2), (2, 0), (0, 2)])
def test_qr_is_that_of_numpy_but_for_signs_with_a_real_diagonal(shape: tuple[int, ...], mode: Any) -> None:
    x = random(*shape)
    q, r = read(Tensor(x).qr(mode))
    wanted = np.linalg.qr(x, mode)
    assert (q.shape, r.shape) == tuple(y.shape for y in wanted)
    near(q @ r, x)
    near(np.abs(r), np.abs(wanted[1]))
    near(adjoint(q) @ q, identities(q, q.shape[-1]))
    assert not np.tril(r, -1).any()
    assert not np.diagonal(r, 0, -2, -1).imag.any()


def test_qr_of_zeros_is_orthonormal_and_of_real_numbers_has_the_signs_of_numpy() -> None:
    q, r = read(Tensor(np.zeros((3, 2), complex)).qr())
    assert not r.any()
    near(adjoint(q) @ q, np.eye(2))
    x = RANDOM.normal(size=(3, 3))
    for found, wanted in zip(Tensor(x + 0j).qr(), np.linalg.qr(x), strict=True):
        near(found, wanted)


def of_rank_1() -> np.ndarray:
    return random(3, 1) @ random(1, 2)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "x", [random(3, 2), random(2, 3), random(1, 1), of_rank_1(), np.zeros((2, 2)) + 0j, random(2, 2) * 1e-200]
)
@pytest.mark.wide_on_cpu
def test_singular_values_and_vectors_make_the_matrix(x: np.ndarray, full: bool) -> None:
    u, s, vh = read(Tensor(x).svd(full))
    count = min(x.shape)
    near(s, np.linalg.svd(x, compute_uv=False))
    near(u[..., :count] * s[..., None, :] @ vh[..., :count, :], x)
    assert (u.shape, vh.shape) == tuple(np.linalg.svd(x, full)[at].shape for at in (0, 2))
    near(adjoint(u) @ u, np.eye(u.shape[-1]))
    near(vh @ adjoint(vh), np.eye(vh.shape[-2]))


@pytest.mark.parametrize("x", [random(3, 2), random(2, 3), of_rank_1(), random(2, 2, 1)])
@pytest.mark.wide_on_cpu
def test_pseudo_inverses_are_those_of_numpy(x: np.ndarray) -> None:
    near(Tensor(x).pinv(), np.linalg.pinv(x))
    near(Tensor(np.diag([1j, 1e-3])).pinv(1e-2), np.linalg.pinv(np.diag([1j, 1e-3]), 1e-2))


@pytest.mark.wide_on_cpu
def test_least_squares_are_those_of_numpy() -> None:
    x, b = random(3, 2), random(3, 2)
    for found, wanted in zip(Tensor(x).lstsq(Tensor(b)), np.linalg.lstsq(x, b), strict=True):
        near(found, wanted)


@pytest.mark.parametrize("x", [random(3, 3), random(2, 2, 2), random(1, 1), np.diag([3 + 5j, -3, 0])])
def test_eigenvalues_and_vectors_of_hermitian_matrices(x: np.ndarray) -> None:
    w, v = read(Tensor(np.tril(x) + np.triu(random(*x.shape), 1)).eigh())
    whole = np.tril(x, -1) + adjoint(np.tril(x, -1)) + identities(x, x.shape[-1]) * x.real
    near(w, np.linalg.eigvalsh(whole))
    near(v * w[..., None, :] @ adjoint(v), whole)
    near(adjoint(v) @ v, identities(x, x.shape[-1]))


@pytest.mark.parametrize("p", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices_are_real(p: Any) -> None:
    x = random(3, 2)
    near(Tensor(x).matrix_norm(p), np.linalg.norm(x, p))
    near(Tensor(x).norm(3), np.linalg.norm(x.reshape(-1), 3))


@pytest.mark.wide_on_cpu
def test_single_precision_stays_single() -> None:
    x = positive(4, 4).astype(np.complex64)
    w, v = Tensor(x).eigh()
    assert (w.dtype.name, v.dtype.name, Tensor(x).inv().dtype.name) == ("float32", "complex64", "complex64")
    near(Tensor(x).inv(), np.linalg.inv(x.astype(complex)), 1e-5)
    near(w, np.linalg.eigvalsh(x.astype(complex)), 1e-5)


@pytest.mark.wide_on_cpu
def test_steps_of_large_matrices_are_planned_once() -> None:
    x = random(70, 70) + 8 * np.eye(70)
    near(Tensor(x).inv(), np.linalg.inv(x), 1e-10)


@pytest.mark.wide_on_cpu
def test_polynomials_move_singular_values_to_one() -> None:
    x = Tensor(random(3, 2)).newton_schulz(30, (1.5, -0.5)).numpy()
    near(adjoint(x) @ x, np.eye(2))


# --- gradients ---


def weighted(outs: Any, stack: Callable[[Any], Any]) -> Any:
    """Return a number that depends on each part in its own way, linearly and not."""
    total: Any = 0
    for out in outs:
        flat = out.reshape(-1)
        weight = stack(np.cos(np.arange(1.0, flat.shape[0] + 1) ** 2))
        size = flat.abs()
        total = total + ((flat * weight).sum().abs() ** 2) + (size * size * weight).sum()
    return total


def of_factors(u: Any, s: Any, vh: Any) -> Any:
    return s, (u * (s * s)[None]) @ vh


def with_signs(q: Any, r: Any) -> Any:
    """Return the factors of which the diagonal of R is positive."""
    sign = r.diagonal(0, -2, -1).real.sign()
    return q * sign[None], r * sign[:, None]


def of_values(w: Any, v: Any) -> Any:
    return w, (v * w.exp()) @ v.mH


GRADIENTS: dict[str, tuple[Any, Any, np.ndarray]] = {
    "inv": (lambda x: (x.inv(),), lambda x: (torch.linalg.inv(x),), random(2, 3, 3)),
    "det": (lambda x: (x.det(),), lambda x: (torch.linalg.det(x),), random(2, 3, 3)),
    "slogdet": (lambda x: x.slogdet(), torch.linalg.slogdet, random(3, 3)),
    "logdet": (lambda x: (x.logdet(),), lambda x: (torch.logdet(x),), random(3, 3)),
    "solve": (
        lambda x: (x.solve(x[:, :2] * 2j + 1),),
        lambda x: (torch.linalg.solve(x, x[:, :2] * 2j + 1),),
        random(3, 3),
    ),
    "cholesky": (
        lambda x: (((x + x.mH) / 2).cholesky(),),
        lambda x: (torch.linalg.cholesky((x + x.mH) / 2),),
        positive(3, 3),
    ),
    "qr": (lambda x: with_signs(*x.qr()), lambda x: with_signs(*torch.linalg.qr(x)), random(3, 2)),
    "qr of wide ones": (
        lambda x: with_signs(*x.qr()),
        lambda x: with_signs(*torch.linalg.qr(x)),
        random(2, 3),
    ),
    "svd": (
        lambda x: of_factors(*x.svd(False)),
        lambda x: of_factors(*torch.linalg.svd(x, False)),
        random(3, 2),
    ),
    "eigh": (lambda x: of_values(*x.eigh()), lambda x: of_values(*torch.linalg.eigh(x)), positive(2, 2) / 2),
    "pinv": (lambda x: (x.pinv(),), lambda x: (torch.linalg.pinv(x),), random(2, 3)),
    "power": (lambda x: (x.matrix_power(-2),), lambda x: (torch.linalg.matrix_power(x, -2),), random(2, 2)),
    "norm": (lambda x: (x.matrix_norm(),), lambda x: (torch.linalg.matrix_norm(x),), random(2, 3)),
}


@pytest.mark.parametrize(("ours", "theirs", "x"), GRADIENTS.values(), ids=GRADIENTS)
@pytest.mark.wide_on_cpu
def test_gradients_are_those_of_torch(ours: Any, theirs: Any, x: np.ndarray) -> None:
    mine, other = Tensor(x), torch.tensor(x, requires_grad=True)
    (found,) = weighted(ours(mine), Tensor).gradient(mine)
    weighted(theirs(other), torch.tensor).backward()
    assert other.grad is not None
    near(found, other.grad.resolve_conj().numpy(), 1e-8)


# --- symbolic sizes, and replays ---


@pytest.mark.parametrize("value", [1, 3])
def test_sizes_may_be_symbolic(value: int) -> None:
    x = positive(3, 3)
    part = Tensor(x)[: (n := Variable("n", 1, 3).bind(value)), :n]
    wanted = x[:value, :value]
    for found, expected in (
        (part.inv(), np.linalg.inv(wanted)),
        (part.cholesky(), np.linalg.cholesky(wanted)),
        (part.eigh().eigenvalues, np.linalg.eigvalsh(wanted)),
    ):
        rest = tuple((0, 0 if isinstance(size, int) else 3 - size) for size in found.shape)
        whole = found.pad(rest).numpy()
        near(whole[tuple(slice(value) for _ in rest)], expected)


def test_a_replay_solves_other_systems() -> None:
    step = jit(lambda x, b: x.solve(b) + 0)
    for _ in range(4):
        x, b = random(3, 3), random(3)
        near(step(Tensor(x).realize(), Tensor(b).realize()), np.linalg.solve(x, b), 1e-11)
    assert step.captures == 1
