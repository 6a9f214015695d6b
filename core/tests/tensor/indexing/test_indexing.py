import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad import Tensor, Variable
from plugrad.errors import AxisError, DtypeError, GradientError, ShapeError
from plugrad.tensor.indexing.indexing import parse_index

X = np.arange(60, dtype=np.int32).reshape(3, 4, 5)

INDICES = [
    0, -1, slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(4, 0, -2),
    slice(5, 2), slice(-100, 100), ..., None, (1, 2, 3), (..., 2), (0, ...), (slice(None), 1),
    (None, 1, None, slice(2)), (..., slice(None, None, 3)), (slice(2, None, -1), ..., slice(-2, None)),
    (..., None), (), (slice(0, 0),), (1, ..., slice(4, None, -3)),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading_is_that_of_numpy(index: Any) -> None:
    out = Tensor(X)[index]
    assert out.shape == X[index].shape
    np.testing.assert_array_equal(out.numpy(), X[index])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_is_that_of_numpy(index: Any) -> None:
    ours, theirs = Tensor(X), X.copy()
    ours[index] = -1
    theirs[index] = -1
    np.testing.assert_array_equal(ours.numpy(), theirs)
    ours, theirs = Tensor(X), X.copy()
    value = np.arange(theirs[index].size, dtype=np.int32).reshape(theirs[index].shape) + 1000
    ours[index] = Tensor(value)
    theirs[index] = value
    np.testing.assert_array_equal(ours.numpy(), theirs)


PART = st.one_of(
    st.integers(-4, 3),
    st.builds(
        slice,
        st.none() | st.integers(-7, 7),
        st.none() | st.integers(-7, 7),
        st.sampled_from([None, 1, 2, 3, 5, -1, -2, -4]),
    ),
)


@given(st.lists(PART, max_size=3), st.booleans())
def test_any_basic_index_is_that_of_numpy(parts: list[Any], from_the_end: bool) -> None:
    index = (..., *parts) if from_the_end else tuple(parts)
    try:
        expected = X[index]
    except IndexError:
        with pytest.raises(AxisError):
            _ = Tensor(X)[index]
        return
    np.testing.assert_array_equal(Tensor(X)[index].numpy(), expected)


def test_values_broadcast_into_the_part() -> None:
    t = Tensor(X)
    t[:, 1:3] = Tensor([1, 2, 3, 4, 5])
    expected = X.copy()
    expected[:, 1:3] = [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(t.numpy(), expected)
    t[0] = [[7], [8], [9], [10]]
    expected[0] = [[7], [8], [9], [10]]
    np.testing.assert_array_equal(t.numpy(), expected)


def test_many_writes_happen_in_order_before_anything_is_read() -> None:
    t, expected = Tensor(X), X.copy()
    for i in range(4):
        t[i % 3, :, i] = i
        expected[i % 3, :, i] = i
        t[..., 1] = t[..., 0] + 1
        expected[..., 1] = expected[..., 0] + 1
    np.testing.assert_array_equal(t.numpy(), expected)


def test_what_was_computed_before_a_write_keeps_its_value() -> None:
    t = Tensor([1, 2, 3]).realize()
    before = t * 10
    t[1] = 100
    after = t * 10
    assert after.tolist() == [10, 1000, 30]
    assert before.tolist() == [10, 20, 30]


def test_a_write_into_a_view_shows_in_the_whole() -> None:
    t = Tensor([1, 2, 3, 4]).realize()
    part = t[1:3]
    part.assign(Tensor([20, 30])).realize()
    assert t.tolist() == [1, 20, 30, 4]


def test_overlapping_parts_are_read_before_they_are_written() -> None:
    t = Tensor([1, 2, 3, 4, 5])
    t[1:] = t[:-1]
    assert t.tolist() == [1, 1, 2, 3, 4]
    t[:-1] = t[1:]
    assert t.tolist() == [1, 2, 3, 4, 4]
    t[:] = t[::-1]
    assert t.tolist() == [4, 4, 3, 2, 1]


def test_equal_graphs_are_told_apart_when_one_is_written() -> None:
    base = Tensor([1, 2, 3])
    one, other = base * 2, base * 2
    one.realize()
    one[0] = 100
    assert one.tolist() == [100, 4, 6]
    assert other.tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (3, AxisError, "index 3 is out of range for axis 0 of size 3. Valid are -3 to 2."),
        ((0, -5), AxisError, "index -5 is out of range for axis 1 of size 4. Valid are -4 to 3."),
        ((0, 0, 0, 0), AxisError, "4 indices for a tensor with 3 axes, shape (3, 4, 5). Remove some."),
        (
            (..., 0, ...),
            AxisError,
            "an index has more than one `...`. Keep one; write `:` for the other axes.",
        ),
        (
            slice(None, None, 0),
            AxisError,
            "axis 0: slice(None, None, 0) is no slice: slice step cannot be zero.",
        ),
        ("a", DtypeError, "cannot index axis 0 with 'a' (str)."),
        (1.0, DtypeError, "cannot index axis 0 with 1.0 (float). Use integers, slices, `...`, None"),
    ],
)
def test_wrong_indices_are_refused(index: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        _ = Tensor(X)[index]
    assert str(caught.value).startswith(message)


def test_wrong_writes_are_refused() -> None:
    t = Tensor(X)
    with pytest.raises(ShapeError, match=r"cannot assign shape \(3,\) to \(4, 5\)"):
        t[0] = Tensor([1, 2, 3])
    with pytest.raises(DtypeError, match=r"cannot assign float32 to int32.*Cast: \.cast\(dtypes\.int32\)"):
        t[0] = Tensor([1.0])
    w = Tensor([1.0, 2.0], requires_grad=True) * 2
    with pytest.raises(GradientError, match="its gradient is tracked"):
        w[0] = 1.0


def test_iterating_goes_along_the_first_axis() -> None:
    assert [row.tolist() for row in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert len(Tensor(X)) == 3


def test_a_number_is_no_iterable() -> None:
    # matplotlib tells a list of numbers from a list of lists by this
    with pytest.raises(TypeError, match="has no length"):
        iter(Tensor(1))


def test_what_is_no_index_is_an_index_error_too() -> None:
    indices: list[Any] = [1.5, "a", (0, 1.5), Tensor([0.5]), (Tensor([0]), 1.5)]
    for index, error in itertools.product(indices, (DtypeError, IndexError)):
        with pytest.raises(error, match="cannot index axis"):
            Tensor(X)[index]


def test_variables_index_and_slice() -> None:
    v = Variable("v", 1, 3)
    for value in (1, 2, 3):
        i = v.bind(value)
        t = Tensor(X)
        np.testing.assert_array_equal(t[:, i].numpy(), X[:, value])
        assert t[:, i:].sum().item() == X[:, value:].sum()
        assert t[..., 1 : i + 1].sum().item() == X[..., 1 : value + 1].sum()
        cache = Tensor.zeros(4, 2, dtype="int32").contiguous().realize()
        cache[i : i + 1] = Tensor([[5, 6]])
        expected = np.zeros((4, 2), np.int32)
        expected[value] = [5, 6]
        if value < 4:
            np.testing.assert_array_equal(cache.numpy(), expected)
    for step in (0, 1.5, v.bind(2)):
        with pytest.raises(AxisError, match="axis 0: a slice with a step of"):
            _ = Tensor(X)[0 : v.bind(2) : step]


def test_an_index_is_understood_without_a_tensor() -> None:
    cuts = parse_index((0, None, slice(None, None, -2)), (3, 5))
    assert cuts.shape() == (1, 3)
    assert cuts.layout == (None, 1)
    assert (cuts.axes[0].is_dropped, cuts.axes[1].is_flipped, cuts.axes[1].step) == (True, True, 2)


@given(st.lists(PART, min_size=1, max_size=3))
def test_writing_any_basic_index_is_that_of_numpy(parts: list[Any]) -> None:
    theirs = X.copy()
    try:
        value = (
            np.arange(theirs[tuple(parts)].size, dtype=np.int32).reshape(theirs[tuple(parts)].shape) + 1000
        )
    except IndexError:
        return
    theirs[tuple(parts)] = value
    ours = Tensor(X)
    ours[tuple(parts)] = Tensor(value)
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_a_stepped_write_may_read_what_it_overwrites() -> None:
    t = Tensor([1, 2, 3, 4, 5])
    t[::2] = t[::-2] + t[2]
    assert t.tolist() == [8, 2, 6, 4, 4]
