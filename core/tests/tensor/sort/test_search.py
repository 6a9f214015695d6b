from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable, context, events
from plugrad.errors import ArgumentError, AxisError, DtypeError, JitError, ShapeError
from plugrad.jit import TinyJit

RNG = np.random.default_rng(3)


def test_places_in_sorted_rows_are_those_of_numpy() -> None:
    for size in (1, 7, 3000):
        rows = np.sort(RNG.integers(0, 500, size)).astype(np.float32)
        values = np.concatenate([RNG.integers(-5, 505, 20), [rows[-1], np.inf, np.nan]]).astype(np.float32)
        for right in (False, True):
            out = Tensor(rows).searchsorted(Tensor(values.reshape(1, -1)), right)
            expected = np.searchsorted(rows, values, "right" if right else "left")
            np.testing.assert_array_equal(out.numpy(), expected.reshape(1, -1))


@pytest.mark.parametrize("right", [False, True])
def test_integers_of_any_two_dtypes_are_compared_exactly(right: bool) -> None:
    near, far = 1 << 62, 1 << 63
    signed = np.array([-near, -1, 0, near, near + 1, far - 1], np.int64)
    unsigned = np.array([0, 1, near, near + 1, far - 1, far, far + 1], np.uint64)
    side = "right" if right else "left"
    for rows, values in ((signed, unsigned), (unsigned, signed)):
        expected = np.searchsorted(rows.astype(object), values.astype(object), side)
        assert Tensor(rows).searchsorted(Tensor(values), right).tolist() == expected.tolist()
    narrow = Tensor([-1, 0, 1], dtype="int8").searchsorted(Tensor(unsigned), right)
    assert narrow.tolist() == np.searchsorted([-1, 0, 1], [0, 1, 2, 2, 2, 2, 2], side).tolist()


def test_every_row_is_searched_for_its_own_values() -> None:
    rows = np.sort(RNG.integers(0, 9, (2, 6)), 1)
    values = RNG.integers(0, 9, (2, 4))
    expected = torch.searchsorted(torch.tensor(rows), torch.tensor(values)).numpy()
    np.testing.assert_array_equal(Tensor(rows).searchsorted(Tensor(values)).numpy(), expected)
    with pytest.raises(ShapeError, match=r"searchsorted: values of shape \(4,\) in rows of shape \(2, 6\)"):
        Tensor(rows).searchsorted(Tensor(values[0]))


def test_positions_of_elements_that_are_not_zero() -> None:
    x = RNG.integers(0, 3, (3, 4, 5))
    np.testing.assert_array_equal(Tensor(x).nonzero().numpy(), np.argwhere(x))
    assert Tensor([0, 0]).nonzero().shape == (0, 1)
    assert Tensor([], dtype="int32").nonzero().shape == (0, 1)
    assert Tensor(5).nonzero().shape == (1, 0)


def test_elements_are_selected_by_a_mask() -> None:
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_array_equal(Tensor(x).masked_select(Tensor(x > 0)).numpy(), x[x > 0])
    row = np.array([True, False, False, True])
    expected = torch.tensor(x).masked_select(torch.tensor(row)).numpy()
    np.testing.assert_array_equal(Tensor(x).masked_select(Tensor(row)).numpy(), expected)
    with pytest.raises(DtypeError, match="masked_select with a mask of int32"):
        Tensor(x).masked_select(Tensor([1, 0, 0, 1]))


def test_different_elements_are_those_of_numpy() -> None:
    for x in (RNG.integers(-3, 3, (4, 5)), np.array([2.0, np.nan, 1.0, np.nan, -0.0, 0.0], np.float32)):
        ours = Tensor(x).unique(return_inverse=True, return_counts=True)
        theirs = np.unique(x, return_inverse=True, return_counts=True)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine.numpy(), other.reshape(mine.shape))
    np.testing.assert_array_equal(Tensor([True, True]).unique().numpy(), [True])
    assert [t.tolist() for t in Tensor([], dtype="int32").unique(return_counts=True)] == [[], []]


