"""What the functions of plugrad.array_api do, beside NumPy's."""

import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import plugrad.array_api as xp
from plugrad import Variable
from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.tensor import Tensor


def arrays(kinds: str = "fiu", min_dims: int = 0, elements: Any = None) -> Any:
    names = {
        "f": ["float32", "float64"],
        "i": ["int8", "int16", "int32", "int64"],
        "u": ["uint8", "uint16"],
        "b": ["bool"],
    }
    chosen = st.sampled_from([name for kind in kinds for name in names[kind]])
    shapes = hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=1, max_side=4)

    def build(dtype: str) -> Any:
        numbers = elements
        if numbers is None:
            low = 0 if dtype[0] == "u" else -9
            numbers = st.integers(low, 9)
        if dtype.startswith("float") and elements is None:
            numbers = st.sampled_from([-2.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0])
        return hnp.arrays(dtype, shapes, elements=numbers)

    return chosen.flatmap(build)


def same(ours: Any, theirs: Any, exact_dtype: bool = True) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for left, right in zip(ours, theirs, strict=True):
            same(left, right, exact_dtype)
        return
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    if exact_dtype:
        assert ours.dtype.name == theirs.dtype.name
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=2e-5, atol=1e-6)


UNARY = "abs ceil floor trunc round sign square negative positive isfinite isinf isnan logical_not signbit"
FLOATS = "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10"
FLOATS += " reciprocal sin sinh sqrt tan tanh"
BINARY = "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal"
BINARY += " logical_and logical_or logical_xor floor_divide remainder"
FLOAT_PAIRS = "divide pow atan2 hypot logaddexp copysign nextafter"
INTEGER_PAIRS = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
FEW = settings(max_examples=8, deadline=None)


@pytest.mark.parametrize("name", UNARY.split())
@FEW
@given(x=arrays())
def test_functions_of_numbers(name: str, x: Any) -> None:
    if name == "signbit" and x.dtype.kind != "f":
        x = x.astype("float32")
    same(getattr(xp, name)(Tensor(x)), getattr(np, name)(x))


@pytest.mark.parametrize("name", FLOATS.split())
@FEW
@given(x=arrays("f"))
def test_functions_of_floats(name: str, x: Any) -> None:
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x)
    same(getattr(xp, name)(Tensor(x)), wanted)


def pairs(kinds: str) -> Any:
    return arrays(kinds).flatmap(
        lambda x: st.tuples(st.just(x), hnp.arrays(x.dtype, x.shape, elements=st.integers(0, 5)))
    )


def compare_pairs(name: str, x: Any, y: Any) -> None:
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x, y)
    same(getattr(xp, name)(Tensor(x), Tensor(y)), wanted)
    with np.errstate(all="ignore"):
        scalar = getattr(np, name)(x, y.dtype.type(2))
    same(getattr(xp, name)(Tensor(x), 2), scalar)


@pytest.mark.parametrize("name", BINARY.split())
@FEW
@given(pair=pairs("fiu"))
def test_functions_of_two_numbers(name: str, pair: Any) -> None:
    x, y = pair
    compare_pairs(name, x, y + 1 if name in ("floor_divide", "remainder") else y)


@pytest.mark.parametrize("name", FLOAT_PAIRS.split())
@FEW
@given(pair=pairs("f"))
def test_functions_of_two_floats(name: str, pair: Any) -> None:
    compare_pairs(name, *pair)


@pytest.mark.parametrize("name", INTEGER_PAIRS.split())
@FEW
@given(pair=pairs("iu"))
def test_functions_of_two_integers(name: str, pair: Any) -> None:
    compare_pairs(name, *pair)
    same(xp.bitwise_invert(Tensor(pair[0])), ~pair[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_neighbours_of_floats_are_numpys_to_the_bit(dtype: str) -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504.0, -3.5], dtype)
    left, right = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wanted = np.nextafter(left, right)
    found = xp.nextafter(Tensor(left), Tensor(right)).numpy()
    assert found.view(f"u{found.itemsize}").tolist() == wanted.view(f"u{found.itemsize}").tolist() or (
        np.array_equal(found, wanted, equal_nan=True)
    )


