from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, GradientError, JitError, ShapeError
from plugrad.jit import TinyJit

X = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
AT, ON, MASK = (
    np.array([[0, -1, 2], [3, 1, 1]]),
    np.array([1, -4, 4]),
    np.array([True, False, True, True]),
)
ALL = slice(None)

INDICES: list[Any] = [
    AT, (ALL, ON), (AT, ON), (0, ALL, ON), (ALL, 0, ON), (ON % 4, ALL, ON), (..., ON),
    (None, ON % 4, None),
    (slice(None, None, -1), ON, slice(1, None, 2)), X % 7 == 0, MASK, (MASK, ON), (MASK, ALL, 0), np.array(2),
    (ALL, X[0] % 2 == 0), ([0, 1], [1, 2]), (AT[:1].T, ON), (ON[:1], ..., ON), (ALL, ON, ..., ON), [], X < 0,
]  # fmt: skip


def given_tensors(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(given_tensors(item) for item in index)
    return Tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("number", range(len(INDICES)))
def test_reading_and_writing_are_those_of_numpy(number: int) -> None:
    index = INDICES[number]
    expected = X[index]
    out = Tensor(X)[given_tensors(index)]
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)
    values = np.arange(expected.size, dtype=np.int32).reshape(expected.shape) + 1000
    ours, theirs = Tensor(X), X.copy()
    ours[given_tensors(index)] = Tensor(values)
    theirs[index] = values
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_numbers_and_rows_broadcast_into_what_is_named() -> None:
    for index, value in ((AT, -5), (X % 2 == 0, -5), ((ALL, ON), np.arange(6, dtype=np.int32))):
        ours, theirs = Tensor(X), X.copy()
        ours[given_tensors(index)] = Tensor(value) if isinstance(value, np.ndarray) else value
        theirs[index] = value
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_many_writes_are_sorted_first() -> None:
    rng = np.random.default_rng(0)
    index, values = rng.integers(0, 5000, 1000), np.arange(1000, dtype=np.int32)
    ours, theirs = Tensor(np.zeros(5000, np.int32)), np.zeros(5000, np.int32)
    ours[Tensor(index)] = Tensor(values)
    theirs[index] = values
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_positions_out_of_range_read_zero_and_write_nothing() -> None:
    t = Tensor([1, 2, 3])
    assert t[Tensor([3, -4, 2])].tolist() == [0, 0, 3]
    t[Tensor([3, -4, 2])] = 9
    assert t.tolist() == [1, 2, 9]
    square = Tensor([[1, 2], [3, 4]])
    assert square[Tensor([0, 1]), Tensor([2, 1])].tolist() == [0, 4]


def test_a_write_into_a_view_shows_in_the_whole_and_reads_first() -> None:
    t = Tensor([1, 2, 3, 4]).realize()
    before = t * 10
    part = t[1:]
    part[Tensor([0, 2])] = part[Tensor([2, 0])]
    part.realize()
    assert t.tolist() == [1, 4, 3, 2]
    assert before.tolist() == [10, 20, 30, 40]


def test_gradients_flow_to_what_was_named() -> None:
    x = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    t, u = Tensor(x), torch.tensor(x, requires_grad=True)
    index = np.array([0, 2, 2])
    ours = t[Tensor(index)].square().sum() + t[Tensor(x > 0)].exp().sum() + t[1, Tensor(index)].sum()
    theirs = u[index].square().sum() + u[torch.tensor(x > 0)].exp().sum() + u[1, index].sum()
    (expected,) = torch.autograd.grad(theirs, u)
    np.testing.assert_allclose(ours.gradient(t)[0].numpy(), expected.numpy(), rtol=1e-5)


def test_wrong_indices_are_refused() -> None:
    t = Tensor(X)
    with pytest.raises(DtypeError, match="cannot index axis 0 with a tensor of float32"):
        _ = t[Tensor([1.0])]
    with pytest.raises(ShapeError, match=r"a mask of shape \(2,\) for axes of shape \(4,\)"):
        _ = t[Tensor([True, False])]
    with pytest.raises(AxisError, match="index 9 is out of range for axis 1 of size 5"):
        _ = t[Tensor([0]), 9]
    with pytest.raises(AxisError, match="4 indices for a tensor with 3 axes"):
        _ = t[Tensor([0]), 0, 0, 0]
    with pytest.raises(ShapeError, match=r"index: shapes \(2,\) and \(3,\) do not broadcast"):
        _ = t[Tensor([0, 1]), Tensor([0, 1, 2])]
    with pytest.raises(DtypeError, match=r"cannot index axis 1 with 1\.0"):
        _ = t[Tensor([0]), 1.0]
    with pytest.raises(ShapeError, match=r"cannot assign shape \(4,\) to \(2, 5, 6\)"):
        t[Tensor([0, 1])] = Tensor([1, 2, 3, 4])
    w = Tensor([1.0, 2.0], requires_grad=True) * 2
    with pytest.raises(GradientError, match="its gradient is tracked"):
        w[Tensor([0])] = 1.0


