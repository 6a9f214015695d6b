"""Functions of complex arrays beside NumPy's: creation, dtypes, axes, reductions, elements by value."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import plugrad.array_api as xp
from plugrad import Tensor, Variable
from plugrad.dtype import dtypes, is_complex
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError

FEW = settings(max_examples=5, deadline=None)
NUMBERS = st.sampled_from([0, 1, -1.5, 2j, -0.5j, 1 + 1j, -1 - 2j])


def arrays(min_dims: int = 0) -> Any:
    shapes = hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=1, max_side=4)
    dtypes = st.sampled_from(["complex64", "complex128"])
    return dtypes.flatmap(lambda dtype: hnp.arrays(dtype, shapes, elements=NUMBERS))


def same(ours: Any, theirs: Any, exact_dtype: bool = True) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for left, right in zip(ours, theirs, strict=True):
            same(left, right, exact_dtype)
        return
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert not exact_dtype or ours.dtype.name == theirs.dtype.name
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=2e-5, atol=1e-6)


# --- creation ---


def test_arrays_are_made_of_what_holds_complex_numbers() -> None:
    for given_ in (1j, [1j, 2], [[1], [2.5j]], (True, 1j), [np.complex64(1j), 2.0]):
        ours = xp.asarray(given_)
        same(ours, np.asarray(given_).astype("complex64"))
    for theirs in (np.array([[1j, 2]], "complex64"), np.array(2j), np.ones(3, "complex128")[::2]):
        same(xp.asarray(theirs), theirs)
        same(xp.asarray(memoryview(theirs)), theirs)
        same(xp.from_dlpack(theirs), theirs)
    same(xp.asarray([1, 2], dtype=xp.complex128), np.array([1, 2], "complex128"))
    same(xp.asarray(Tensor([1, 2]), dtype=xp.complex64), np.array([1, 2], "complex64"))
    z: Any = xp.asarray([1j])
    assert xp.asarray(z) is z
    assert xp.asarray(z, copy=True) is not z
    same(xp.from_dlpack(z), np.array([1j], "complex64"))
    with pytest.raises(DtypeError, match="cannot make a float32 of 1j"):
        xp.asarray([1j], dtype=xp.float32)


def test_python_numbers_take_the_default_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    assert xp.asarray(1j).dtype is xp.full(2, 1j).dtype is xp.result_type(1j) is xp.complex64
    monkeypatch.setattr(dtypes, "default_float", dtypes.float64)
    assert xp.asarray(1j).dtype is xp.full(2, 1j).dtype is xp.result_type(1j) is xp.complex128


def test_arrays_are_made_of_shapes_and_numbers() -> None:
    kind: dict[str, Any] = {"dtype": xp.complex64}
    same(xp.zeros((2, 3), **kind), np.zeros((2, 3), "complex64"))
    same(xp.ones(3, dtype=xp.complex128), np.ones(3, "complex128"))
    same(xp.full((2,), 2 - 1j), np.full(2, 2 - 1j, "complex64"))
    same(xp.full((2,), 2, **kind), np.full(2, 2, "complex64"))
    same(xp.eye(2, 3, k=1, **kind), np.eye(2, 3, 1, "complex64"))
    assert xp.empty((2, 3), **kind).shape == (2, 3)
    for ends in ((0, 1 + 1j), (1j, 3)):
        for endpoint in (True, False):
            wanted = np.linspace(*ends, 5, endpoint=endpoint).astype("complex64")
            same(xp.linspace(*ends, 5, endpoint=endpoint), wanted)
    same(xp.linspace(0, 1, 3, **kind), np.linspace(0, 1, 3).astype("complex64"))
    with pytest.raises(DtypeError, match=r"cannot make a float32 of 1j"):
        xp.full(2, 1j, dtype=xp.float32)


def test_arrays_are_made_like_others() -> None:
    z, t = xp.asarray([[1j, 2]], dtype=xp.complex128), Tensor([[1.0, 2.0]])
    theirs = z.numpy()
    same(xp.zeros_like(z), np.zeros_like(theirs))
    same(xp.ones_like(z, dtype=xp.complex64), np.ones_like(theirs, "complex64"))
    same(xp.full_like(z, 3j), np.full_like(theirs, 3j))
    same(xp.full_like(z, 3), np.full_like(theirs, 3))
    same(xp.zeros_like(z, dtype=xp.float32), np.zeros((1, 2), "float32"))
    same(xp.ones_like(t, dtype=xp.complex64), np.ones((1, 2), "complex64"))
    assert (xp.empty_like(z).dtype, xp.empty_like(t, dtype=xp.complex64).dtype) == (
        xp.complex128,
        xp.complex64,
    )
    with pytest.raises(DtypeError, match="cannot make a float32 of 1j"):
        xp.full_like(t, 1j)


# --- dtypes ---


def test_dtypes_and_how_they_meet_are_numpys() -> None:
    names = ["bool", "float32", "float64", "complex64", "complex128"]
    for left in names:
        for right in names:
            if "complex" in left + right:
                one, other = getattr(xp, left), getattr(xp, right)
                assert xp.result_type(one, other).name == np.result_type(left, right).name
                assert xp.can_cast(one, other) == np.can_cast(left, right)
    assert xp.result_type(Tensor([1.0]), 1j) is xp.result_type(xp.complex64, 1.0) is xp.complex64
    assert xp.result_type(Tensor([1.0], dtype="float64"), 1j) is xp.complex128
    assert not xp.can_cast(xp.asarray([1j]), xp.float32)
    for name in ("complex64", "complex128"):
        found, wanted = xp.finfo(getattr(xp, name)), np.finfo(name)
        assert (found.eps, found.max, found.dtype.name) == (wanted.eps, wanted.max, wanted.dtype.name)
        for kind in ("bool", "integral", "real floating", "complex floating", "numeric"):
            assert xp.isdtype(getattr(xp, name), kind) == np.isdtype(np.dtype(name), kind)
    assert xp.isdtype(xp.complex64, ("bool", xp.complex64))
    assert not xp.isdtype(xp.complex64, xp.complex128)
    assert not xp.isdtype(xp.float32, xp.complex64)
    with pytest.raises(ArgumentError, match="isdtype of kind 'complex'"):
        xp.isdtype(xp.complex64, "complex")


def test_dtypes_are_changed() -> None:
    z = xp.asarray([1 + 2j])
    assert xp.astype(z, xp.complex128).dtype is xp.complex128
    assert xp.astype(z, z.dtype, copy=False) is z
    same(xp.astype(Tensor([1]), xp.complex64), np.array([1], "complex64"))
    with pytest.raises(DtypeError, match="the imaginary parts would be lost"):
        xp.astype(z, xp.float32)


# --- axes, and what is reduced along them ---


@FEW
@given(x=arrays(min_dims=1), data=st.data())
def test_functions_along_an_axis(x: Any, data: Any) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    z = xp.asarray(x)
    for initial in (False, True):
        for name in ("cumulative_sum", "cumulative_prod"):
            wanted = getattr(np, name)(x, axis=axis, include_initial=initial)
            same(getattr(xp, name)(z, axis=axis, include_initial=initial), wanted)
    same(xp.diff(z, axis=axis), np.diff(x, axis=axis))
    zeros = np.zeros_like(x.real)
    same(
        xp.diff(z, axis=axis, n=2, prepend=Tensor(zeros), append=z),
        np.diff(x, axis=axis, n=2, prepend=zeros, append=x),
    )
    same(xp.flip(z, axis=axis), np.flip(x, axis=axis))
    same(xp.roll(z, 2, axis=axis), np.roll(x, 2, axis=axis))
    same(xp.repeat(z, 2, axis=axis), np.repeat(x, 2, axis=axis))
    same(xp.concat([z, Tensor(zeros)], axis=axis), np.concat([x, zeros], axis=axis))
    same(xp.stack([z, z], axis=axis), np.stack([x, x], axis=axis))
    same(xp.unstack(z, axis=axis), np.unstack(x, axis=axis))
    same(xp.squeeze(xp.expand_dims(z, axis=axis), axis), x)
    same(xp.moveaxis(z, axis, 0), np.moveaxis(x, axis, 0))
    same(xp.take(z, Tensor([0, 0]), axis=axis), np.take(x, [0, 0], axis=axis))
    places = np.zeros_like(x, dtype="int32")
    same(xp.take_along_axis(z, Tensor(places), axis=axis), np.take_along_axis(x, places, axis=axis))
    same(xp.vecdot(z, z * 1j, axis=axis), np.vecdot(x, x * np.complex64(1j), axis=axis))
    same(xp.vecdot(Tensor(x.real), z, axis=axis), np.vecdot(x.real, x, axis=axis))


@FEW
@given(x=arrays(), data=st.data())
def test_reductions(x: Any, data: Any) -> None:
    several = st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim).map(tuple)
    axis = data.draw(st.one_of(st.none(), several))
    keep = data.draw(st.booleans())
    z = xp.asarray(x)
    for name in ("sum", "prod", "mean", "all", "any"):
        same(getattr(xp, name)(z, axis=axis, keepdims=keep), getattr(np, name)(x, axis=axis, keepdims=keep))
    wanted = np.count_nonzero(x, axis=axis, keepdims=keep)
    same(xp.count_nonzero(z, axis=axis, keepdims=keep), wanted, exact_dtype=False)


@FEW
@given(x=arrays(min_dims=2))
def test_shapes(x: Any) -> None:
    z, real = xp.asarray(x), Tensor(x.real)
    same(xp.matrix_transpose(z), np.matrix_transpose(x))
    same(xp.permute_dims(z, range(x.ndim)[::-1]), x.T)
    same(xp.reshape(z, (-1,)), x.reshape(-1))
    same(xp.flip(z), np.flip(x))
    same(xp.tile(z, (2, 1, 1)), np.tile(x, (2, 1, 1)))
    same(xp.concat([z, z], axis=None), np.concat([x, x], axis=None))
    same(xp.broadcast_to(z, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape)))
    same(xp.broadcast_arrays(real, z[:1]), np.broadcast_arrays(x.real, x[:1]))
    same(xp.meshgrid(real[0].flatten(), z[0].real.flatten()), np.meshgrid(x.real[0], x.real[0]))
    same(xp.meshgrid(real.flatten(), xp.reshape(z, (-1,))), np.meshgrid(x.real, x))
    same(xp.tril(z, k=1), np.tril(x, k=1))
    same(xp.triu(z, k=-1), np.triu(x, k=-1))
    same(xp.nonzero(z), np.nonzero(x), exact_dtype=False)
    same(xp.matmul(z, z.mT), x @ x.mT)
    same(xp.matmul(real, z.mT), x.real @ x.mT)
    same(xp.tensordot(z, z, axes=0), np.tensordot(x, x, axes=0))
    same(xp.tensordot(z, real, axes=([0], [0])), np.tensordot(x, x.real, axes=([0], [0])))


@FEW
@given(x=arrays())
def test_sets(x: Any) -> None:
    z = xp.asarray(x)
    same(xp.unique_values(z), np.unique(x))
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, theirs = getattr(xp, name)(z), getattr(np, name)(x)
        assert ours._fields == theirs._fields
        same(tuple(ours), tuple(theirs), exact_dtype=False)


def test_each_nan_is_an_element_of_its_own_and_zeros_are_one() -> None:
    nan = math.nan
    found = xp.unique_all(xp.asarray([complex(nan, 1), 2, complex(1, nan), 2, complex(nan, 1)]))
    assert found.counts.tolist() == [1, 2, 1, 1] or sorted(found.counts.tolist()) == [1, 1, 1, 2]
    assert xp.unique_counts(xp.asarray([0j, complex(-0.0, 0.0), complex(0.0, -0.0)])).counts.tolist() == [3]
    assert xp.unique_all(xp.zeros(0, dtype=xp.complex64)).values.shape == (0,)
    assert xp.unique_inverse(xp.asarray([[2j, 1], [1, 2j]])).inverse_indices.tolist() == [[0, 1], [1, 0]]


def test_products_of_none_and_of_many() -> None:
    assert xp.prod(xp.zeros((2, 0), dtype=xp.complex64), axis=1).tolist() == [1, 1]
    assert xp.cumulative_prod(xp.zeros(0, dtype=xp.complex64), include_initial=True).tolist() == [1]
    turn = np.exp(2j * np.pi / 1001 * np.arange(1001))
    np.testing.assert_allclose(xp.prod(xp.asarray(turn)).item(), turn.prod(), rtol=1e-12)
    np.testing.assert_allclose(xp.cumulative_prod(xp.asarray(turn)).numpy(), turn.cumprod(), rtol=1e-11)


def test_sums_have_the_dtype_that_was_asked_for() -> None:
    z = xp.asarray([1j, 2])
    for name in ("sum", "prod", "cumulative_sum", "cumulative_prod"):
        assert getattr(xp, name)(z, dtype=xp.complex128).dtype is xp.complex128
        assert getattr(xp, name)(Tensor([1, 2]), dtype=xp.complex64).dtype is xp.complex64


def test_wrong_axes_are_refused_by_name() -> None:
    z = xp.ones((2, 3), dtype=xp.complex64)
    for name in ("prod", "sum", "mean", "cumulative_prod"):
        with pytest.raises(AxisError, match="axis 2 is out of range"):
            getattr(xp, name)(z, axis=2)
    with pytest.raises(AxisError, match=r"cumulative_prod: axis=None, of \d axes"):
        xp.cumulative_prod(z)
    with pytest.raises(ShapeError, match="nonzero of an array without axes"):
        xp.nonzero(z[0, 0])
    with pytest.raises(ArgumentError, match="stack: there are no arrays"):
        xp.stack([])


def test_symbolic_shapes_are_refused_by_name_where_the_number_of_elements_matters() -> None:
    part = xp.ones(4, dtype=xp.complex64)[: Variable("v", 1, 4).bind(3)]
    with pytest.raises(ShapeError, match=r"^unique_all: the shape \(v,\) is symbolic"):
        xp.unique_all(part)
    with pytest.raises(ShapeError, match="complex numbers along an axis of symbolic size"):
        xp.prod(part).tolist()
    assert xp.sum(part).item() == 3
    assert xp.sum(xp.full_like(part, 1j)).item() == 3j
    assert xp.empty_like(part).shape == part.shape


# --- functions of real numbers ---

# Source: Python array API standard 2024.12: functions whose arrays are of real, or integer, numbers only.
REAL_ONLY = "argmax argmin argsort bitwise_invert ceil floor max min signbit sort trunc"
REAL_PAIRS_ONLY = """
    atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clip copysign floor_divide
    greater greater_equal hypot less less_equal logaddexp maximum minimum nextafter remainder searchsorted
"""


@pytest.mark.parametrize("name", (REAL_ONLY + REAL_PAIRS_ONLY).split())
def test_functions_of_real_numbers_refuse_complex_ones(name: str) -> None:
    z: Any = xp.asarray([1j, 2j])
    for args in ((Tensor([1.0]), z), (z, z)) if name in REAL_PAIRS_ONLY.split() else ((z,),):
        with pytest.raises(DtypeError):
            getattr(xp, name)(*args)


def test_complex_numbers_stand_only_where_they_mean_something() -> None:
    z, t = xp.asarray([1j]), Tensor([1.0])
    with pytest.raises(DtypeError, match="positions are integers"):
        xp.take(z, z)
    with pytest.raises(DtypeError, match="bool condition"):
        xp.where(z, 1, 2)
    assert is_complex(xp.concat([t, z]).dtype)