def test_numbers_stand_on_either_side() -> None:
    assert xp.subtract(3, Tensor([1])).tolist() == [2]
    assert xp.maximum(2.5, Tensor([1, 4])).tolist() == [2.5, 4.0]
    assert xp.where(Tensor([True, False]), 1.0, Tensor([2.0, 3.0])).tolist() == [1.0, 3.0]
    with pytest.raises(DtypeError, match="two numbers, 1 and 2"):
        xp.add(1, 2)
    with pytest.raises(DtypeError, match="nextafter of int32"):
        xp.nextafter(Tensor([1]), Tensor([2]))


@FEW
@given(x=arrays(min_dims=1), data=st.data())
def test_reductions(x: Any, data: Any) -> None:
    axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)))
    keep = data.draw(st.booleans())
    t = Tensor(x)
    for name in ["max", "min", "all", "any"]:
        same(getattr(xp, name)(t, axis=axis, keepdims=keep), getattr(np, name)(x, axis=axis, keepdims=keep))
    for name in ["argmax", "argmin", "count_nonzero", "sum", "prod"]:
        ours = getattr(xp, name)(t, axis=axis, keepdims=keep)
        # integers are summed in 32 bits here and in 64 there: both wrap
        theirs = np.asarray(getattr(np, name)(x, axis=axis, keepdims=keep))
        same(ours, theirs.astype(ours.dtype.name) if theirs.dtype.kind in "iu" else theirs, exact_dtype=False)
    floats = x.astype("float32")
    same(xp.mean(Tensor(floats), axis=axis, keepdims=keep), np.mean(floats, axis=axis, keepdims=keep))
    for correction in (0.0, 0.5):
        for name in ("var", "std"):
            ours = getattr(xp, name)(Tensor(floats), axis=axis, correction=correction, keepdims=keep)
            same(ours, getattr(np, name)(floats, axis=axis, ddof=correction, keepdims=keep))


@FEW
@given(x=arrays(min_dims=1), data=st.data())
def test_lines(x: Any, data: Any) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    t = Tensor(x)
    for initial in (False, True):
        for name in ("cumulative_sum", "cumulative_prod"):
            wanted = getattr(np, name)(x.astype("float64"), axis=axis, include_initial=initial)
            same(getattr(xp, name)(t, axis=axis, include_initial=initial), wanted, exact_dtype=False)
    same(xp.diff(t, axis=axis), np.diff(x, axis=axis))
    same(xp.diff(t, axis=axis, n=2, prepend=t, append=t), np.diff(x, axis=axis, n=2, prepend=x, append=x))
    same(xp.sort(t, axis=axis), np.sort(x, axis=axis))
    same(xp.sort(t, axis=axis, descending=True), np.flip(np.sort(x, axis=axis), axis))
    same(xp.argsort(t, axis=axis), np.argsort(x, axis=axis, stable=True), exact_dtype=False)
    same(xp.take_along_axis(t, xp.argsort(t, axis=axis), axis=axis), np.sort(x, axis=axis))
    same(xp.flip(t, axis=axis), np.flip(x, axis=axis))
    same(xp.roll(t, 2, axis=axis), np.roll(x, 2, axis=axis))
    same(xp.repeat(t, 2, axis=axis), np.repeat(x, 2, axis=axis))
    same(xp.concat([t, t], axis=axis), np.concat([x, x], axis=axis))
    same(xp.stack([t, t], axis=axis), np.stack([x, x], axis=axis))
    same(xp.unstack(t, axis=axis), np.unstack(x, axis=axis))
    same(xp.expand_dims(t, axis=axis), np.expand_dims(x, axis))
    same(xp.squeeze(xp.expand_dims(t, axis=axis), axis), x)
    same(xp.moveaxis(t, axis, 0), np.moveaxis(x, axis, 0))
    same(xp.take(t, Tensor([0, 0]), axis=axis), np.take(x, [0, 0], axis=axis))
    same(xp.vecdot(t, t, axis=axis), np.sum(x * x, axis=axis, dtype=x.dtype))