# --- any index that NumPy takes ---

SHAPES = [(), (3,), (2, 3), (2, 1), (1, 3)]


@st.composite
def indices(draw: st.DrawFn) -> tuple[Any, ...]:
    """Return an index of X: arrays and a mask mixed with slices, integers, None and `...`."""
    items: list[Any] = []
    axis, has_mask, has_dots = 0, False, False
    while axis < 3 and draw(st.integers(0, 9)):
        size = X.shape[axis]
        kind = draw(st.sampled_from(["array", "array", "array", "slice", "int", "none", "mask", "dots"]))
        if kind == "none":
            items.append(None)
            continue
        if kind == "dots":
            if not has_dots:
                items.append(...)
                # what follows counts from the end
                axis = max(axis, draw(st.integers(axis, 3)))
            has_dots = True
            continue
        if kind == "mask" and not has_mask:
            bits = draw(st.lists(st.booleans(), min_size=size, max_size=size))
            items.append(np.array(bits))
            has_mask = True
        elif kind in ("array", "mask"):
            shape = draw(st.sampled_from(SHAPES))
            count = int(np.prod(shape))
            numbers = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            dtype = draw(st.sampled_from(["int64", "int32", "int8"]))
            items.append(np.array(numbers, dtype).reshape(shape))
        elif kind == "int":
            items.append(draw(st.integers(-size, size - 1)))
        else:
            bound = st.none() | st.integers(-size - 2, size + 2)
            items.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2, 3]))))
        axis += 1
    if not any(isinstance(item, np.ndarray) for item in items) and not has_dots and axis < 3:
        items.append(np.array([0, -1]))
    return tuple(items)


@given(indices())
@settings(max_examples=40)
def test_any_index_reads_and_writes_as_in_numpy(index: tuple[Any, ...]) -> None:
    try:
        expected = X[index]
    except IndexError:
        with pytest.raises((AxisError, ShapeError)):
            _ = Tensor(X)[given_tensors(index)]
        return
    out = Tensor(X)[given_tensors(index)]
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)
    values = np.arange(expected.size, dtype=np.int32).reshape(expected.shape) + 1000
    ours, theirs = Tensor(X), X.copy()
    ours[given_tensors(index)] = Tensor(values)
    theirs[index] = values
    np.testing.assert_array_equal(ours.numpy(), theirs)


TRUTHS: list[Any] = [
    True,
    False,
    np.True_,
    (True, 1),
    (slice(None), True),
    (1, False),
    (..., True),
    (None, True, ..., False),
    (True, slice(1, 3), None, 2),
    (True, np.array([0, 2]), slice(None, None, -1)),
    (np.array([0, 2]), True, np.array([1, 1])),
    (np.array([0, 2]), slice(None), False),
    (True, X % 2 == 0),
    (MASK, True),
]


@pytest.mark.parametrize("number", range(len(TRUTHS)))
def test_bools_in_an_index_mean_what_they_mean_to_numpy(number: int) -> None:
    index = TRUTHS[number]
    try:
        expected = X[index]
    except IndexError:
        with pytest.raises((AxisError, ShapeError)):
            _ = Tensor(X)[given_tensors(index)]
        return
    out = Tensor(X)[given_tensors(index)]
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)
    ours, theirs = Tensor(X), X.copy()
    ours[given_tensors(index)] = Tensor(expected + 1000)
    theirs[index] = expected + 1000
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_a_bool_tensor_without_axes_is_a_bool() -> None:
    for truth in (True, False):
        out = Tensor(X)[:, Tensor(truth)]
        np.testing.assert_array_equal(out.numpy(), X[:, np.array(truth)])
    assert Tensor(5)[True].tolist() == [5]
    assert Tensor(5)[False].tolist() == []


