"""Tests of inverses, determinants and triangular factors, against torch and NumPy in double precision."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Device, Ops, Tensor, context, events
from plugrad.errors import ArgumentError, ShapeError
from plugrad.jit import jit
from plugrad.tensor.shape.padding import interval
from plugrad.transforms import checkpoint, grad, vmap
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    """Return matrices far from singular."""
    x = RNG.standard_normal(shape)
    return x + 2 * np.eye(shape[-2], shape[-1])


def positive(*shape: int) -> Any:
    x = RNG.standard_normal(shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])


def weights(count: int) -> list[Any]:
    return [np.cos(np.arange(i + 1.0, i + 500.0) ** 2) for i in range(count)]


def weighted(outs: Any, stack: Callable[[Any], Any]) -> Any:
    """Return a number that depends on each element in its own way, linearly and not."""
    total: Any = 0
    for out, weight in zip(outs, weights(len(outs)), strict=True):
        flat = out.reshape(-1)
        total = total + (flat * stack(weight[: flat.shape[0]])).sum() + (flat * flat * flat).sum() / 3
    return total


def as_tuple(out: Any) -> tuple[Any, ...]:
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def compare(ours: Any, theirs: Any, *arrays: Any, rtol: float = 1e-9, second: bool = False) -> None:
    """Compare values and gradients, in double precision; with `second`, those of a gradient as well."""
    mine = [Tensor(x) for x in arrays]
    other = [torch.tensor(x, requires_grad=True) for x in arrays]
    outs, expected = as_tuple(ours(*mine)), as_tuple(theirs(*other))
    grads = weighted(outs, Tensor).gradient(*mine)
    wanted = torch.autograd.grad(weighted(expected, torch.tensor), other, create_graph=second)
    seconds = weighted(grads, Tensor).gradient(*mine) if second else []
    realize_all(outs, grads, seconds)
    for out, value in zip(outs, expected, strict=True):
        assert out.shape == value.shape
        np.testing.assert_allclose(out.numpy(), value.detach().numpy(), rtol=rtol, atol=rtol)
    for found, value in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), value.detach().numpy(), rtol=100 * rtol, atol=100 * rtol)
    if second:
        wanted = torch.autograd.grad(weighted(wanted, torch.tensor), other)
        for found, value in zip(seconds, wanted, strict=True):
            np.testing.assert_allclose(found.numpy(), value.numpy(), rtol=1e4 * rtol, atol=1e4 * rtol)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 4, 4), (17, 17)])
def test_inverses_are_those_of_torch(shape: Any) -> None:
    compare(lambda x: x.inv(), torch.linalg.inv, random(*shape))


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4)])
def test_determinants_are_those_of_torch(shape: Any) -> None:
    compare(lambda x: x.det(), torch.linalg.det, random(*shape))
    compare(lambda x: x.slogdet()[1], lambda x: torch.linalg.slogdet(x)[1], random(*shape))


def test_signs_are_those_of_permutations() -> None:
    swaps = np.stack([np.eye(4)[list(p)] for p in ((0, 1, 2, 3), (1, 0, 2, 3), (3, 0, 1, 2), (1, 0, 3, 2))])
    assert Tensor(swaps).det().tolist() == np.linalg.det(swaps).tolist()
    assert Tensor(-2 * swaps).slogdet()[0].tolist() == [1.0, -1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (2, 3)),
        ((2, 3, 3), (2, 3, 1)),
        ((2, 1, 3, 3), (4, 3, 2)),
    ],
)
def test_solutions_are_those_of_torch(left: Any, right: Any) -> None:
    compare(lambda a, b: a.solve(b), torch.linalg.solve, random(*left), RNG.standard_normal(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((0, 0), (0, 2)),
        ((3, 3), (3, 0)),
        ((32, 32), (32, 2)),
        ((33, 33), (33, 2)),
        ((33, 33), (3, 33, 1)),
        ((2, 33, 33), (33, 1)),
    ],
)
def test_solutions_by_substitution_and_by_inverses_are_those_of_numpy(left: Any, right: Any) -> None:
    x, b = random(*left), RNG.standard_normal(right)
    np.testing.assert_allclose(
        Tensor(x).solve(Tensor(b)).numpy(), np.linalg.solve(x, b), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (6, 6), (2, 3, 3)])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_factors_are_those_of_torch(shape: Any, upper: bool) -> None:
    theirs = lambda x: torch.linalg.cholesky(x, upper=upper)  # noqa: E731
    compare(lambda x: x.cholesky(upper), theirs, positive(*shape))


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 3), (3, 5), (4, 1), (1, 4), (2, 4, 3), (2, 3, 2, 4)])
def test_orthogonal_factors_are_those_of_torch(shape: Any) -> None:
    compare(lambda x: x.qr(), torch.linalg.qr, random(*shape))


@pytest.mark.wide_on_cpu
def test_second_derivatives_are_those_of_torch() -> None:
    x = random(3, 3)
    compare(lambda x: x.inv(), torch.linalg.inv, x, second=True)
    compare(lambda x: x.det(), torch.linalg.det, x, second=True)
    compare(lambda x: x.slogdet()[1], lambda x: torch.linalg.slogdet(x)[1], x, second=True)
    compare(lambda x: x.qr(), torch.linalg.qr, x, second=True)
    compare(lambda x: x.cholesky(), torch.linalg.cholesky, positive(3, 3), second=True)


def derivatives(function: Any, array: Any, order: int) -> list[np.ndarray]:
    """Return the first gradients of numbers that depend on what was derived before, by a tensor of either."""
    is_ours = isinstance(array, Tensor)
    outs, found = as_tuple(function(array)), []
    for _ in range(order):
        total = weighted(outs, Tensor if is_ours else torch.tensor)
        outs = total.gradient(array) if is_ours else torch.autograd.grad(total, array, create_graph=True)
        found.append(outs[0])
    return [out.detach().numpy() for out in found]


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (Tensor.inv, torch.linalg.inv, random(2, 2)),
        (lambda x: x.slogdet()[1], lambda x: torch.linalg.slogdet(x)[1], random(2, 2)),
        (Tensor.det, torch.linalg.det, random(3, 3)),
        (Tensor.cholesky, torch.linalg.cholesky, positive(2, 2)),
        (Tensor.qr, torch.linalg.qr, random(3, 2)),
        (lambda x: x.eigh()[0], lambda x: torch.linalg.eigh(x)[0], positive(2, 2)),
        (lambda x: x.svd()[1], torch.linalg.svdvals, random(2, 2)),
        (Tensor.pinv, torch.linalg.pinv, random(2, 1)),
    ],
    ids=["inv", "slogdet", "det", "cholesky", "qr", "eigh", "svd", "pinv"],
)
def test_third_derivatives_are_those_of_torch(ours: Any, theirs: Any, x: Any) -> None:
    # derivatives are graphs, and the same on all devices
    with context(DEVICE="PYTHON", SPEC=0):
        found = derivatives(ours, Tensor(x), 3)
    for mine, expected in zip(
        found, derivatives(theirs, torch.tensor(x, requires_grad=True), 3), strict=True
    ):
        np.testing.assert_allclose(mine, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5), (2, 4, 2)])
def test_complete_factors_span_everything(shape: Any) -> None:
    x = random(*shape)
    q, r = Tensor(x).qr("complete")
    expected_q, expected_r = np.linalg.qr(x, "complete")
    np.testing.assert_allclose(q.numpy(), expected_q, atol=1e-12)
    np.testing.assert_allclose(r.numpy(), expected_r, atol=1e-12)
    empty, only = Tensor(x).qr("r")
    assert empty.numel() == 0
    np.testing.assert_allclose(only.numpy(), np.linalg.qr(x, "r"), atol=1e-12)


def test_the_completing_columns_stay_orthogonal_to_the_others() -> None:
    x, weight = random(4, 2), RNG.standard_normal((4, 4))
    mine, other = Tensor(x), torch.tensor(x, requires_grad=True)
    q = interval(mine.qr("complete")[0], 1, 2, 4)
    ours = (q @ q.transpose() * Tensor(weight)).sum().gradient(mine)[0]
    reduced = torch.linalg.qr(other)[0]
    ((torch.eye(4, dtype=torch.float64) - reduced @ reduced.T) * torch.tensor(weight)).sum().backward()
    np.testing.assert_allclose(ours.numpy(), other.grad.numpy(), atol=1e-10)


def test_columns_that_are_done_keep_their_signs() -> None:
    for x in (np.diag([1.0, -2.0, 3.0]), np.zeros((3, 2)), np.triu(random(3, 3))):
        q, r = Tensor(x).qr()
        expected_q, expected_r = torch.linalg.qr(torch.tensor(x))
        np.testing.assert_allclose(q.numpy(), expected_q.numpy(), atol=1e-14)
        np.testing.assert_allclose(r.numpy(), expected_r.numpy(), atol=1e-14)


def test_dependent_columns_have_factors_without_gradients() -> None:
    x = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [3.0, 6.0, 0.0]])
    mine = Tensor(x)
    q, r = mine.qr()
    np.testing.assert_allclose((q @ r).numpy(), x, atol=1e-14)
    np.testing.assert_allclose((q.transpose() @ q).numpy(), np.eye(3), atol=1e-14)
    assert not np.isfinite(q.sum().gradient(mine)[0].numpy()).all()


@pytest.mark.wide_on_cpu
def test_singular_matrices_are_told_by_values_that_are_not_finite() -> None:
    x = Tensor([[1.0, 2.0], [2.0, 4.0]])
    assert x.det().item() == 0.0
    assert [y.item() for y in x.slogdet()] == [0.0, -float("inf")]
    assert not np.isfinite(x.inv().numpy()).any()
    assert not np.isfinite(x.solve(Tensor([1.0, 1.0])).numpy()).any()
    assert np.isnan(x.det().gradient(x)[0].numpy()).all()
    assert np.isnan(x.slogdet()[1].gradient(x)[0].numpy()).all()
    both = Tensor([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 2.0]]]).inv().numpy()
    assert both[1].tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_matrices_that_are_not_positive_definite_give_nan() -> None:
    out = Tensor([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]).cholesky().numpy()
    assert out[0, 0] == 1.0
    assert np.isnan(out[1, 1])
    assert np.isnan(Tensor([[1.0, 1.0], [1.0, 1.0]]).cholesky().numpy()[1, 1])


def test_pivots_keep_zeros_on_the_diagonal_harmless() -> None:
    x = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert Tensor(x).inv().tolist() == x.T.tolist()
    small = np.array([[1e-20, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(Tensor(small).inv().numpy(), np.linalg.inv(small), rtol=1e-14)


def test_single_precision_is_near_double() -> None:
    x = random(4, 4).astype(np.float32)
    a = Tensor(x)
    exact = np.linalg.inv(x.astype(np.float64))
    np.testing.assert_allclose(a.inv().numpy(), exact, rtol=1e-4, atol=1e-5)
    q, r = a.qr()
    np.testing.assert_allclose((q @ r).numpy(), x, atol=1e-5)
    spd = a @ a.transpose()
    factor = spd.cholesky()
    np.testing.assert_allclose((factor @ factor.transpose()).numpy(), x @ x.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(a.det().numpy(), np.linalg.det(x), rtol=1e-5)


@pytest.mark.wide_on_cpu
def test_single_precision_is_near_double_for_larger_matrices() -> None:
    size = 20
    x = (RNG.standard_normal((size, size)) + size**0.5 * np.eye(size)).astype(np.float32)
    wide = x.astype(np.float64)
    # a solution's error grows with the condition of the matrix
    allowed = np.finfo(np.float32).eps * np.linalg.cond(wide)
    np.testing.assert_allclose(Tensor(x).inv().numpy(), np.linalg.inv(wide), atol=allowed)
    b = RNG.standard_normal(size).astype(np.float32)
    np.testing.assert_allclose(Tensor(x).solve(Tensor(b)).numpy(), np.linalg.solve(wide, b), atol=allowed)
    np.testing.assert_allclose(Tensor(x).slogdet()[1].numpy(), np.linalg.slogdet(wide)[1], rtol=1e-6)
    q, r = Tensor(x).qr()
    np.testing.assert_allclose((q.transpose() @ q).numpy(), np.eye(size), atol=2e-6)
    np.testing.assert_allclose((q @ r).numpy(), x, atol=2e-5)


def runs_loops() -> bool:
    return not Device[Device.DEFAULT].capabilities.grid_dims


def test_steps_are_few_kernels_or_share_theirs() -> None:
    for function in (Tensor.inv, Tensor.cholesky, lambda x: x.qr()[1]):
        counts = []
        # values of smaller matrices are computed again, as another kernel would cost more
        for size in (17, 21):
            steps = function(Tensor(positive(size, size)).realize()).schedule()
            loops = [step for step in steps if any(u.op is Ops.FACTOR for u in step.ast.toposort())]
            assert 1 <= len(loops) <= 3 if runs_loops() else len(steps) > size
            counts.append(len({step.ast for step in steps}))
        # the first and the last steps fold something, by the size
        assert counts[1] <= counts[0] + 1


@pytest.mark.parametrize(
    ("name", "most"), [("det", 12), ("cholesky", 10), ("qr", 15), ("eigh", 12), ("svd", 45)]
)
def test_values_are_computed_without_what_only_derivatives_need(name: str, most: int) -> None:
    out = getattr(Tensor(positive(6, 6)).realize(), name)()
    steps = (out if isinstance(out, Tensor) else out[-1]).schedule()
    assert len({step.ast for step in steps}) <= most


@pytest.mark.wide_on_cpu
def test_steps_of_large_matrices_are_planned_once() -> None:
    if runs_loops():
        pytest.skip("these are one kernel, planned with what follows them")
    counts: list[list[int]] = []
    for size in (40, 70):
        x = Tensor(positive(size, size)).realize()
        done: list[events.RealizeEvent] = []
        with events.subscribe(events.RealizeEvent, done.append):
            q, r = x.qr()
        counts.append([event.kernels for event in done])
        np.testing.assert_allclose((q @ r).numpy(), x.numpy(), rtol=1e-4, atol=1e-4)
    assert len(counts[0]) == len(counts[1]) == 3
    (first, _, rest), (larger_first, _, larger_rest) = counts
    assert max(first, larger_first) < 10
    assert larger_rest / rest == 68 / 38


@pytest.mark.parametrize("name", ["inv", "cholesky"])
def test_large_matrices_have_gradients_and_can_be_jitted_and_batched(name: str) -> None:
    values = positive(2, 40, 40)

    def loss(x: Tensor) -> Tensor:
        out = getattr(x, name)()
        return (out if isinstance(out, Tensor) else out[1]).square().sum()

    expected = torch.tensor(values, requires_grad=True)
    result = getattr(torch.linalg, name)(expected)
    (result if isinstance(result, torch.Tensor) else result[1]).square().sum().backward()
    assert expected.grad is not None
    given = Tensor(values)
    batched = vmap(grad(loss))(given).numpy()
    alone = jit(grad(loss))
    for _ in range(3):
        for i in range(2):
            found = alone(Tensor(values[i]).realize()).numpy()
            np.testing.assert_allclose(found, expected.grad[i].numpy(), rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(batched[i], found, rtol=1e-4, atol=1e-6)
    kept = grad(checkpoint(loss))(Tensor(values[0])).numpy()
    np.testing.assert_allclose(kept, batched[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("power", [-3, -1, 0, 1, 2, 7])
def test_powers_are_those_of_torch(power: int) -> None:
    compare(lambda x: x.matrix_power(power), lambda x: torch.linalg.matrix_power(x, power), random(2, 3, 3))


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (2, 3, 4)])
@pytest.mark.wide_on_cpu
def test_polynomials_move_singular_values_to_one(shape: Any) -> None:
    x = random(*shape)
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    out = Tensor(x).newton_schulz(40, (1.5, -0.5))
    np.testing.assert_allclose(out.numpy(), u @ vh, atol=1e-12)
    assert Tensor(x.astype(np.float16)).newton_schulz(1, [1.5, -0.5]).dtype.name == "float16"
    unchanged = x / (np.sqrt((x * x).sum((-2, -1), keepdims=True)) + 1e-7)
    np.testing.assert_allclose(Tensor(x).newton_schulz(0, (1.5, -0.5)).numpy(), unchanged, rtol=1e-12)
    for steps, params in ((-1, (1,)), (1.5, (1,)), (2, ()), (2, 1.5)):
        with pytest.raises(ArgumentError, match="newton_schulz: "):
            Tensor(x).newton_schulz(steps, params)  # pyright: ignore[reportArgumentType]


def test_narrow_floats_and_integers_compute_in_floats() -> None:
    half = Tensor([[2.0, 0.0], [0.0, 4.0]], dtype="float16").inv()
    assert half.dtype.name == "float16"
    assert half.tolist() == [[0.5, 0.0], [0.0, 0.25]]
    whole = Tensor([[2, 0], [0, 4]]).inv()
    assert whole.dtype.name == "float32"
    assert Tensor([[2, 0], [0, 4]]).solve(Tensor([1.0, 1.0], dtype="float64")).dtype.name == "float64"


def test_matrices_of_no_elements_are_allowed() -> None:
    for out in (Tensor.zeros(0, 0).inv(), Tensor.zeros(0, 0).cholesky(), Tensor.zeros(2, 0, 0).inv()):
        assert out.numpy().size == 0
    assert Tensor.zeros(0, 0).det().item() == 1.0
    q, r = Tensor.zeros(3, 0).qr()
    assert (q.shape, r.shape) == ((3, 0), (0, 0))


def test_shapes_that_are_no_matrices_are_refused() -> None:
    wide = Tensor.zeros(2, 3)
    for function in (Tensor.inv, Tensor.det, Tensor.slogdet, Tensor.cholesky):
        with pytest.raises(ShapeError, match=r"of shape \(2, 3\): it takes square matrices"):
            function(wide)
    with pytest.raises(ShapeError, match="it takes matrices"):
        Tensor.zeros(3).qr()
    with pytest.raises(ShapeError, match="it takes square matrices"):
        wide.matrix_power(2)
    with pytest.raises(ShapeError, match="the right sides need 2 rows"):
        Tensor.zeros(2, 2).solve(Tensor.zeros(3))
    with pytest.raises(ShapeError, match="do not broadcast"):
        Tensor.zeros(2, 2, 2).solve(Tensor.zeros(3, 2, 1))
    with pytest.raises(ArgumentError, match="is none of"):
        Tensor.zeros(2, 2).qr("full")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="is no integer"):
        Tensor.zeros(2, 2).matrix_power(0.5)  # pyright: ignore[reportArgumentType]