@FEW
@given(x=arrays(min_dims=2))
def test_shapes(x: Any) -> None:
    t = Tensor(x)
    same(xp.matrix_transpose(t), np.matrix_transpose(x))
    same(t.mT, x.mT)
    same(xp.permute_dims(t, range(x.ndim)[::-1]), x.T)
    same(xp.reshape(t, (-1,)), x.reshape(-1))
    same(xp.reshape(t, (-1,), copy=True), x.reshape(-1))
    same(xp.flip(t), np.flip(x))
    same(xp.roll(t, (1, 2), axis=(0, 1)), np.roll(x, (1, 2), axis=(0, 1)))
    same(xp.roll(t, 1), np.roll(x, 1))
    same(xp.tile(t, (2, 1, 1)), np.tile(x, (2, 1, 1)))
    same(xp.repeat(t, 2), np.repeat(x, 2))
    same(xp.concat([t, t], axis=None), np.concat([x, x], axis=None))
    same(xp.broadcast_to(t, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape)))
    same(xp.broadcast_arrays(t, t[:1]), np.broadcast_arrays(x, x[:1]))
    same(xp.tril(t, k=1), np.tril(x, k=1))
    same(xp.triu(t, k=-1), np.triu(x, k=-1))
    same(xp.clip(t, 1, 3), np.clip(x, x.dtype.type(1), x.dtype.type(3)))
    same(xp.nonzero(t), np.nonzero(x), exact_dtype=False)
    floats = x.astype("float32")
    same(xp.matmul(Tensor(floats), Tensor(floats).mT), floats @ floats.mT)
    same(xp.tensordot(Tensor(floats), Tensor(floats), axes=0), np.tensordot(floats, floats, axes=0))


@FEW
@given(x=arrays())
def test_sets(x: Any) -> None:
    t = Tensor(x)
    same(xp.unique_values(t), np.unique(x))
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, theirs = getattr(xp, name)(t), getattr(np, name)(x)
        assert ours._fields == theirs._fields
        same(tuple(ours), tuple(theirs), exact_dtype=False)


def test_each_nan_is_an_element_of_its_own() -> None:
    x = np.array([[np.nan, 2.0, np.nan], [-0.0, np.nan, 0.0]], np.float32)
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours = getattr(xp, name)(Tensor(x))
        values, indices, inverse, counts = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
        known = {"values": values, "indices": indices, "inverse_indices": inverse, "counts": counts}
        theirs = [known[field] for field in ours._fields]
        same(tuple(ours), theirs, exact_dtype=False)
    same(xp.unique_values(Tensor(x)), np.unique(x, equal_nan=False))
    assert [len(part) for part in xp.unique_all(Tensor(np.zeros((0, 2), np.float32)))] == [0, 0, 0, 0]


def test_limits_that_are_nan_give_nan() -> None:
    nan = float("nan")
    x, low = np.array([-2.0, 3.0], np.float32), np.array([nan, 0.0], np.float32)
    same(xp.clip(Tensor(x), Tensor(low), 1.0), np.clip(x, low, np.float32(1)))
    same(xp.clip(Tensor(x), max=nan), np.clip(x, None, np.float32(nan)))


def test_searching_in_order() -> None:
    x, values = np.array([3.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.5, 9.0])
    order = np.argsort(x)
    for side in ("left", "right"):
        ours = xp.searchsorted(Tensor(x), Tensor(values), side=side, sorter=Tensor(order))
        same(ours, np.searchsorted(x, values, side, order), exact_dtype=False)
    with pytest.raises(ArgumentError, match="side='middle'"):
        xp.searchsorted(Tensor(x), Tensor(values), side="middle")  # pyright: ignore[reportArgumentType]