# --- writing into a copy ---

PLACES: list[Any] = [
    (AT,),
    (ALL, ON),
    (AT, ON),
    (..., ON),
    (ON % 4, ALL, ON),
    (X % 3 == 0,),
    (MASK, ON),
    (AT[:0],),
]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("number", range(len(PLACES)))
def test_index_put_is_that_of_numpy(number: int, accumulate: bool) -> None:
    index = PLACES[number]
    x = X.astype(np.float32)
    values = np.arange(x[index].size, dtype=np.float32).reshape(x[index].shape) + 1000
    expected = x.copy()
    if accumulate:
        np.add.at(expected, index, values)
    else:
        expected[index] = values
    t = Tensor(x)
    np.testing.assert_array_equal(
        t.index_put(given_tensors(index), Tensor(values), accumulate).numpy(), expected
    )
    np.testing.assert_array_equal(t.numpy(), x)


def test_index_put_takes_arrays_and_lists() -> None:
    t = Tensor([1, 2, 3])
    for dtype in ("int8", "uint64"):
        assert t.index_put((np.array([0, 2], dtype),), 9).tolist() == [9, 2, 9]
    assert t.index_put(np.array([1]), 9).tolist() == [1, 9, 3]
    assert t.index_put(([2, 0],), 9).tolist() == [9, 2, 9]
    assert t.index_put((np.array([True, False, True]),), 9).tolist() == [9, 2, 9]


def test_gradients_of_index_put_are_those_of_torch() -> None:
    x = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    values = np.random.default_rng(2).standard_normal((3, 5)).astype(np.float32)
    index = np.array([0, 2, 2])
    for accumulate in (False, True):
        at = index if accumulate else index[:2]
        t, v = Tensor(x, requires_grad=True), Tensor(values[: len(at)], requires_grad=True)
        u, w = torch.tensor(x, requires_grad=True), torch.tensor(values[: len(at)], requires_grad=True)
        ours = t.index_put((Tensor(at),), v, accumulate).square().sum()
        theirs = u.index_put((torch.tensor(at),), w, accumulate).square().sum()
        expected = torch.autograd.grad(theirs, (u, w))
        for grad, wanted in zip(ours.gradient(t, v), expected, strict=True):
            np.testing.assert_allclose(grad.numpy(), wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_many_additions_to_many_places_are_those_of_numpy(dtype: str) -> None:
    rng = np.random.default_rng(1)
    size, count = 3000, 2500
    at = rng.integers(-1, size, count).astype(np.int32)
    at[:700] = 17
    x, values = rng.integers(0, 2, (size, 2)).astype(dtype), rng.integers(0, 2, (count, 2)).astype(dtype)
    expected = x.copy()
    np.add.at(expected, at, values)
    out = Tensor(x).index_put((Tensor(at),), Tensor(values), accumulate=True)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_gradients_of_many_additions_are_those_of_torch() -> None:
    rng = np.random.default_rng(2)
    size, count = 3000, 1500
    at = rng.integers(0, 40, count)
    x, values = rng.standard_normal(size), rng.standard_normal(count)
    t, v = Tensor(x, requires_grad=True), Tensor(values, requires_grad=True)
    u, w = torch.tensor(x, requires_grad=True), torch.tensor(values, requires_grad=True)
    ours = t.index_put((Tensor(at),), v, accumulate=True)
    theirs = u.index_put((torch.tensor(at),), w, accumulate=True)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-12)
    wanted = torch.autograd.grad((theirs * theirs).sum(), (u, w))
    for grad, expected in zip((ours * ours).sum().gradient(t, v), wanted, strict=True):
        np.testing.assert_allclose(grad.numpy(), expected.numpy(), rtol=1e-10)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices_are_written_as_in_torch(axis: int) -> None:
    x = X.astype(np.float32)
    index = np.array([2, 0, 2, 3])
    source = np.arange(x.take(index, axis).size, dtype=np.float32).reshape(x.take(index, axis).shape)
    t, u, at = Tensor(x), torch.tensor(x), torch.tensor(index)
    out = t.index_add(axis, Tensor(index), Tensor(source), alpha=2)
    np.testing.assert_array_equal(out.numpy(), u.index_add(axis, at, torch.tensor(source), alpha=2).numpy())
    out = t.index_copy(axis, Tensor(index[1:]), Tensor(source.take([1, 2, 3], axis)))
    expected = u.index_copy(axis, at[1:], torch.tensor(source.take([1, 2, 3], axis)))
    np.testing.assert_array_equal(out.numpy(), expected.numpy())
    out = t.index_fill(axis, Tensor(index), -1)
    np.testing.assert_array_equal(out.numpy(), u.index_fill(axis, at, -1).numpy())


