import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable, dtypes
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.uop.ops import Ops


def test_constants_fill_any_shape_and_take_no_memory() -> None:
    t = Tensor.zeros(2, 3)
    assert t.shape == (2, 3)
    assert t.dtype is dtypes.float32
    assert not any(u.op is Ops.BUFFER for u in t.uop.toposort())
    assert t.tolist() == [[0.0] * 3] * 2
    assert Tensor.ones((2,), dtype="int8").tolist() == [1, 1]
    assert Tensor.full((2, 1), True).tolist() == [[True], [True]]
    assert Tensor.zeros().item() == 0.0
    assert Tensor.ones(0, 3).tolist() == []


def test_a_value_that_the_dtype_does_not_hold_is_refused() -> None:
    with pytest.raises(DtypeError, match=r"-1 does not fit uint8, which holds 0\.\.255"):
        Tensor.full((2,), -1, dtype="uint8")


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"zeros: \(2, -1\) has a negative size"):
        Tensor.zeros(2, -1)


@pytest.mark.parametrize(
    "bounds",
    [(5,), (0,), (2, 7), (7, 2), (1, 10, 3), (10, 1, -4), (0.0, 1.0, 0.25), (5.0,), (1, 2, 0.3), (-3, 3)],
)
def test_ranges_are_those_of_numpy(bounds: tuple[Any, ...]) -> None:
    expected = np.arange(*bounds)
    t = Tensor.arange(*bounds)
    assert t.dtype is (dtypes.int32 if expected.dtype.kind == "i" else dtypes.float32)
    np.testing.assert_allclose(t.numpy(), expected, rtol=1e-6)


def test_integer_ranges_are_exact_beyond_32_bits() -> None:
    start = 1 << 40
    assert Tensor.arange(start, start + 3, dtype="int64").tolist() == [start, start + 1, start + 2]
    big = (1 << 24) + 1
    assert Tensor.arange(big, big + 2).tolist() == [big, big + 1]
    assert Tensor.arange(3, dtype="float16").tolist() == [0.0, 1.0, 2.0]


def test_ranges_that_cannot_be_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"arange\(0, 5, 0\) never ends\. Give a step other than 0"):
        Tensor.arange(0, 5, 0)
    for wrong in (Tensor([1, 2]), "5", None):
        with pytest.raises(DtypeError, match=r"arange: .* is no number"):
            Tensor.arange(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError, match="299 does not fit uint8"):
        Tensor.arange(300, dtype="uint8")


@pytest.mark.parametrize(
    ("start", "stop", "steps"), [(0, 1, 5), (-2, 3, 11), (1, 1, 3), (0, 1, 1), (0, 1, 0), (5, -5, 4)]
)
def test_linspace_hits_both_ends(start: float, stop: float, steps: int) -> None:
    out = Tensor.linspace(start, stop, steps).numpy()
    np.testing.assert_allclose(out, np.linspace(start, stop, steps, dtype=np.float32), rtol=1e-6, atol=1e-7)
    if steps > 1:
        assert (out[0], out[-1]) == (start, stop)


def test_identity_matrices_may_be_oblong() -> None:
    np.testing.assert_array_equal(Tensor.eye(3, 5).numpy(), np.eye(3, 5, dtype=np.float32))
    assert Tensor.eye(2, dtype="int32").tolist() == [[1, 0], [0, 1]]


def test_empty_memory_has_a_shape_and_can_be_written() -> None:
    t = Tensor.empty(2, 3, dtype="int32")
    assert t.uop.op is Ops.BUFFER
    assert t.assign(Tensor.ones(2, 3, dtype="int32")).tolist() == [[1] * 3] * 2


@pytest.mark.parametrize(
    "make", [Tensor.zeros_like, Tensor.ones_like, Tensor.empty_like, Tensor.rand_like, Tensor.randn_like]
)
def test_like_forms_take_shape_dtype_and_device(make: Callable[..., Tensor]) -> None:
    t = Tensor([[1.0, 2.0]], dtype="float16")
    out = make(t)
    assert (out.shape, out.dtype, out.device) == (t.shape, t.dtype, t.device)
    assert make(t, dtype="float64").dtype is dtypes.float64