@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    [
        ((5, 2), 0, "int32"),
        ((2, 5), -1, "uint8"),
        ((4, 3), 0, "float32"),
        ((3, 2, 2), 1, "bool"),
        ((6, 1), 0, "int64"),
        ((4, 0), 0, "int32"),
        ((0, 3), 0, "int32"),
    ],
    ids=str,
)
def test_different_slices_are_those_of_numpy(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    x = RNG.integers(0, 2, shape).astype(dtype)
    ours = Tensor(x).unique(dim=axis, return_inverse=True, return_counts=True)
    theirs = np.unique(x, axis=axis, return_inverse=True, return_counts=True)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_array_equal(mine.numpy(), other)


def test_slices_with_nan_and_zeros_of_both_signs_are_equal() -> None:
    x = Tensor([[float("nan"), 0.0], [1.0, 2.0], [float("nan"), -0.0]])
    np.testing.assert_array_equal(x.unique(axis=0).numpy(), [[1.0, 2.0], [np.nan, 0.0]])
    with pytest.raises(AxisError, match="unique: axis 2 is out of range"):
        x.unique(axis=2)


def test_the_graph_of_different_slices_grows_with_the_logarithm_of_their_size() -> None:
    def kernels(count: int) -> int:
        found: list[str] = []
        x = Tensor.arange(3 * count).reshape(3, count).realize()
        with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
            x.unique(axis=0)
        return len(found)

    assert kernels(16) - kernels(8) == kernels(8) - kernels(4) < 20


def test_counts_are_those_of_numpy() -> None:
    x = RNG.integers(0, 9, 50).astype(np.int32)
    weights = RNG.standard_normal(50).astype(np.float32)
    np.testing.assert_array_equal(Tensor(x).bincount(minlength=12).numpy(), np.bincount(x, minlength=12))
    ours = Tensor(x).bincount(Tensor(weights))
    np.testing.assert_allclose(ours.numpy(), np.bincount(x, weights), rtol=1e-4, atol=1e-6)
    assert Tensor([], dtype="int32").bincount(minlength=2).tolist() == [0, 0]
    many = RNG.integers(0, 8000, 600).astype(np.int32)
    np.testing.assert_array_equal(Tensor(many).bincount().numpy(), np.bincount(many))
    with pytest.raises(ShapeError, match=r"bincount of shape \(1, 1\)"):
        Tensor([[1]]).bincount()
    with pytest.raises(DtypeError, match="bincount of float32"):
        Tensor([1.0]).bincount()


def test_histograms_are_those_of_torch() -> None:
    x = np.concatenate([RNG.standard_normal(60), [np.inf]]).astype(np.float32)
    expected = torch.histc(torch.tensor(x), 7, -1, 1).numpy()
    np.testing.assert_array_equal(Tensor(x).histc(7, -1, 1).numpy(), expected)
    expected = torch.histc(torch.tensor(x[:60]), 5).numpy()
    np.testing.assert_array_equal(Tensor(x[:60]).histc(5).numpy(), expected)
    assert Tensor([2.0, 2.0]).histc(4).sum().item() == 2
    with pytest.raises(ArgumentError, match="histc: 0 bins from 0 to 1"):
        Tensor(x).histc(0, 0, 1)


def test_a_count_cannot_be_read_inside_a_jitted_function() -> None:
    x = Tensor([1, 0]).realize()

    @TinyJit
    def positions(x: Tensor) -> Tensor:
        return x.nonzero().realize()

    def call_three_times() -> None:
        for _ in range(3):
            positions(x)

    with pytest.raises(JitError, match="reads the elements"):
        call_three_times()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("times", [0, 1, 3])
def test_elements_come_as_often_as_in_numpy(axis: int | None, times: int) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(Tensor(x).repeat_interleave(times, axis).numpy(), np.repeat(x, times, axis))
    size = x.size if axis is None else x.shape[axis]
    each = np.arange(size) % 4 * times
    expected = np.repeat(x, each, axis)
    np.testing.assert_array_equal(Tensor(x).repeat_interleave(each.tolist(), axis).numpy(), expected)
    np.testing.assert_array_equal(Tensor(x).repeat_interleave(Tensor(each), axis).numpy(), expected)


def test_elements_of_one_number_of_times_or_none() -> None:
    assert Tensor([5, 6]).repeat_interleave([2]).tolist() == [5, 5, 6, 6]
    assert Tensor.zeros(0).repeat_interleave([]).shape == (0,)
    t = Tensor([1.0, 2.0])
    assert t.repeat_interleave([3, 1]).sum().gradient(t)[0].tolist() == [3.0, 1.0]


def test_numbers_of_times_are_integers_of_any_kind() -> None:
    t = Tensor([5, 6])
    for two in (np.int64(2), Tensor(2), Tensor([2]), np.array([2, 2]), (2, 2)):
        assert t.repeat_interleave(two).tolist() == [5, 5, 6, 6]
    for wrong in (None, 1.5, "a", [1, None]):
        with pytest.raises(ArgumentError, match="repeat_interleave: repeats="):
            t.repeat_interleave(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_numbers_of_times_that_32_bits_do_not_hold_are_no_others(dtype: str) -> None:
    great = (1 << 32) + 1
    times = Tensor(np.array([great, 1], dtype))
    assert Tensor([5, 6]).repeat_interleave(times).shape == (great + 1,)
    assert Tensor([5, 6]).repeat_interleave(times, output_size=3).tolist() == [5, 5, 5]
    if dtype == "uint64":
        most = Tensor(np.array([0, (1 << 63) + 1], dtype))
        assert Tensor([5, 6]).repeat_interleave(most, output_size=2).tolist() == [6, 6]


def test_times_are_counted_inside_a_jitted_function_where_their_sum_is_known() -> None:
    @TinyJit
    def repeated(x: Tensor, times: Tensor) -> tuple[Tensor, Tensor]:
        first = x.repeat_interleave(times, 0, output_size=4).realize()
        return first, x.repeat_interleave([1, 0, 2], 0).realize()

    for times in ([1, 2, 1], [4, 0, 0], [0, 0, 4], [2, 1, 1]):
        x = np.arange(6).reshape(3, 2) + times[0]
        first, second = repeated(Tensor(x).contiguous().realize(), Tensor(times).contiguous().realize())
        np.testing.assert_array_equal(first.numpy(), np.repeat(x, times, 0))
        np.testing.assert_array_equal(second.numpy(), np.repeat(x, [1, 0, 2], 0))
    short = Tensor([1, 2, 3]).repeat_interleave(Tensor([1, 1, 1]), output_size=5)
    assert short.tolist() == [1, 2, 3, 0, 0]


def test_numbers_of_times_that_cannot_be_are_refused() -> None:
    t = Tensor([1, 2, 3])
    for wrong in (-1, [1, -1, 0]):
        with pytest.raises(ArgumentError, match="repeat_interleave: -1 times"):
            t.repeat_interleave(wrong)
    with pytest.raises(ShapeError, match=r"numbers of shape \(2,\) for an axis of 3 elements"):
        t.repeat_interleave([1, 2])
    with pytest.raises(DtypeError, match="repeat_interleave with float32"):
        t.repeat_interleave(Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(AxisError, match="repeat_interleave: axis 1"):
        t.repeat_interleave(2, 1)


@pytest.mark.parametrize("size", [0, 2, 3, 7])
def test_a_size_may_be_asked_for_whatever_holds(size: int) -> None:
    x = np.array([[0, 5, 0], [7, 0, 9]], np.int32)
    found = np.argwhere(x)
    expected = np.full((size, 2), -1)
    expected[: min(size, 3)] = found[:size]
    np.testing.assert_array_equal(Tensor(x).nonzero(size=size, fill_value=-1).numpy(), expected)
    chosen = np.full(size, 4, np.int32)
    chosen[: min(size, 3)] = x[x > 0][:size]
    out = Tensor(x).masked_select(Tensor(x) > 0, size, 4)
    assert out.dtype is Tensor(x).dtype
    np.testing.assert_array_equal(out.numpy(), chosen)
    empty = Tensor(np.zeros((0, 2), np.float32))
    assert empty.masked_select(empty > 0, size=size, fill_value=1.5).tolist() == [1.5] * size
    assert empty.nonzero(size=size).shape == (size, 2)


def test_positions_of_a_size_are_found_inside_a_jitted_function() -> None:
    @TinyJit
    def found(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.nonzero(size=2).realize(), x.masked_select(x > 1, size=2).realize()

    for values in ([0, 1, 2], [3, 0, 0], [0, 0, 4], [5, 6, 7]):
        x = np.array(values)
        places, elements = found(Tensor(x).contiguous().realize())
        np.testing.assert_array_equal(places.numpy()[:, 0], np.resize([*x.nonzero()[0], 0, 0], 2))
        np.testing.assert_array_equal(elements.numpy(), np.resize([*x[x > 1], 0, 0], 2))


def test_positions_may_come_one_axis_at_a_time() -> None:
    x = np.array([[0, 5, 0], [7, 0, 9]])
    ours = Tensor(x).nonzero(as_tuple=True)
    for column, expected in zip(ours, torch.tensor(x).nonzero(as_tuple=True), strict=True):
        np.testing.assert_array_equal(column.numpy(), expected.numpy())
    assert Tensor(x)[ours].tolist() == [5, 7, 9]
    assert [column.tolist() for column in Tensor(3).nonzero(as_tuple=True)] == [[0]]
    assert Tensor(3).nonzero().shape == (1, 0)


def test_gradients_flow_to_what_was_selected_by_size() -> None:
    x = Tensor([1.0, -2.0, 3.0], requires_grad=True)
    (grad,) = (x.masked_select(x > 0, size=4) * Tensor([1.0, 2.0, 4.0, 8.0])).sum().gradient(x)
    assert grad.tolist() == [1.0, 0.0, 2.0]


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("size", [None, 20, 330])
def test_positions_of_many_truths_are_those_of_numpy(share: float, size: int | None) -> None:
    mask = RNG.random(300) < share
    expected = np.flatnonzero(mask)
    if size is not None:
        expected = np.append(expected, np.full(size, -1))[:size]
    np.testing.assert_array_equal(Tensor(mask).nonzero(size, -1).numpy()[:, 0], expected)


def test_equal_limits_of_a_histogram_are_those_of_the_elements() -> None:
    x = np.array([1.0, 2.0, 2.5, 5.0], np.float32)
    assert Tensor(x).histc(4, 2, 2).tolist() == torch.histc(torch.tensor(x), 4, 2, 2).tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_side_of_equals_may_be_said_in_words(side: str) -> None:
    rows, values = np.array([1, 3, 3, 5]), np.array([3, 5, 0])
    found = getattr(Tensor(rows), "searchsorted")(Tensor(values), side=side)  # noqa: B009 - typed as words
    np.testing.assert_array_equal(found.numpy(), np.searchsorted(rows, values, side))


def test_a_side_in_the_place_of_a_flag_is_refused() -> None:
    with pytest.raises(ArgumentError, match="right='left'"):
        Tensor([1, 2]).searchsorted(Tensor([1]), "left")  # pyright: ignore[reportArgumentType]


def _kernels(compute: Callable[[], object]) -> int:
    found: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
        compute()
    return len(found)


@pytest.mark.parametrize("spread", [1, 1000])
def test_different_elements_are_sorted_once_or_counted(spread: int) -> None:
    x = Tensor(RNG.integers(-20, 20, 530) * spread).realize()
    sorting = _kernels(lambda: x.argsort().realize())
    wanted = 0.5 * sorting if spread == 1 else 2 * sorting
    assert _kernels(lambda: x.unique().realize()) < wanted


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_different_integers_at_the_limits_of_a_dtype_are_counted(dtype: str, at_the_end: bool) -> None:
    limits = np.iinfo(dtype)
    near = RNG.integers(0, 90, 300).astype(dtype)
    x = limits.max - near if at_the_end else limits.min + near
    ours = Tensor(x).unique(return_inverse=True, return_counts=True)
    theirs = np.unique(x, return_inverse=True, return_counts=True)
    assert ours[0].dtype.name == dtype
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine.numpy(), other)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_slices_of_symbolic_sizes_are_as_different_as_known_ones(dtype: str, axis: int | None) -> None:
    rows = [[3, 1, 0, 3], [1, 1, 2, 1], [3, 1, 0, 3], [0, 0, 5, 0], [1, 1, 2, 1]]
    n, m = Variable("n", 0, 5), Variable("m", 1, 4)
    options: Any = {"axis": axis, "return_inverse": True, "return_counts": True}
    with context(DEVICE="PYTHON", SPEC=0):
        x = Tensor(rows, dtype=dtype).realize()
        for first, second in ((4, 3), (5, 4), (0, 2)):
            found = x[: n.bind(first), : m.bind(second)].unique(**options)
            for got, want in zip(found, x[:first, :second].unique(**options), strict=True):
                assert got.dtype is want.dtype
                np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_as_many_different_slices_of_another_size_compile_nothing() -> None:
    x = Tensor([[3, 1], [1, 1], [3, 1], [1, 1], [3, 1]]).realize()
    names: list[Any] = []
    with events.subscribe(events.CompileEvent, names.append):
        for value in (3, 5, 4):
            before = len(names)
            assert x[: Variable("n", 1, 5).bind(value)].unique(axis=0).tolist() == [[1, 1], [3, 1]]
            assert value == 3 or len(names) == before


def test_no_elements_of_a_symbolic_size_are_counted_as_none() -> None:
    none = Tensor([1, 2], dtype="uint8").contiguous()[: Variable("n", 0, 2).bind(0)]
    assert none.bincount().tolist() == []
    assert none.bincount(minlength=2).tolist() == [0, 0]