def test_creation() -> None:
    t = Tensor([[1, 2]])
    same(xp.arange(5), np.arange(5), exact_dtype=False)
    same(xp.arange(1, 9, 3, dtype=xp.int8), np.arange(1, 9, 3, dtype="int8"))
    for endpoint in (True, False):
        same(
            xp.linspace(0, 3, 7, dtype=xp.float64, endpoint=endpoint), np.linspace(0, 3, 7, endpoint=endpoint)
        )
    for k in (-2, 0, 1):
        same(xp.eye(3, 4, k=k, dtype=xp.float64), np.eye(3, 4, k=k))
    same(xp.eye(2), np.eye(2, dtype="float32"))
    same(xp.full((2, 1), 7, dtype=xp.uint8), np.full((2, 1), 7, dtype="uint8"))
    same(xp.full(3, True), np.full(3, True))
    same(xp.zeros(()), np.zeros((), "float32"))
    same(xp.ones((2, 0)), np.ones((2, 0), "float32"))
    assert xp.empty((2, 3)).shape == (2, 3)
    for name, value in (("zeros_like", 0), ("ones_like", 1)):
        made = getattr(xp, name)(t)
        assert (made.dtype, made.tolist()) == (t.dtype, [[value, value]])
    assert xp.full_like(t, 2.5, dtype=xp.float64).tolist() == [[2.5, 2.5]]
    assert (xp.empty_like(t).shape, xp.empty_like(t).dtype) == (t.shape, t.dtype)
    for indexing in ("xy", "ij"):
        ours = xp.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]), indexing=indexing)
        same(ours, np.meshgrid([1, 2], [3, 4, 5], indexing=indexing), exact_dtype=False)
    assert xp.meshgrid() == []
    same(xp.from_dlpack(np.arange(3)), np.arange(3))


def test_asarray_copies_when_asked() -> None:
    t = Tensor([1, 2]).realize()
    assert xp.asarray(t) is t
    copied = xp.asarray(t, copy=True)
    t.assign(t + 1).realize()
    assert (copied.tolist(), t.tolist()) == ([1, 2], [2, 3])
    assert xp.asarray(t, dtype=xp.float64).dtype is dtypes.float64
    assert xp.asarray([[True]]).dtype is dtypes.bool
    assert xp.asarray(3).shape == ()
    with pytest.raises(ArgumentError, match="another dtype or device needs a copy"):
        xp.asarray(t, dtype=xp.float64, copy=False)
    with pytest.raises(ArgumentError, match="copy=False takes a NumPy array"):
        xp.asarray([1], copy=False)
    assert xp.astype(t, xp.int8).dtype is dtypes.int8
    assert xp.astype(t, t.dtype, copy=False) is t


def test_memory_is_taken_as_its_memoryview_says() -> None:
    for taken, dtype in (
        (array.array("h", [1, -2]), "int16"),
        (array.array("d", [1.5]), "float64"),
        (memoryview(np.arange(6).reshape(2, 3)), "int64"),
        (memoryview(np.arange(6, dtype=np.uint8))[::2], "uint8"),
        (b"ab", "uint8"),
        (bytearray(b"ab"), "uint8"),
    ):
        ours = xp.asarray(taken)
        assert (ours.dtype.name, ours.tolist()) == (dtype, memoryview(taken).tolist())
    memory = array.array("f", [1.0] * 10_000)
    copied = xp.asarray(memory)
    memory[0] = 2
    assert copied[0].item() == 1
    assert xp.asarray(memoryview(np.array([1j], "c8"))).tolist() == [1j]
    with pytest.raises(DtypeError, match="has no plugrad dtype"):
        xp.asarray(memoryview(np.zeros(2, "g")))