def test_random_integers_take_the_shape_of_another_tensor() -> None:
    t = Tensor([[1, 2, 3]] * 50, dtype="int8")
    out = t.randint_like(low=-2, high=1)
    assert (out.shape, out.dtype, out.device) == (t.shape, t.dtype, t.device)
    assert {x for row in out.tolist() for x in row} == {-2, -1, 0}


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "bfloat16", "float64"])
def test_limits_of_random_integers_may_have_places_as_in_torch(dtype: str) -> None:
    t = Tensor.zeros(50, 3, dtype=dtype)
    assert set(t.randint_like(3).flatten().tolist()) == {0, 1, 2}
    assert set(t.randint_like(-2, 1).flatten().tolist()) == {-2, -1, 0}
    assert set(t.randint_like(3, high=5).flatten().tolist()) == {3, 4}
    assert set(t.randint_like(5, low=3).flatten().tolist()) == {3, 4}
    assert set(t.randint_like(high=2).flatten().tolist()) == {0, 1}
    assert set(t.randint_like().flatten().tolist()) == set(range(10))
    assert t.randint_like(9).dtype is t.dtype
    assert t.randint_like(9, dtype="int16").dtype is dtypes.int16


def test_random_integers_like_bools_are_bools() -> None:
    t = Tensor.zeros(50, dtype="bool")
    assert t.randint_like(2).dtype is dtypes.bool
    assert set(t.randint_like(2).tolist()) == {False, True}
    assert set(t.randint_like(1).tolist()) == {False}
    assert set(t.randint_like(1, 2).tolist()) == {True}
    assert set(Tensor.zeros(50).randint_like(2, dtype="bool").tolist()) == {False, True}
    for limits in ((3,), (-1, 2), (2, 5)):
        with pytest.raises(DtypeError, match="bool holds all integers from 0 to 1 only"):
            t.randint_like(*limits)
    with pytest.raises(ArgumentError, match="there is no integer from 1 to below 1"):
        t.randint_like(1, 1)


def test_a_constant_may_have_a_symbolic_shape() -> None:
    n = Variable("n", 1, 10).bind(3)
    assert Tensor.ones(n, 2).shape == (n, 2)
    assert Tensor.ones(n, 2).sum().item() == 6.0


def test_gradients_may_be_asked_for_at_once() -> None:
    assert Tensor.zeros(3, requires_grad=True).requires_grad
    assert not Tensor.zeros(3).requires_grad


def test_ranges_may_end_and_begin_at_a_variable() -> None:
    n = Variable("n", 1, 10)
    for value in (1, 4, 10):
        bound = n.bind(value)
        assert Tensor.arange(bound).shape == (bound,)
        assert Tensor.arange(bound).sum().item() == sum(range(value))
        assert Tensor.arange(1, bound, 2, dtype="float32").sum().item() == sum(range(1, value, 2))
        assert Tensor.arange(bound, 12).sum().item() == sum(range(value, 12))
        assert Tensor.arange(bound, bound + 3).tolist() == [value, value + 1, value + 2]
        assert Tensor.arange(bound, 0, -1).sum().item() == sum(range(value, 0, -1))
    with pytest.raises(ArgumentError, match=r"arange from 0 to n by 0.5: beside a Variable all are integers"):
        Tensor.arange(0, bound, 0.5)
    with pytest.raises(ArgumentError, match=r"arange from 0\.5 to n by 1"):
        Tensor.arange(0.5, bound)


@pytest.mark.parametrize(
    "bounds",
    [(0, 1, 0.1), (-7.3, 3, 0.1), (1, 1e-3, -0.1), (1e6, 1e6 + 9, 0.7), (0, 1e30, 1e29), (0.1, 5e3, 0.37)],
)
def test_ranges_of_floats_are_rounded_once(bounds: tuple[float, float, float]) -> None:
    first, stop, step = bounds
    count = math.ceil((stop - first) / step)
    exact = np.longdouble(first) + np.arange(count) * np.longdouble(step)
    found = Tensor.arange(*bounds).numpy()
    assert found.shape == exact.shape
    # what is nearly 0 has the digits that are left
    np.testing.assert_allclose(found, exact.astype(np.float32), rtol=0, atol=abs(first) * 2.0**-46)
    assert Tensor.arange(*bounds, dtype="float64").tolist() == [first + i * step for i in range(count)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "fp8e4m3"])
def test_short_floats_count_in_longer_ones(dtype: str) -> None:
    exact = torch.arange(0, 1500, 0.5, dtype=torch.float64)
    ours = Tensor.arange(0, 1500, 0.5, dtype=dtype)
    assert ours.cast("float32").tolist() == Tensor(exact.numpy()).cast(dtype).cast("float32").tolist()
    exact = np.linspace(-3, 5, 3001)
    ours = Tensor.linspace(-3, 5, 3001, dtype=dtype)
    assert ours.cast("float32").tolist() == Tensor(exact).cast(dtype).cast("float32").tolist()


