"""Writes to and through parts of symbolic size, and memory of symbolic size."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_symbolic import A, bound, filled_up, shown

from plugrad import Tensor, Variable
from plugrad.errors import AxisError, GradientError
from plugrad.jit import jit

VALUES = (8, 3, 5)


def own() -> Tensor:
    return Tensor(A[:, :2]).contiguous().realize()


def seen(y: Any, where: Any, value: Any) -> Any:
    """Return `y` after a write, of Tensors and of arrays."""
    y[where] = value
    return y


def after(write: Callable[[Any, Any], object]) -> Callable[[Any, Any], Any]:
    """Return what gives all of the memory after a write to it."""

    def whole(n: Any, y: Any) -> Any:
        write(n, y)
        return y

    return whole


def raised(part: Any, number: float) -> None:
    part += number


def assigned(part: Any, value: Any) -> None:
    if isinstance(part, Tensor):
        part.assign(value)
    else:
        part[...] = value


def twice_raised(n: Any, y: Any) -> Any:
    z = y[:n] + 1
    z += 1
    z *= 2
    return z


def beside_its_row(n: Any, y: Any) -> Any:
    z = y[:n] * 2
    row = z[0]
    z += 1
    row += 3
    return z


def flat(n: Any, y: Any) -> Any:
    z = (y[:n] * 2).reshape(n * 2)
    z[1] = 4
    pairs = z.reshape(n, 2)
    pairs += 1
    return z


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "the first": lambda n, y: seen(y, slice(n), -1),
    "the last": lambda n, y: seen(y, slice(n - 1, None), -1),
    "counted from the end": lambda n, y: seen(y, slice(-1 * n, None), -1),
    "one": lambda n, y: seen(y, n - 1, -1),
    "every second": lambda n, y: seen(y, slice(0, n, 2), -5),
    "other elements of it": lambda n, y: seen(y, slice(n), y[8 - n :] * 2),
    "added to two": after(lambda n, y: raised(y[n - 2 : n], 1)),
    "through a part of a part": after(lambda n, y: raised(y[:n][1:, 1], 4)),
    "an assign to a part": after(lambda n, y: assigned(y[n - 2 : n], y[:2] * 3)),
    "where a mask holds": after(lambda n, y: seen(y[:n], y[:n] > 0, 0)),
    "a value": twice_raised,
    "a value and its row": beside_its_row,
    "an element of a value": lambda n, y: seen(y[:n] * 2, 1, 7),
    "a column of a value": lambda n, y: seen(y[:n] * 2, (slice(None), 1), 7),
    "every second of a value": lambda n, y: seen(y[:n] * 2, slice(None, None, 2), 9),
    "a value where a mask holds": lambda n, y: seen(y[:n] * 2, y[:n] > 0, 0),
    "a row of a transposed value": lambda n, y: seen((y[:n] * 2).T, 0, 9),
    "a value in another shape": flat,
}


@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
def test_one_set_of_kernels_writes_for_all_values(f: Callable[[Any, Any], Any]) -> None:
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        wanted = f(value, A[:, :2].copy())
        y = f(bound(value), own())
        programs.add(tuple(item.ast for item in filled_up(y).schedule()))
        np.testing.assert_allclose(shown(filled_up(y), wanted.shape), wanted, rtol=1e-6)
    assert len(programs) == 1


@pytest.mark.parametrize(
    "name", ["the first", "every second", "added to two", "a value", "an element of a value"]
)
def test_a_replay_writes_with_new_values(name: str) -> None:
    @jit
    def step(n: Any, y: Tensor) -> Tensor:
        return filled_up(CASES[name](n, y)) + 0

    for value in (*VALUES, 7, 4, 2):
        wanted = CASES[name](value, A[:, :2].copy())
        np.testing.assert_allclose(shown(step(bound(value), own()), wanted.shape), wanted, rtol=1e-6)
    assert step.captures == 1


def test_a_cache_of_keys_grows_by_a_place_at_each_replay() -> None:
    cache = Tensor.zeros(8, 2).contiguous().realize()

    @jit
    def step(new: Tensor, place: Any) -> Tensor:
        cache[place : place + 1] = new
        return cache[: place + 1].sum(0) + 0

    for value in range(8):
        found = step(Tensor(A[value : value + 1, :2]).realize(), Variable("place", 0, 7).bind(value))
        np.testing.assert_allclose(found.numpy(), A[: value + 1, :2].sum(0), rtol=1e-4, atol=1e-5)
    assert step.captures == 1
    np.testing.assert_array_equal(cache.numpy(), A[:, :2])


@pytest.mark.parametrize("value", VALUES)
def test_memory_of_symbolic_size_is_written_and_read(value: int) -> None:
    n = bound(value)
    for made in (Tensor.empty(n, 2), Tensor(A)[:n, :2].empty_like(), Tensor([1.0]).new_empty(n, 2)):
        made.assign(Tensor(A)[:n, :2])
        made += 1
        np.testing.assert_allclose(shown(filled_up(made), (value, 2)), A[:value, :2] + 1, rtol=1e-6)
    zeros = Tensor.zeros(n, 2)
    zeros[n - 1] = 3
    np.testing.assert_array_equal(shown(filled_up(zeros), (value, 1))[:, 0], [0] * (value - 1) + [3])


@pytest.mark.parametrize("value", VALUES)
def test_a_tensor_of_symbolic_shape_learns(value: int) -> None:
    n = bound(value)
    weight = Tensor.ones(n, 2, requires_grad=True)
    for _ in range(2):
        weight.grad = None
        (weight * weight * Tensor(A)[:n, :2]).sum().backward()
        assert weight.grad is not None
        weight.detach().assign(weight - weight.grad * 0.1)
    x = A[:value, :2]
    expected = (1 - 0.2 * x) * (1 - 0.2 * x)
    np.testing.assert_allclose(shown(filled_up(weight), (value, 2)), expected, rtol=1e-5, atol=1e-6)


def test_a_gradient_goes_to_what_was_written() -> None:
    x = Tensor(A[:, :2], requires_grad=True)
    for value in VALUES:
        y = Tensor.zeros(8, 2).contiguous()
        y[: bound(value)] = x[: bound(value)].detach() * 2
        (gradient,) = (y * x).sum().gradient(x)
        np.testing.assert_allclose(gradient.numpy(), y.numpy(), rtol=1e-6)
    y = x * 2
    with pytest.raises(GradientError, match="its gradient is tracked"):
        y[: bound(3)] += 1


def test_a_bound_of_a_slice_is_an_integer() -> None:
    with pytest.raises(AxisError, match=r"a slice with a bound of 2\.5"):
        Tensor(A)[: bound(3)][:2.5]  # pyright: ignore


def test_places_count_from_the_end_where_they_are_negative_for_all_values() -> None:
    x = Tensor(A)
    np.testing.assert_array_equal(x[-1 * bound(3)].numpy(), A[-3])
    for cut, wanted in (
        (x[-1 * bound(3) :], A[-3:]),
        (x[: -1 * bound(3)], A[:-3]),
        (x[-1 * bound(3) : -1], A[-3:-1]),
    ):
        np.testing.assert_array_equal(shown(filled_up(cut), wanted.shape), wanted)
    np.testing.assert_array_equal(x[np.int64(5) : np.int64(20)].numpy(), A[5:])  # pyright: ignore