def test_sums_of_narrow_floats_and_positions_out_of_range() -> None:
    t = Tensor([0.0, 2048.0], dtype="float16")
    assert t.index_put((Tensor([1] * 8),), 1.0, accumulate=True).tolist() == [0.0, 2056.0]
    assert Tensor([1, 2]).index_put((Tensor([-3, 2, -1]),), 9).tolist() == [1, 9]
    assert Tensor([1, 2]).index_put((Tensor([-3, 2, -1]),), 9, accumulate=True).tolist() == [1, 11]
    flags = Tensor([False, False]).index_put((Tensor([1, 1]),), True, accumulate=True)
    assert flags.tolist() == [False, True]
    assert Tensor([1, 2]).scatter_add(0, Tensor([0, 0]), 4).tolist() == [9, 2]


def test_wrong_places_and_values_are_refused() -> None:
    t = Tensor(X)
    for index in ((0, Tensor(ON)), (None, Tensor(ON)), (slice(1, 2), Tensor(ON)), (ALL,), ()):
        with pytest.raises(ArgumentError, match=r"index_put: indices .*Pass tensors of positions or masks"):
            t.index_put(index, 1)
    with pytest.raises(DtypeError, match="index_put of float32 into int32"):
        t.index_put((Tensor(AT),), Tensor([1.0]))
    with pytest.raises(ShapeError, match=r"index_put: shapes \(7,\) and"):
        t.index_put((Tensor(AT),), Tensor(np.arange(7, dtype=np.int32)))
    with pytest.raises(
        ShapeError, match=r"index_put: values of shape \(2, 3, 5, 6\) for elements of shape \(3, 5, 6\)"
    ):
        t.index_put((Tensor(AT[0]),), Tensor(np.zeros((2, 3, 5, 6), np.int32)))
    with pytest.raises(DtypeError, match="index_add with an index of float32"):
        t.index_add(0, Tensor([1.0]), t)
    with pytest.raises(AxisError, match="index_fill: axis 3"):
        t.index_fill(3, Tensor([1]), 0)


# --- masks whose count nobody needs ---

ROWS = np.array([True, False, True, False])
ALIKE: list[tuple[Any, Any]] = [
    (X % 3 == 0, 7),
    (X % 3 == 0, np.array([7], np.int32)),
    (X % 3 == 0, np.array(7, np.int32)),
    (ROWS, np.arange(30, dtype=np.int32).reshape(5, 6)),
    (ROWS, np.arange(6, dtype=np.int32)),
    ((ROWS, 2), np.arange(6, dtype=np.int32)),
    ((ALL, X[0] % 2 == 0), np.arange(4, dtype=np.int32).reshape(4, 1)),
    ((slice(None, None, -2), ..., X[0, 0] > 2), np.arange(5, dtype=np.int32).reshape(1, 5, 1)),
    ((1, ALL, X[0, 0] > 2), np.arange(5, dtype=np.int32)[None]),
    ((ROWS, None, ALL, 1), np.arange(5, dtype=np.int32)),
    ((0, X[0] % 2 == 0), 3),
]


@pytest.mark.parametrize("number", range(len(ALIKE)))
def test_what_a_mask_picks_alike_is_written_inside_a_jitted_function(number: int) -> None:
    index, value = ALIKE[number]

    @TinyJit
    def write(x: Tensor, *given: Tensor) -> Tensor:
        y = x + 0
        parts = iter(given)
        items = index if isinstance(index, tuple) else (index,)
        y[tuple(next(parts) if isinstance(item, np.ndarray) else item for item in items)] = new
        return y.realize()

    new = Tensor(value) if isinstance(value, np.ndarray) else value
    masks = [
        item for item in (index if isinstance(index, tuple) else (index,)) if isinstance(item, np.ndarray)
    ]
    for turn in range(3):
        expected = X + turn
        expected[index] = value
        given = [Tensor(mask).contiguous().realize() for mask in masks]
        np.testing.assert_array_equal(write(Tensor(X + turn).realize(), *given).numpy(), expected)


