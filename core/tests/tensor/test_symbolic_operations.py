"""Operations along an axis of symbolic size: one set of kernels serves all values, eagerly and replayed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_symbolic import A, bound, filled_up, shown

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.jit import jit

#: Of an axis of 2 to 8 elements.
VALUES = (8, 3, 5)
ROWS = np.sort(A, 0)


def windows(x: np.ndarray, size: int, step: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, size, 0)[::step]


def written(x: np.ndarray, index: Any, value: Any) -> np.ndarray:
    out = x.copy()
    out[index] = value
    return out


def slope(x: np.ndarray, n: int, part: np.ndarray) -> np.ndarray:
    """Return twice `part`, the gradient of its squares, with zeros behind the `n` rows."""
    return np.concatenate([2 * part, 0 * x[n:]])


def even(n: int) -> int:
    return n - n % 2


# from a bound variable and a tensor to a tensor, and from its value and an array to the expected array
CASES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, Any], Any]]] = {
    "every second": (lambda n, x: x[:n:2] + 0, lambda n, x: x[:n:2]),
    "every second from the second": (lambda n, x: x[1:n:2] + 0, lambda n, x: x[1:n:2]),
    "from the end": (lambda n, x: x[:n][::-1] + 0, lambda n, x: x[:n][::-1]),
    "every third from the end": (lambda n, x: x[:n][::-3] + 0, lambda n, x: x[:n][::-3]),
    "roll": (lambda n, x: x[:n].roll(2, 0), lambda n, x: np.roll(x[:n], 2, 0)),
    "roll back": (lambda n, x: x[:n].roll(-11, 0), lambda n, x: np.roll(x[:n], -11, 0)),
    "roll of all": (lambda n, x: x[:n].roll(7), lambda n, x: np.roll(x[:n], 7)),
    "reflected": (
        lambda n, x: x[:n].pad((0, 0, 1, 2), "reflect"),
        lambda n, x: np.pad(x[:n], ((1, 2), (0, 0)), "reflect"),
    ),
    "replicated": (
        lambda n, x: x[:n].pad((0, 0, 3, 1), "replicate"),
        lambda n, x: np.pad(x[:n], ((3, 1), (0, 0)), "edge"),
    ),
    "wrapped": (
        lambda n, x: x[:n].pad((0, 0, 5, 4), "circular"),
        lambda n, x: np.pad(x[:n], ((5, 4), (0, 0)), "wrap"),
    ),
    "wrapped by symbolic widths": (
        lambda n, x: x.pad((0, 0, n, 1), "circular"), lambda n, x: np.pad(x, ((n, 1), (0, 0)), "wrap"),
    ),
    "windows": (lambda n, x: x[:n].unfold(0, 2, 1) + 0, lambda n, x: windows(x[:n], 2, 1)),
    "windows with steps": (lambda n, x: x[:n].unfold(0, 3, 2) + 0, lambda n, x: windows(x[:n], 3, 2)),
    "part of two": (lambda n, x: x[:n].tensor_split(3)[1] + 0, lambda n, x: np.array_split(x[:n], 3)[1]),
    "the last part": (lambda n, x: x[:n].tensor_split(3)[2] + 0, lambda n, x: np.array_split(x[:n], 3)[2]),
    "cut at places": (
        lambda n, x: x[:n].tensor_split((1, -1))[1] + 0, lambda n, x: np.split(x[:n], (1, -1))[1],
    ),
    "chunks": (lambda n, x: x[:n].chunk(2)[1] + 0, lambda n, x: x[-(-n // 2) : n]),
    "split with a symbolic size": (lambda n, x: x[:n].split((2, n - 2))[1] + 0, lambda n, x: x[2:n]),
    "split where the count is known": (
        lambda n, x: x.repeat(2, 1)[: n + 8].split(9)[1] + 0, lambda n, x: np.tile(x, (2, 1))[9 : n + 8],
    ),
    "equal parts": (
        lambda n, x: x[: n - n % 2].vsplit(2)[1] + 0, lambda n, x: x[even(n) // 2 : even(n)],
    ),
    "glu": (
        lambda n, x: x[: n - n % 2].glu(0),
        lambda n, x: x[: even(n) // 2] / (1 + np.exp(-x[even(n) // 2 : even(n)])),
    ),
    "diagonal of a square": (
        lambda n, x: (x[:n] @ x[:n].T).diagonal(), lambda n, x: (x[:n] @ x[:n].T).diagonal(),
    ),
    "a diagonal beside": (lambda n, x: x[:n].diagonal(1) + 0, lambda n, x: x[:n].diagonal(1)),
    "a diagonal below": (lambda n, x: x[:n].diagonal(-2) + 0, lambda n, x: x[:n].diagonal(-2)),
    "trace": (lambda n, x: x[:n].trace(), lambda n, x: np.trace(x[:n])),
    "on a diagonal": (lambda n, x: x[:n, 0].diag(1) + 0, lambda n, x: np.diag(x[:n, 0], 1)),
    "median": (lambda n, x: x[:n].median(0)[0], lambda n, x: np.sort(x[:n], 0)[(n - 1) // 2]),
    "place of the median": (
        lambda n, x: x[:n].median(0)[1], lambda n, x: np.argsort(x[:n], 0)[(n - 1) // 2],
    ),
    "median without NaN": (
        lambda n, x: (x[:n] > 1).where(float("nan"), x[:n]).nanmedian(),
        lambda n, x: np.sort(x[:n][x[:n] <= 1])[((x[:n] <= 1).sum() - 1) // 2],
    ),
    "quantile": (lambda n, x: x[:n].quantile(0.3, 0), lambda n, x: np.quantile(x[:n], 0.3, 0)),
    "quantiles of all": (
        lambda n, x: x[:n].quantile([0.25, 1.0]), lambda n, x: np.quantile(x[:n], [0.25, 1.0]),
    ),
    "mode": (
        lambda n, x: x[:n].round().mode(0)[0],
        lambda n, x: np.array([min(set(c), key=lambda v: (-(c == v).sum(), v)) for c in np.round(x[:n]).T]),
    ),
    "differences": (lambda n, x: x[:n].diff(1, 0), lambda n, x: np.diff(x[:n], 1, 0)),
    "differences of differences": (lambda n, x: x[:n].diff(2, 0), lambda n, x: np.diff(x[:n], 2, 0)),
    "covariances": (lambda n, x: x[:n].T.cov(), lambda n, x: np.cov(x[:n].T)),
    "covariances of symbolic rows": (lambda n, x: x[:n].cov(), lambda n, x: np.cov(x[:n])),
    "correlations": (lambda n, x: x[:n].corrcoef(), lambda n, x: np.corrcoef(x[:n])),
    "powers": (lambda n, x: x[:n, 0].vander(), lambda n, x: np.vander(x[:n, 0])),
    "places in a sorted row": (
        lambda n, x: x.sort(0)[0][:n, 0].searchsorted(x[:, 1]),
        lambda n, x: np.searchsorted(ROWS[:n, 0], x[:, 1]),
    ),
    "places of a symbolic number": (
        lambda n, x: x.sort(0)[0][:, 0].searchsorted(x[:n, 1], right=True),
        lambda n, x: np.searchsorted(ROWS[:, 0], x[:n, 1], "right"),
    ),
    "histogram": (
        lambda n, x: x[:n].histc(4, -1, 1), lambda n, x: np.histogram(x[:n], 4, (-1, 1))[0],
    ),
    "places of a known number": (
        lambda n, x: (x[:n] > 0).nonzero(size=5, fill_value=-1),
        lambda n, x: np.pad(np.argwhere(x[:n] > 0), ((0, 5), (0, 0)), constant_values=-1)[:5],
    ),
    "chosen, of a known number": (
        lambda n, x: x[:n].masked_select(x[:n] > 0, size=5),
        lambda n, x: np.pad(x[:n][x[:n] > 0], (0, 5))[:5],
    ),
    "each as often as told": (
        lambda n, x: x[:n].repeat_interleave(Tensor([2, 0, 1, 0, 1, 1, 0, 3])[:n], 0, output_size=8),
        lambda n, x: np.pad(np.repeat(x[:n], [2, 0, 1, 0, 1, 1, 0, 3][:n], 0), ((0, 8), (0, 0)))[:8],
    ),
    "added by places": (
        lambda n, x: x[:n].index_add(0, Tensor([0, -1]), x[:2]),
        lambda n, x: x[:n] + written(0 * x[:n], [0, -1], x[:2]),
    ),
    "written by places": (
        lambda n, x: x[:n].index_put((Tensor([1, -1]), Tensor([0, -2])), 7.0),
        lambda n, x: written(x[:n], ([1, -1], [0, -2]), 7.0),
    ),
    "a row replaced": (
        lambda n, x: x[:n].select_scatter(x[0], 0, -1), lambda n, x: written(x[:n], -1, x[0]),
    ),
    "rows replaced": (
        lambda n, x: x[:n].slice_scatter(x[:2], 0, -2), lambda n, x: written(x[:n], slice(-2, None), x[:2]),
    ),
    "a diagonal replaced": (
        lambda n, x: (x[:n] @ x[:n].T).diagonal_scatter(x[:n, 0]),
        lambda n, x: written(x[:n] @ x[:n].T, (range(n), range(n)), x[:n, 0]),
    ),
    "a mask's elements replaced": (
        lambda n, x: x[:n].masked_scatter(x[:n] > 0, x.flatten()),
        lambda n, x: written(x[:n], x[:n] > 0, x.flatten()[: (x[:n] > 0).sum()]),
    ),
    "blocks": (
        lambda n, x: x[:n].block_diag(x[:2, :1]),
        lambda n, x: np.block([[x[:n], np.zeros((n, 1))], [np.zeros((2, 6)), x[:2, :1]]]),
    ),
    "all pairs": (
        lambda n, x: x[:n, 0].cartesian_prod(x[:2, 1]),
        lambda n, x: np.stack([np.repeat(x[:n, 0], 2), np.tile(x[:2, 1], n)], 1),
    ),
    "counted by a step": (lambda n, x: Tensor.arange(1, n + 3, 2), lambda n, x: np.arange(1, n + 3, 2)),
    "counted down": (lambda n, x: Tensor.arange(n, -3, -2), lambda n, x: np.arange(n, -3, -2)),
    "at equal distances": (lambda n, x: Tensor.linspace(-3, 7.5, n), lambda n, x: np.linspace(-3, 7.5, n)),
    "integers at equal distances": (
        lambda n, x: Tensor.linspace(0, 100, n, dtype="int32"),
        lambda n, x: np.array([100 * i // (n - 1) for i in range(n)]),
    ),
    "powers at equal distances": (lambda n, x: Tensor.logspace(0, 3, n), lambda n, x: np.logspace(0, 3, n)),
    "an identity": (lambda n, x: Tensor.eye(n, n + 1), lambda n, x: np.eye(n, n + 1)),
    "a triangle": (lambda n, x: Tensor.tri(n, 4, 1), lambda n, x: np.tri(n, 4, 1)),
    "a grid": (
        lambda n, x: x[:n, 0].meshgrid(x[:3, 1], indexing="xy")[0],
        lambda n, x: np.meshgrid(x[:n, 0], x[:3, 1])[0],
    ),
    "a symbolic number of powers": (
        lambda n, x: x[:3, 0].vander(n), lambda n, x: np.vander(x[:3, 0], n),
    ),
    "each a symbolic number of times": (
        lambda n, x: x[:3].repeat_interleave(n, 1), lambda n, x: np.repeat(x[:3], n, 1),
    ),
    "all a symbolic number of times": (
        lambda n, x: x[:n, :2].repeat(1, n), lambda n, x: np.tile(x[:n, :2], (1, n)),
    ),
    "gradient of a roll": (
        lambda n, x: (x[:n].roll(2, 0)[:2] ** 2).sum().gradient(x)[0],
        lambda n, x: slope(x, n, np.roll(np.concatenate([np.roll(x[:n], 2, 0)[:2], 0 * x[2:n]]), -2, 0)),
    ),
    "gradient of windows": (
        lambda n, x: (x[:n].unfold(0, 2, 2) ** 2).sum().gradient(x)[0],
        lambda n, x: slope(x, n, np.concatenate([x[: even(n)], 0 * x[even(n) : n]])),
    ),
    "gradient of every second": (
        lambda n, x: (x[:n:2] ** 2).sum().gradient(x)[0],
        lambda n, x: slope(x, n, x[:n] * (np.arange(n) % 2 == 0)[:, None]),
    ),
    "gradient of a part": (
        lambda n, x: (x[:n].tensor_split(2)[1] ** 2).sum().gradient(x)[0],
        lambda n, x: slope(x, n, x[:n] * (np.arange(n) >= -(-n // 2))[:, None]),
    ),
    "gradient of a diagonal": (
        lambda n, x: (x[:n].diagonal() ** 2).sum().gradient(x)[0],
        lambda n, x: slope(x, n, x[:n] * np.eye(n, 6)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "expected"), CASES.values(), ids=CASES)
def test_one_set_of_kernels_serves_all_values(f: Any, expected: Any) -> None:
    x = Tensor(A).realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        y = filled_up(f(bound(value), x))
        programs.add(tuple(item.ast for item in y.schedule()))
        wanted = expected(value, A)
        assert np.shape(y.numpy()) >= np.shape(wanted)
        np.testing.assert_allclose(shown(y, np.shape(wanted)), wanted, rtol=1e-4, atol=1e-5)
    assert len(programs) == 1


@pytest.mark.parametrize(
    "name",
    [
        "every third from the end", "roll", "reflected", "wrapped", "windows with steps", "the last part",
        "cut at places", "a diagonal below", "quantile", "correlations", "places in a sorted row",
        "added by places", "rows replaced", "gradient of windows",
    ],
)  # fmt: skip
def test_a_replay_takes_new_values(name: str) -> None:
    f, expected = CASES[name]

    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return filled_up(f(n, x)) + 0

    for value in (*VALUES, 7, 4):
        wanted = expected(value, A)
        np.testing.assert_allclose(
            shown(step(Tensor(A), bound(value)), np.shape(wanted)), wanted, rtol=1e-4, atol=1e-5
        )
    assert step.captures == 1


def test_a_replay_refuses_what_an_eager_call_refuses() -> None:
    @jit
    def mirrored(x: Tensor, n: Any) -> Tensor:
        return filled_up(x[:n].pad((0, 0, 2, 0), "reflect")) + 0

    @jit
    def halves(x: Tensor, n: Any) -> Tensor:
        return filled_up(x[:n].glu(0)) + 0

    for value in (4, 6, 8):
        mirrored(Tensor(A), bound(value))
        halves(Tensor(A), bound(value))
    with pytest.raises(ShapeError, match=r"with n=2: a slice of 1\.\.3 leaves its axis of size 2"):
        mirrored(Tensor(A), bound(2))
    with pytest.raises(ShapeError, match="with n=5: 30 elements are no 24 elements"):
        halves(Tensor(A), bound(5))


# the size of today is part of these: how many results there are, or how many numbers were given
OF_TODAY: dict[str, Callable[[Any, Any], Any]] = {
    "unbind": lambda n, x: x[:n].unbind(),
    "iteration": lambda n, x: [row for row in x[:n]],
    "a list": lambda n, x: list(x[:n]),
    "unbind beside a symbolic axis": lambda n, x: x[:n, : n - 1].unbind(1),
    "split": lambda n, x: x[:n].split(3),
    "split into sizes": lambda n, x: x[:n].split((2, int(n if isinstance(n, int) else n.vmax) - 2)),
    "chunk": lambda n, x: x[:n].chunk(3),
    "combinations": lambda n, x: (x[:n, 0].combinations(2),),
    "each as often as listed": lambda n, x: (
        x[:n].repeat_interleave([2, 0, 1, 3, 1, 0, 0, 1][: n if isinstance(n, int) else int(n.vmax)], 0),
    ),
}


@pytest.mark.parametrize("f", OF_TODAY.values(), ids=OF_TODAY)
def test_there_are_as_many_results_as_there_are_elements_today(f: Any) -> None:
    x = Tensor(A).realize()
    for value in (3, 5):
        found, expected = f(bound(value), x), f(value, x)
        assert len(found) == len(expected)
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("f", OF_TODAY.values(), ids=OF_TODAY)
def test_a_replay_has_as_many_results_as_before(f: Any) -> None:
    @jit
    def last(x: Tensor, n: Any) -> Tensor:
        return filled_up(f(n, x)[-1]) + 0

    x = Tensor(A).realize()
    for _ in range(3):
        wanted = f(5, x)[-1].numpy()
        np.testing.assert_array_equal(shown(last(x, bound(5)), wanted.shape), wanted)
    with pytest.raises(ShapeError, match=r"with n=4: \d+ elements are no \d+ elements"):
        last(x, bound(4))


@pytest.mark.parametrize("f", [Tensor.unbind, list, lambda x: x.split(3), lambda x: x.chunk(5)])
@pytest.mark.parametrize("size", [1, 3])
def test_a_replay_has_as_many_results_where_none_is_used(f: Any, size: int) -> None:
    @jit
    def counted(x: Tensor, n: Any) -> Tensor:
        return x * len(f(x[: n - 1]))

    x, n = Tensor(A).realize(), Variable("n", 1, 8)
    for _ in range(3):
        wanted = A * len(f(Tensor(A)[: size - 1]))
        np.testing.assert_array_equal(counted(x, n.bind(size)).numpy(), wanted)
    with pytest.raises(ShapeError, match=rf"with n=7: 6 elements are no {size - 1} elements"):
        counted(x, n.bind(7))


def test_a_symbolic_axis_is_iterated_over_in_place() -> None:
    x = Tensor(A).contiguous()
    for row in x[: bound(3)]:
        row += 1
    np.testing.assert_array_equal(x.numpy(), A + (np.arange(len(A)) < 3).reshape(-1, *[1] * (A.ndim - 1)))


def test_iteration_needs_a_size_of_today_and_len_a_number() -> None:
    n = Variable("n", 1, 8)
    with pytest.raises(ShapeError, match=r"iteration: the shape \(n,\) has a variable without a value"):
        list(Tensor(A)[:n])
    with pytest.raises(ShapeError, match=r"len of shape \(n, .*Use shape\[0\]"):
        len(Tensor(A)[: n.bind(3)])


def test_a_value_is_looked_for_along_a_symbolic_axis() -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0])[: Variable("n", 1, 4).bind(2)]
    assert 2.0 in x
    assert 3.0 not in x


def test_parts_keep_their_symbolic_sizes_where_there_are_always_as_many() -> None:
    parts = Tensor(A)[: Variable("m", 5, 8).bind(6)].split(4)
    assert len(parts) == 2
    assert not isinstance(parts[1].shape[0], int)
    x = Tensor(A)[: bound(5)]
    with pytest.raises(ShapeError, match=r"split: sizes \(2, 2\) add up to 4, axis 0 has n"):
        x.split((2, 2))


@pytest.mark.parametrize("f", [lambda x: x.topk(4, 0), lambda x: x.kthvalue(4, 0, keepdim=True)])
def test_there_may_be_fewer_elements_than_are_asked_for(f: Any) -> None:
    x = Tensor(A).realize()
    programs: set[tuple[Any, ...]] = set()

    @jit
    def replayed(x: Tensor, n: Any) -> Tensor:
        return f(x[:n])[0] + 0

    sizes = (8, 4, 5)
    replays = [replayed(x, bound(value)).numpy() for value in sizes]
    with pytest.raises(ShapeError, match=r"with n=3: a slice of \d\.\.4 leaves its axis of size 3"):
        replayed(x, bound(3))
    for value, replay in zip(sizes, replays, strict=True):
        found, expected = f(x[: bound(value)]), f(x[:value])
        programs.add(tuple(item.ast for item in found[0].schedule(found[1])))
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got.numpy(), want.numpy())
        np.testing.assert_array_equal(replay, expected[0].numpy())
    assert len(programs) == 1
    with pytest.raises(ArgumentError, match="k=4 of 3 elements on axis 0"):
        f(x[: bound(3)])


def test_what_does_not_fit_today_is_refused_at_once() -> None:
    x = Tensor(A)[: bound(3)]
    with pytest.raises(ShapeError, match=r"unfold: a window of 4 .* does not fit into an axis of 3"):
        x.unfold(0, 4, 1)
    with pytest.raises(ShapeError, match=r"glu: axis 0 of shape .* has no two equal halves"):
        x.glu(0)
    with pytest.raises(ShapeError, match="vsplit: 2 parts of axis 0 with 3 elements"):
        x.vsplit(2)
    with pytest.raises(ShapeError, match="diff: n=4 of an axis that has 3 elements today"):
        x.diff(4, 0)
    with pytest.raises(AxisError, match=r"select_scatter: index 3 is out of range for axis 0 of size 3"):
        x.select_scatter(x[0], 0, 3)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_positions_beyond_a_symbolic_axis_name_nothing(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = Tensor(A).contiguous()[: bound(3)]
    places = Tensor(np.array([2, 3, limits.max, limits.min, 0], dtype))
    expected = np.zeros((5, *A.shape[1:]), A.dtype)
    expected[0], expected[4] = A[2], A[0]
    if not limits.min:
        expected[3] = A[0]
    np.testing.assert_array_equal(x[places].numpy(), expected)
    np.testing.assert_array_equal(x.index_select(0, places).numpy(), expected)