def test_the_dtype_of_a_range_holds_it() -> None:
    assert Tensor.arange(1 << 40, (1 << 40) + 3).tolist() == [(1 << 40) + i for i in range(3)]
    assert Tensor.arange(-3 << 30, 3 << 30, 1 << 31, dtype="int64").tolist() == [-3 << 30, -1 << 30, 1 << 30]
    assert Tensor.arange(-(1 << 31), 1 << 31, 1 << 30).tolist() == [-(1 << 31), -(1 << 30), 0, 1 << 30]
    assert Tensor.full((1,), 1 << 40).dtype.name == "int64"


def test_numbers_of_numpy_are_numbers() -> None:
    assert Tensor.arange(np.int64(3)).tolist() == [0, 1, 2]
    assert Tensor.full((np.int32(1),), np.float32(1.5)).tolist() == [1.5]
    assert Tensor.eye(np.int64(2)).shape == (2, 2)
    assert Tensor.linspace(np.float32(0), np.int64(1), np.uint8(3)).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    "ends", [(0, 10, 7), (-7, 2**40, 4), (5, -5, 4), (0, 2**53 + 1, 3), (3, 3, 5), (9, 9, 1)]
)
def test_integers_at_equal_distances_are_exact(ends: tuple[int, int, int]) -> None:
    start, stop, steps = ends
    exact = [start + Fraction(i * (stop - start), max(steps - 1, 1)) for i in range(steps)]
    assert Tensor.linspace(*ends, dtype="int64").tolist() == [math.trunc(x) for x in exact]


def test_powers_at_equal_distances_are_those_of_torch() -> None:
    for given, options in (((-2, 3, 6), {}), ((0.5, 8, 9), {"base": 2.0}), ((0, 3, 1), {}), ((0, 3, 0), {})):
        expected = torch.logspace(*given, **options)
        np.testing.assert_allclose(Tensor.logspace(*given, **options).numpy(), expected.numpy(), rtol=1e-6)
    assert Tensor.logspace(0, 3, 4, dtype="int32").tolist() == [1, 10, 100, 1000]


def test_sizes_may_be_given_by_the_names_of_others() -> None:
    assert Tensor.zeros(shape=(2, 3)).shape == Tensor.zeros(size=(2, 3)).shape == (2, 3)
    assert Tensor.ones(2, 3).reshape(shape=(3, 2)).shape == (3, 2)
    assert Tensor.arange(start=1, end=3).tolist() == [1, 2]
    assert Tensor.arange(end=2).tolist() == [0, 1]
    with pytest.raises(TypeError, match="got 'shape' twice, also as 'size'"):
        Tensor.full((2,), 1, size=(3,))


def test_a_dtype_may_be_given_by_position() -> None:
    pattern = Tensor([1, 2])
    given = [
        Tensor.full((2,), 3, "float16"),
        Tensor.arange(0, 4, 2, "float16"),
        Tensor.linspace(0, 2, 2, "float16"),
        Tensor.eye(2, None, "float16"),
        pattern.full_like(3, "float16"),
        pattern.zeros_like("float16"),
        pattern.ones_like("float16"),
        pattern.empty_like("float16"),
        pattern.rand_like("float16"),
        pattern.randn_like("float16"),
    ]
    assert {tensor.dtype.name for tensor in given} == {"float16"}


def test_a_flag_in_the_place_of_a_dtype_is_refused() -> None:
    """It is another parameter of NumPy: `endpoint`, or the diagonal of ones."""
    with pytest.raises(DtypeError, match="linspace: False is not a dtype"):
        Tensor.linspace(0, 1, 5, False)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError, match="eye: 1 is not a dtype"):
        Tensor.eye(3, 4, 1)  # pyright: ignore[reportArgumentType]


def test_full_of_a_bound_variable_has_its_value() -> None:
    n = Variable("n", 1, 9)
    assert [Tensor.full((2, 2), n.bind(k)).tolist() for k in (3, 4)] == [[[3, 3], [3, 3]], [[4, 4], [4, 4]]]
    assert Tensor.full((2,), n.bind(3) * 2, dtype=dtypes.float32).tolist() == [6.0, 6.0]