def test_a_value_for_each_element_of_a_mask_needs_the_count() -> None:
    @TinyJit
    def write(x: Tensor) -> Tensor:
        y = x + 0
        y[y > 1] = Tensor([1, 2])
        return y.realize()

    def call_three_times() -> None:
        for _ in range(3):
            write(Tensor([1, 2, 3]).realize())

    with pytest.raises(JitError, match=r"how many hold decides a shape.*Pass size= to masked_select"):
        call_three_times()
    t = Tensor([1, 2, 3])
    with pytest.raises(ShapeError, match=r"cannot assign shape \(3,\) to \(2,\)"):
        t[t > 1] = Tensor([1, 2, 3])


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_mask_is_put_without_counting(accumulate: bool) -> None:
    x = X.astype(np.float32)
    t, u = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    for index, value in ((X % 3 == 0, 2.0), ((ALL, X[0] % 2 == 0), np.ones((4, 1), np.float32))):
        items = index if isinstance(index, tuple) else (index,)
        ours = t.index_put(given_tensors(items), Tensor(value), accumulate)
        expected = x.copy()
        expected[index] = expected[index] + value if accumulate else value
        np.testing.assert_array_equal(ours.numpy(), expected)
    v, w = Tensor([1.5], requires_grad=True), torch.tensor([1.5], requires_grad=True)
    mine = t.index_put((Tensor(X % 3 == 0),), v, accumulate).square().sum()
    theirs = u.index_put((torch.tensor(X % 3 == 0),), w, accumulate).square().sum()
    wanted = torch.autograd.grad(theirs, (u, w))
    for grad, expected in zip(mine.gradient(t, v), wanted, strict=True):
        np.testing.assert_allclose(grad.numpy(), expected.numpy(), rtol=1e-5)


# --- what is known of an index before it is used ---


def test_positions_of_the_host_are_checked() -> None:
    t = Tensor(X)
    for index in ([0, 4], np.array([-5]), (ALL, range(6)), (0, [[5]]), ((0, 9),)):
        with pytest.raises(AxisError, match="is out of range for axis"):
            _ = t[index]
        with pytest.raises(AxisError, match="is out of range for axis"):
            t[index] = 0
    with pytest.raises(AxisError, match=r"index 0 is out of range for axis 0 of size 0\. It has no elements"):
        _ = Tensor(X[:0])[[0]]


def test_tuples_and_ranges_in_an_index_are_lists() -> None:
    np.testing.assert_array_equal(Tensor(X)[(0, 2),].numpy(), X[[0, 2]])
    np.testing.assert_array_equal(Tensor(X)[range(2), 1].numpy(), X[range(2), 1])


def test_a_mask_of_no_elements_is_a_mask() -> None:
    x = np.zeros((3, 0, 2), np.float32)
    mask = np.zeros((3, 0), bool)
    assert Tensor(x)[mask].shape == x[mask].shape == (0, 2)
    with pytest.raises(DtypeError, match="with a tensor of float64"):
        _ = Tensor(x)[np.zeros(0)]


@pytest.mark.parametrize("index", [(0, 1), (0, [1, 2]), slice(2, 3), (ALL, ROWS[:1].repeat(5)), 1])
def test_axes_of_size_one_in_front_of_a_value_fall_away(index: Any) -> None:
    value = np.arange(6, dtype=np.int32).reshape(1, 1, 1, 1, 6)
    ours, theirs = Tensor(X), X.copy()
    ours[index] = Tensor(value)
    theirs[index] = value
    np.testing.assert_array_equal(ours.numpy(), theirs)
    with pytest.raises(ShapeError, match="it does not broadcast"):
        ours[index] = Tensor(np.zeros((2, 1, 1, 1, 6), np.int32))


def test_elements_are_taken_as_in_numpy() -> None:
    for index in (np.array([[0, 3], [-1, 1]]), np.array([], np.int64), 2, [1, 1]):
        given = Tensor(index) if isinstance(index, np.ndarray) else index
        np.testing.assert_array_equal(Tensor(X).take(given).numpy(), np.take(X, index))
        for axis in (0, 1, -1):
            np.testing.assert_array_equal(Tensor(X).take(given, axis).numpy(), np.take(X, index, axis))
    with pytest.raises(DtypeError, match="take with an index of bool"):
        Tensor(X).take(Tensor(MASK), 0)