def test_wrong_axes_are_refused() -> None:
    t = Tensor([[1, 2], [3, 4]])
    with pytest.raises(ShapeError, match="squeeze of axis 0, which has size 2"):
        xp.squeeze(t, 0)
    with pytest.raises(ShapeError, match="take without an axis"):
        xp.take(t, Tensor([0]))
    with pytest.raises(AxisError, match="cumulative_sum: axis=None, of 2 axes"):
        xp.cumulative_sum(t)
    with pytest.raises(ShapeError, match="vecdot along axis -1"):
        xp.vecdot(t, Tensor([1, 2, 3]))
    with pytest.raises(AxisError, match="vecdot: axis -2 is out of range"):
        xp.vecdot(t, Tensor([1, 2]), axis=-2)
    with pytest.raises(AxisError, match="squeeze: axis 2 is out of range"):
        xp.squeeze(t, 2)
    with pytest.raises(AxisError, match="squeeze: axis='x' is no axis"):
        xp.squeeze(t, "x")
    with pytest.raises(ShapeError, match="take of indices of 0 axes"):
        xp.take(t, Tensor(0), axis=0)


def test_what_means_nothing_is_refused() -> None:
    t = Tensor([1, 2, 3])
    for join in (xp.concat, xp.stack):
        with pytest.raises(ArgumentError, match=": there are no arrays"):
            join([])
    with pytest.raises(ShapeError, match="nonzero of an array without axes"):
        xp.nonzero(Tensor(1))
    with pytest.raises(ShapeError, match=r"searchsorted in \(3,\) by a sorter \(1,\)"):
        xp.searchsorted(t, t, sorter=Tensor([0]))
    with pytest.raises(ShapeError, match=r"searchsorted in \(1, 3\)"):
        xp.searchsorted(t.reshape(1, 3), t)
    with pytest.raises(ArgumentError, match="n=-1 is negative"):
        xp.diff(t, n=-1)
    with pytest.raises(ShapeError, match=r"broadcast_to: \(2, -1\) has a negative size"):
        xp.broadcast_to(t, (2, -1))
    with pytest.raises(ShapeError, match=r"eye: \(-1, -1\) has a negative size"):
        xp.eye(-1)
    with pytest.raises(ShapeError, match=r"linspace: \(-1,\) has a negative size"):
        xp.linspace(0, 1, -1, endpoint=False)


def test_arguments_may_be_given_as_the_standard_says() -> None:
    t = Tensor([1, 2, 3])
    assert xp.expand_dims(t, 1).shape == xp.expand_dims(t, axis=1).shape == (3, 1)
    assert xp.reshape(t.reshape(1, 3), 3).shape == (3,)
    assert xp.conj(t).tolist() == xp.real(t).tolist() == [1, 2, 3]


def test_no_arrays_broadcast_to_none() -> None:
    assert xp.broadcast_arrays() == xp.meshgrid() == []


def test_arrays_may_be_made_and_broadcast_in_a_symbolic_shape() -> None:
    x = Tensor([[1, 2], [3, 4], [5, 6]]).contiguous()[: Variable("v", 1, 3).bind(2)]
    assert xp.full_like(x, 7).tolist() == [[7, 7], [7, 7]]
    assert xp.zeros_like(x).tolist() == [[0, 0], [0, 0]]
    assert xp.empty_like(x).shape == x.shape
    first, second = xp.broadcast_arrays(x, Tensor([[[1, 2]]]))
    assert first.tolist() == [[[1, 2], [3, 4]]]
    assert second.tolist() == [[[1, 2], [1, 2]]]
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 1, 3], [0, 3, 7]]
    assert xp.cumulative_sum(x, axis=0, include_initial=True).tolist() == [[0, 0], [1, 2], [4, 6]]
    with pytest.raises(ShapeError, match=r"broadcast_arrays: shapes \(v, 2\) and \(3,\) do not broadcast"):
        xp.broadcast_arrays(x, Tensor([1, 2, 3]))
