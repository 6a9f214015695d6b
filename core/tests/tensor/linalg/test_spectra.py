"""Tests of plugrad.tensor.linalg.spectra, against torch and NumPy in double precision."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, events
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.tensor.shape.padding import interval
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def symmetric(*shape: int) -> Any:
    x = random(*shape)
    return x + x.swapaxes(-1, -2)


def compare(
    function: Callable[[Any, Any], Any], *arrays: Any, tolerance: float = 1e-9, second: bool = False
) -> None:
    """Compare a number made by our operations and by those of torch, and its derivatives."""
    mine, theirs = [Tensor(x) for x in arrays], [torch.tensor(x, requires_grad=True) for x in arrays]
    out, expected = function(mine, Tensor), function(theirs, torch.tensor)
    grads = out.gradient(*mine)
    wanted = torch.autograd.grad(expected, theirs, create_graph=second)
    seconds: Any = []
    if second:
        seconds = sum([(g * g).sum() for g in grads]).gradient(*mine)
        wanted_seconds = torch.autograd.grad(sum((g * g).sum() for g in wanted), theirs)
    realize_all(out, grads, seconds)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=tolerance)
    for grad, value in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(grad.numpy(), value.detach().numpy(), rtol=tolerance, atol=tolerance)
    if second:
        for grad, value in zip(seconds, wanted_seconds, strict=True):
            np.testing.assert_allclose(
                grad.numpy(), value.numpy(), rtol=100 * tolerance, atol=100 * tolerance
            )


def check_svd(x: Any, out: Any, tolerance: float, full: bool = True) -> None:
    realize_all(out)
    u, s, vh = (part.numpy().astype(np.float64) for part in out)
    k = min(x.shape[-2:])
    expected = np.linalg.svd(x.astype(np.float64), compute_uv=False)
    size = max(expected.max(initial=0), 1e-30)
    np.testing.assert_allclose(s, expected, atol=tolerance * size)
    assert (np.diff(s, axis=-1) <= 0).all()
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=tolerance * size)
    assert u.shape[-1] == (x.shape[-2] if full else k)
    assert vh.shape[-2] == (x.shape[-1] if full else k)
    for rows in (u.swapaxes(-1, -2), vh):
        eye = np.broadcast_to(np.eye(rows.shape[-2]), (*rows.shape[:-1], rows.shape[-2]))
        np.testing.assert_allclose(rows @ rows.swapaxes(-1, -2), eye, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 2), (2, 5), (1, 4), (4, 1), (2, 4, 3)])
def test_singular_values_and_vectors_are_what_they_should_be(shape: Any) -> None:
    x = random(*shape)
    check_svd(x, Tensor(x).svd(), 1e-13)
    check_svd(x, Tensor(x).svd(full_matrices=False), 1e-13, full=False)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((3, 2)), np.eye(4), np.ones((4, 3)), np.diag([1.0, 0.0, 1e-12]), np.diag([1e200, 1e190]),
        np.array([[0.0, 1.0], [0.0, 0.0]]),
        np.outer(np.arange(5.0), np.arange(1.0, 4)),
    ],
    ids=str,
)  # fmt: skip
def test_directions_of_singular_value_0_are_found(x: Any) -> None:
    check_svd(x, Tensor(x).svd(), 1e-13)


@pytest.mark.parametrize("size", [17, 18, 40])
@pytest.mark.wide_on_cpu
def test_singular_values_near_the_smallest_float_change_no_vectors(size: int) -> None:
    x = np.ones((size, size), np.float32)
    check_svd(x, Tensor(x).svd(), 1e-5)


@pytest.mark.wide_on_cpu
def test_gradients_of_huge_and_tiny_singular_values_are_those_of_torch() -> None:
    weight = random(3, 3).astype(np.float32)
    x = random(3, 3).astype(np.float32)
    for scale in (1e25, 1e-25):
        mine = Tensor(x * np.float32(scale))
        u, _, vh = mine.svd()
        found = ((u @ vh) * Tensor(weight)).sum().gradient(mine)[0]
        theirs = torch.tensor(x.astype(np.float64) * scale, requires_grad=True)
        u, _, vh = torch.linalg.svd(theirs)
        ((u @ vh) * torch.tensor(weight)).sum().backward()
        assert theirs.grad is not None
        np.testing.assert_allclose(found.numpy() * scale, theirs.grad.numpy() * scale, rtol=1e-4, atol=1e-4)


def hard(size: int) -> np.ndarray:
    """Return matrices that rotations take long for, in one batch."""
    left, right = (np.linalg.qr(random(size, size))[0] for _ in range(2))
    falling = np.logspace(0, -15, size)
    half = np.where(np.arange(size) < size // 2, 1.0, 1e-3)
    kinds = {
        "falling": (left * falling) @ right.T,
        "two clusters": (left * half * (1 + 2e-16 * RNG.standard_normal(size))) @ right.T,
        "graded rows": falling[:, None] * random(size, size),
        "graded columns": random(size, size) * falling,
        "hilbert": 1 / (np.arange(size)[:, None] + np.arange(size) + 1.0),
        "low rank": random(size, 3) @ random(3, size),
        "equal": np.ones((size, size)),
        "signs": (left * np.where(np.arange(size) % 2, 1.0, -1.0)) @ left.T,
    }
    # bounds are parts of the greatest value of all
    return np.stack([x / np.linalg.norm(x, 2) for x in kinds.values()])


@pytest.mark.wide_on_cpu
def test_graded_and_clustered_matrices_are_as_accurate_as_others() -> None:
    size = 24
    x = hard(size)
    check_svd(x, Tensor(x).svd(), 2e-14)
    x = (x + x.swapaxes(-1, -2)) / 2
    x /= np.linalg.norm(x, 2, axis=(-2, -1), keepdims=True)
    parts = Tensor(x).eigh()
    realize_all(parts)
    w, v = (part.numpy() for part in parts)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(x), atol=2e-14)
    np.testing.assert_allclose(x @ v, v * w[:, None], atol=4e-14)
    eyes = np.broadcast_to(np.eye(size), x.shape)
    np.testing.assert_allclose(v.swapaxes(-1, -2) @ v, eyes, atol=2e-14)


@pytest.mark.wide_on_cpu
def test_repeated_values_need_no_more_sweeps_than_others() -> None:
    size = 48
    turns = np.linalg.qr(random(4, size, size))[0]
    x = (turns * RNG.choice([1.0, 2.0, -3.0], (4, 1, size))) @ turns.swapaxes(-1, -2)
    check_svd((x + x.swapaxes(-1, -2)) / 2, Tensor((x + x.swapaxes(-1, -2)) / 2).svd(), 2e-14)


@pytest.mark.wide_on_cpu
def test_nan_gives_nan() -> None:
    x = np.eye(3)
    x[1, 1] = np.nan
    for part in (*Tensor(x).svd(), *Tensor(x).eigh()):
        assert np.isnan(part.numpy()).any()


def test_single_precision_is_near_double() -> None:
    x = random(14, 11).astype(np.float32)
    check_svd(x, Tensor(x).svd(), 2e-6)
    h = symmetric(11, 11).astype(np.float32)
    w, v = (part.numpy().astype(np.float64) for part in Tensor(h).eigh())
    size = np.abs(w).max()
    np.testing.assert_allclose(w, np.linalg.eigvalsh(h.astype(np.float64)), atol=2e-6 * size)
    np.testing.assert_allclose(h @ v, v * w, atol=4e-6 * size)
    np.testing.assert_allclose(v.T @ v, np.eye(11), atol=2e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_gradients_of_svd_are_those_of_torch(shape: Any) -> None:
    def function(given: Any, stack: Any) -> Any:
        svd = (
            given[0].svd
            if stack is Tensor
            else lambda full_matrices: torch.linalg.svd(given[0], full_matrices)
        )
        u, s, vh = svd(full_matrices=False)
        k = s.shape[-1]
        left = u @ (u * stack(np.arange(1.0, k + 1))).transpose(0, 1)
        mixed = (u * s * s * s) @ vh
        return (left * stack(weight[0])).sum() + (mixed * stack(weight[1])).sum() + (s * s * s * s).sum()

    m, n = shape
    weight = random(m, m), random(m, n)
    compare(function, random(*shape), second=shape == (4, 2))


def test_all_vectors_together_change_as_torch_says() -> None:
    x, weight = random(4, 2), random(4, 4)
    mine, theirs = Tensor(x), torch.tensor(x, requires_grad=True)
    others = interval(mine.svd()[0], 1, 2, 4)
    ours = (others @ others.transpose() * Tensor(weight)).sum().gradient(mine)[0]
    u = torch.linalg.svd(theirs, full_matrices=False)[0]
    ((torch.eye(4, dtype=torch.float64) - u @ u.T) * torch.tensor(weight)).sum().backward()
    np.testing.assert_allclose(ours.numpy(), theirs.grad.numpy(), atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 3)])
def test_eigenvalues_and_vectors_are_what_they_should_be(shape: Any) -> None:
    x = symmetric(*shape)
    # what is above the diagonal is not read
    w, v = (part.numpy() for part in Tensor(np.tril(x)).eigh())
    np.testing.assert_allclose(w, np.linalg.eigvalsh(x), atol=1e-13)
    np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=1e-13)
    np.testing.assert_allclose(v.swapaxes(-1, -2) @ v, np.broadcast_to(np.eye(shape[-1]), shape), atol=1e-14)


@pytest.mark.parametrize(
    "diagonal", [[0.0, 0.0], [1.0, 1.0, 1.0], [2.0, -2.0, 0.0], [-1e-8, 1.0, 1e8]], ids=str
)
def test_equal_and_opposite_eigenvalues_are_told_apart(diagonal: Any) -> None:
    turn = np.linalg.qr(random(len(diagonal), len(diagonal)))[0]
    x = turn @ np.diag(diagonal) @ turn.T
    x = (x + x.T) / 2
    w, v = (part.numpy() for part in Tensor(x).eigh())
    size = max(np.abs(diagonal).max(), 1.0)
    np.testing.assert_allclose(w, np.sort(diagonal), atol=1e-14 * size)
    np.testing.assert_allclose((v * w) @ v.T, x, atol=1e-14 * size)


@pytest.mark.wide_on_cpu
def test_gradients_of_eigh_are_those_of_torch() -> None:
    def function(given: Any, stack: Any) -> Any:
        x = (given[0] + given[0].transpose(0, 1)) / 2
        w, v = x.eigh() if stack is Tensor else torch.linalg.eigh(x)
        mixed = (v * stack(np.arange(1.0, 5))) @ v.transpose(0, 1)
        return (mixed * stack(weight)).sum() + (w * w * w * stack(np.arange(2.0, 6))).sum()

    weight = random(4, 4)
    compare(function, symmetric(4, 4), second=True)


def test_gradients_of_equal_eigenvalues_are_finite() -> None:
    x = Tensor(np.eye(3))
    np.testing.assert_allclose((x.eigh()[0] ** 2).sum().gradient(x)[0].numpy(), 2 * np.eye(3), atol=1e-14)
    s = Tensor(np.zeros((2, 2)))
    assert np.isfinite(s.svd()[1].sum().gradient(s)[0].numpy()).all()


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_pseudo_inverses_are_those_of_torch(shape: Any) -> None:
    def function(given: Any, stack: Any) -> Any:
        out = given[0].pinv() if stack is Tensor else torch.linalg.pinv(given[0])
        return (out * stack(weight)).sum() + (out * out).sum()

    weight = random(*shape).swapaxes(-1, -2)
    compare(function, random(*shape), tolerance=1e-8, second=shape == (4, 2))


@pytest.mark.wide_on_cpu
def test_pseudo_inverses_cut_small_singular_values() -> None:
    x = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    np.testing.assert_allclose(Tensor(x).pinv().numpy(), np.linalg.pinv(x), atol=1e-14)
    out = Tensor(np.diag([1.0, 0.1])).pinv(rtol=0.2).numpy()
    np.testing.assert_allclose(out, np.diag([1.0, 0.0]), atol=1e-14)
    assert Tensor(np.zeros((2, 3))).pinv().tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize(
    ("left", "right"), [((5, 2), (5,)), ((2, 4), (2, 3)), ((2, 4, 2), (2, 4)), ((3, 3), (3, 1))]
)
def test_least_squares_are_those_of_numpy(left: Any, right: Any) -> None:
    a, b = random(*left), random(*right)
    is_vector = len(right) == 1 or right == left[:-1]
    columns = b[..., None] if is_vector else b
    expected = np.linalg.pinv(a) @ columns
    out = Tensor(a).lstsq(Tensor(b))
    np.testing.assert_allclose(out.solution.numpy(), expected[..., 0] if is_vector else expected, atol=1e-12)
    np.testing.assert_array_equal(out.rank.numpy(), np.linalg.matrix_rank(a))
    singular = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(out.singular_values.numpy(), singular, atol=1e-12)
    if left[-2] > left[-1]:
        residuals = ((a @ expected - columns) ** 2).sum(-2)
        wanted = residuals[..., 0] if is_vector else residuals
        np.testing.assert_allclose(out.residuals.numpy(), wanted, atol=1e-12)
    else:
        assert out.residuals.numel() == 0


def test_solutions_and_residuals_have_the_gradients_of_torch() -> None:
    def weighted(given: Any, stack: Any) -> Any:
        solution, residuals = lstsq(stack, *given)[:2]
        return (solution * solution * solution).sum() + residuals.square().sum()

    def lstsq(stack: Any, a: Any, b: Any) -> Any:
        if stack is Tensor:
            return a.lstsq(b)
        # torch leaves out residuals where its driver does
        solution = torch.linalg.lstsq(a, b).solution
        return solution, (a @ solution - b).square().sum(-2)

    compare(weighted, random(5, 2), random(5, 3), tolerance=1e-7)


@pytest.mark.parametrize("p", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_norms_of_matrices_are_those_of_torch(p: Any) -> None:
    def function(given: Any, stack: Any) -> Any:
        out = given[0].matrix_norm(p) if stack is Tensor else torch.linalg.matrix_norm(given[0], p)
        return (out * out).sum()

    compare(function, random(2, 3, 4))
    x = random(3, 2, 4)
    out = Tensor(x).matrix_norm(p, axis=(2, 0), keepdim=True)
    assert out.shape == (1, 2, 1)
    expected = np.linalg.norm(x, p, axis=(2, 0), keepdims=True)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)
    assert Tensor(x).matrix_norm(p, axis=(2, 0)).shape == (2,)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0)])
@pytest.mark.parametrize("p", ["fro", "nuc", 1, 2, math.inf])
def test_norms_of_no_elements_are_0(shape: Any, p: Any) -> None:
    assert Tensor.zeros(*shape).matrix_norm(p).tolist() == np.zeros(shape[:-2]).tolist()


def test_rounds_share_their_kernels() -> None:
    counts = []
    for size in (5, 8):
        steps = Tensor(symmetric(size, size)).realize().eigh()[1].schedule()
        counts.append(len({step.ast for step in steps}))
    assert counts[1] <= counts[0] < 40


@pytest.mark.wide_on_cpu
def test_reading_one_factor_after_the_other_computes_nothing_twice() -> None:
    parts = Tensor(random(6, 6)).realize().svd()
    done: list[events.RealizeEvent] = []
    with events.subscribe(events.RealizeEvent, done.append):
        for part in parts:
            part.numpy()
    # one makes the transposed factor contiguous
    assert sum(event.kernels for event in done) <= 1


def test_narrow_floats_and_integers_compute_in_floats() -> None:
    assert [part.dtype.name for part in Tensor([[2.0, 0.0], [0.0, 1.0]], dtype="float16").svd()] == [
        "float16"
    ] * 3
    w, v = Tensor([[2, 0], [0, 1]]).eigh()
    assert (w.dtype.name, v.dtype.name, w.tolist()) == ("float32", "float32", [1.0, 2.0])


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(ShapeError, match="it takes matrices"):
        Tensor.zeros(3).svd()
    with pytest.raises(ShapeError, match="it takes square matrices"):
        Tensor.zeros(3, 2).eigh()
    with pytest.raises(ShapeError, match="it takes matrices"):
        Tensor.zeros(3).pinv()
    with pytest.raises(ShapeError, match="the right sides need 3 rows"):
        Tensor.zeros(3, 2).lstsq(Tensor.zeros(2))
    with pytest.raises(ArgumentError, match="is none of 'fro'"):
        Tensor.zeros(3, 2).matrix_norm(3)
    with pytest.raises(AxisError, match="are the same"):
        Tensor.zeros(3, 2).matrix_norm(axis=(1, -1))
