"""Symbolic sizes: one kernel serves all values of a variable, eagerly and replayed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable
from plugrad.errors import AxisError, ShapeError
from plugrad.jit import jit

A = np.random.default_rng(0).standard_normal((8, 6)).astype(np.float32)
B = np.random.default_rng(1).standard_normal((6, 5)).astype(np.float32)
VALUES = (3, 5, 8, 2)
# no size in the cases is larger
LARGEST = 48


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(0))
    return weights / weights.sum(0)


def attention(q: np.ndarray, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    weights = np.exp(q @ x.T / np.sqrt(q.shape[-1])) * mask
    return weights / weights.sum(-1, keepdims=True) @ x


def slope(x: np.ndarray) -> np.ndarray:
    return 2 * np.tanh(x) * (1 - np.tanh(x) ** 2)


# from a bound variable and a tensor to a tensor, and from its value and an array to the expected array
CASES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, Any], Any]]] = {
    "the first": (lambda n, x: x[:n] * 2, lambda n, x: x[:n] * 2),
    "the last": (lambda n, x: x[n:] * 2, lambda n, x: x[n:] * 2),
    "one": (lambda n, x: x[n - 1] * 2, lambda n, x: x[n - 1] * 2),
    "a window": (lambda n, x: x[n - 2 : n] * 2, lambda n, x: x[n - 2 : n] * 2),
    "both ends": (lambda n, x: x[1:n, 2:5] * 2, lambda n, x: x[1:n, 2:5] * 2),
    "sum": (lambda n, x: x[:n].sum(0), lambda n, x: x[:n].sum(0)),
    "sum of the last": (lambda n, x: x[n - 1 :].sum(), lambda n, x: x[n - 1 :].sum()),
    "mean": (lambda n, x: x[:n].mean(0), lambda n, x: x[:n].mean(0)),
    "max": (lambda n, x: x[:n].max(0), lambda n, x: x[:n].max(0)),
    "argmax": (lambda n, x: x[:n].argmax(0), lambda n, x: x[:n].argmax(0)),
    "variance": (lambda n, x: x[:n].var(0, correction=0), lambda n, x: x[:n].var(0)),
    "softmax": (lambda n, x: x[:n].softmax(0), lambda n, x: softmax(x[:n])),
    "matmul": (lambda n, x: x[:n] @ Tensor(B), lambda n, x: x[:n] @ B),
    "matmul along": (lambda n, x: x[:n].T @ x[:n], lambda n, x: x[:n].T @ x[:n]),
    "reshape": (lambda n, x: x[:n].reshape(n * 6) * 2, lambda n, x: x[:n].reshape(-1) * 2),
    "split": (lambda n, x: x[:n].reshape(n, 2, 3).sum(1), lambda n, x: x[:n].reshape(n, 2, 3).sum(1)),
    "reshape to what fits": (lambda n, x: x[:n].reshape(-1, 3) + 1, lambda n, x: x[:n].reshape(-1, 3) + 1),
    "expand": (lambda n, x: x[:1].expand(n, 6) * 2, lambda n, x: np.broadcast_to(x[:1], (n, 6)) * 2),
    "pad": (
        lambda n, x: x[:n].pad(((1, 8 - n), (0, 0))) + 1,
        lambda n, x: np.pad(x[:n], ((1, 8 - n), (0, 0))) + 1,
    ),
    "shrink": (lambda n, x: x.shrink(((0, n), (1, 3))) + 1, lambda n, x: x[:n, 1:3] + 1),
    "flip": (lambda n, x: x[:n].flip(0) + 1, lambda n, x: x[:n][::-1] + 1),
    "permute": (lambda n, x: x[:n].permute(1, 0) + 1, lambda n, x: x[:n].T + 1),
    "join": (lambda n, x: x[:n].cat(x[:2]), lambda n, x: np.concatenate([x[:n], x[:2]])),
    "repeat": (lambda n, x: x[:n].repeat(2, 1) + 1, lambda n, x: np.tile(x[:n], (2, 1)) + 1),
    "count": (lambda n, x: Tensor.arange(n) * 2, lambda n, x: np.arange(n) * 2),
    "triangle": (lambda n, x: Tensor.ones(n, n).tril(), lambda n, x: np.tril(np.ones((n, n)))),
    "running sums": (lambda n, x: x[:n].cumsum(0), lambda n, x: x[:n].cumsum(0)),
    "running sums along another axis": (lambda n, x: x[:n].cumsum(1), lambda n, x: x[:n].cumsum(1)),
    "running products": (lambda n, x: x[:n].T.cumprod(1), lambda n, x: x[:n].T.cumprod(1)),
    "running maxima": (lambda n, x: x[:n].cummax(0)[0], lambda n, x: np.maximum.accumulate(x[:n])),
    "places of running minima": (
        lambda n, x: x[:n].cummin(0)[1],
        lambda n, x: np.array([[c[: i + 1].argmin() for c in x.T] for i in range(n)]),
    ),
    "running log of sums": (
        lambda n, x: x[:n].logcumsumexp(0), lambda n, x: np.log(np.exp(x[:n]).cumsum(0)),
    ),
    "sorted": (lambda n, x: x[:n].sort(0)[0], lambda n, x: np.sort(x[:n], 0)),
    "sorted down": (lambda n, x: x[:n].sort(0, True)[0], lambda n, x: -np.sort(-x[:n], 0)),
    "sorted along another axis": (lambda n, x: x[:n].argsort(1), lambda n, x: np.argsort(x[:n], 1)),
    "sorted with NaN": (
        lambda n, x: (x[:n] > 0).where(float("nan"), x[:n]).sort(0)[0],
        lambda n, x: np.sort(np.where(x[:n] > 0, np.nan, x[:n]), 0),
    ),
    "the two greatest": (lambda n, x: x[:n].topk(2, 0)[0], lambda n, x: -np.sort(-x[:n], 0)[:2]),
    "attention": (
        lambda n, x: x[2:5].scaled_dot_product_attention(x[:n], x[:n]),
        lambda n, x: attention(x[2:5], x[:n], np.ones((3, n))),
    ),
    "causal attention": (
        lambda n, x: x[:n].scaled_dot_product_attention(x[:n], x[:n], is_causal=True),
        lambda n, x: attention(x[:n], x[:n], np.tril(np.ones((n, n)))),
    ),
    "attention with queries of a symbolic size": (
        lambda n, x: x.T[:, :n].scaled_dot_product_attention(x.T[:, :n], x.T),
        lambda n, x: np.exp(x[:n].T @ x[:n] / np.sqrt(n))
        / np.exp(x[:n].T @ x[:n] / np.sqrt(n)).sum(-1, keepdims=True) @ x.T,
    ),
    "rows by tensors": (lambda n, x: x[:n][Tensor([1, 0, -1])], lambda n, x: x[:n][[1, 0, -1]]),
    "columns by tensors": (lambda n, x: x[:n][:, Tensor([2, 0])], lambda n, x: x[:n][:, [2, 0]]),
    "elements by tensors": (
        lambda n, x: x[:n][Tensor([1, -2]), Tensor([2, 0])], lambda n, x: x[:n][[1, -2], [2, 0]],
    ),
    "a number beside tensors": (
        lambda n, x: x[:n][-1, Tensor([2, 0])], lambda n, x: x[:n][-1, [2, 0]],
    ),
    "by a symbolic number of places": (
        lambda n, x: x[Tensor([3, 1, 4, 1, 5, 0, 2, 6])[:n]], lambda n, x: x[[3, 1, 4, 1, 5, 0, 2, 6][:n]],
    ),
    "gradient of running sums": (
        lambda n, x: (x[:n].cumsum(0) ** 2).sum().gradient(x)[0],
        lambda n, x: np.concatenate([2 * x[:n].cumsum(0)[::-1].cumsum(0)[::-1], 0 * x[n:]]),
    ),
    "gradient of sorted": (
        lambda n, x: (x[:n].sort(0)[0][1:2] * 3).sum().gradient(x)[0],
        lambda n, x: np.concatenate([3.0 * (np.argsort(np.argsort(x[:n], 0), 0) == 1), 0 * x[n:]]),
    ),
    "gradient": (
        lambda n, x: (x[:n].tanh() ** 2).sum().gradient(x)[0],
        lambda n, x: np.concatenate([slope(x[:n]), 0 * x[n:]]),
    ),
}  # fmt: skip


def filled_up(y: Tensor) -> Tensor:
    """Return `y` with zeros behind it, in a shape that is known."""
    return y.pad(tuple((0, 0 if isinstance(size, int) else LARGEST - size) for size in y.shape))


def shown(y: Tensor, shape: tuple[int, ...]) -> np.ndarray:
    return y.numpy()[tuple(slice(size) for size in shape)]


def bound(value: int) -> Any:
    return Variable("n", 2, 8).bind(value)


@pytest.mark.parametrize(("f", "expected"), CASES.values(), ids=CASES)
def test_one_kernel_serves_all_values(f: Any, expected: Any) -> None:
    x = Tensor(A).realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        y = f(bound(value), x)
        programs.add(tuple(item.ast for item in filled_up(y).schedule()))
        wanted = expected(value, A)
        np.testing.assert_allclose(shown(filled_up(y), np.shape(wanted)), wanted, rtol=1e-4, atol=1e-5)
    assert len(programs) == 1


@pytest.mark.parametrize(
    "name", ["the last", "both ends", "softmax", "matmul along", "pad", "reshape", "gradient"]
)
def test_a_replay_takes_new_values(name: str) -> None:
    f, expected = CASES[name]

    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return filled_up(f(n, x)) + 0

    for value in (*VALUES, 7, 4):
        wanted = expected(value, A)
        found = step(Tensor(A), bound(value))
        np.testing.assert_allclose(shown(found, np.shape(wanted)), wanted, rtol=1e-4, atol=1e-5)
    assert step.captures == 1


def test_a_replay_refuses_values_that_leave_an_axis() -> None:
    @jit
    def first(x: Tensor, n: Any) -> Tensor:
        return x[:, :n].sum(1) + 0

    @jit
    def last(x: Tensor, n: Any) -> Tensor:
        return x[n - 3 : n].sum(0) + 0

    for value in (3, 4, 5, 6):
        np.testing.assert_allclose(first(Tensor(A), bound(value)).numpy(), A[:, :value].sum(1), rtol=1e-4)
        found = last(Tensor(A), bound(value)).numpy()
        np.testing.assert_allclose(found, A[value - 3 : value].sum(0), rtol=1e-4, atol=1e-5)
    with pytest.raises(ShapeError, match=r"with n=7: a slice of 0..7 leaves its axis of size 6"):
        first(Tensor(A), bound(7))
    with pytest.raises(ShapeError, match=r"with n=2: a slice of -1..2 leaves its axis of size 8"):
        last(Tensor(A), bound(2))


def test_a_shape_has_as_many_elements_as_there_are_today() -> None:
    x = Tensor(A)
    assert x[: bound(4)].reshape(12, 2).sum(1).shape == (12,)
    with pytest.raises(ShapeError, match=r"cannot reshape \(n, 6\) to \(12, 2\): 30 elements do not fit 24"):
        x[: bound(5)].reshape(12, 2)
    with pytest.raises(ShapeError, match=r"cannot reshape \(n, 6\) to \(4, n\*6//4\): 30 .* do not fit 28"):
        x[: bound(5)].reshape(4, -1)


def test_a_slice_with_a_variable_stays_inside() -> None:
    x = Tensor(A)
    with pytest.raises(AxisError, match=r"axis 1: a slice of 0..7 of an axis of size 6"):
        x[:, : bound(7)]
    with pytest.raises(AxisError, match=r"axis 0: a slice of -1..8 of an axis of size 8"):
        x[bound(2) - 3 :]
    assert x[: bound(5)][: bound(5)].shape == x[: bound(5)].shape
