import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import promoted

A = np.array([[1.5, -2.0, 3.25], [0.5, -0.25, 4.0]], np.float32)
B = np.array([[2.0, 0.5, -1.0]], np.float32)
I = np.array([[7, -7, 3], [100, -100, 5]], np.int32)  # noqa: E741 - integers, beside A and B
J = np.array([[3], [-4]], np.int32)
Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_floats_are_those_of_numpy(op: Binary) -> None:
    a = np.abs(A) if op is operator.pow else A
    np.testing.assert_allclose(op(Tensor(a), Tensor(B)).numpy(), op(a, B), rtol=2e-6)
    np.testing.assert_allclose(op(Tensor(a), 2.5).numpy(), op(a, np.float32(2.5)), rtol=2e-6)
    np.testing.assert_allclose(op(2.5, Tensor(a)).numpy(), op(np.float32(2.5), a), rtol=2e-6)


@pytest.mark.parametrize(
    "op",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.and_,
        operator.or_,
        operator.xor,
    ],
)
def test_integers_are_those_of_numpy(op: Binary) -> None:
    np.testing.assert_array_equal(op(Tensor(I), Tensor(J)).numpy(), op(I, J))
    np.testing.assert_array_equal(op(Tensor(I), 3).numpy(), op(I, 3))
    np.testing.assert_array_equal(op(3, Tensor(I)).numpy(), op(3, I))


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_comparisons_are_those_of_numpy_nan_included(op: Binary) -> None:
    a = np.array([1.0, 2.0, np.nan, np.inf, -0.0], np.float32)
    b = np.array([1.0, 3.0, np.nan, -np.inf, 0.0], np.float32)
    np.testing.assert_array_equal(op(Tensor(a), Tensor(b)).numpy(), op(a, b))
    np.testing.assert_array_equal(op(Tensor(I), Tensor(J)).numpy(), op(I, J))
    np.testing.assert_array_equal(op(Tensor(I), 5).numpy(), op(I, 5))
    np.testing.assert_array_equal(op(2, Tensor(a)).numpy(), op(2, a))
    assert op(Tensor(I), 5).dtype is dtypes.bool


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
def test_division_of_floats_rounds_down(op: Binary) -> None:
    a = np.array([7.5, -7.5, 7.5, -7.5, 0.0, 5.0, -1e-3], np.float32)
    b = np.array([2.0, 2.0, -2.0, -2.0, 3.0, np.inf, 3.0], np.float32)
    np.testing.assert_allclose(op(Tensor(a), Tensor(b)).numpy(), op(a, b), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_quotients_and_remainders_of_floats_are_those_of_numpy_bit_for_bit(op: Binary, dtype: type) -> None:
    limits, rng = np.finfo(dtype), np.random.default_rng(0)
    edges = [0.0, -0.0, 1, -1, 3, -0.3, math.inf, -math.inf, math.nan, limits.max, -limits.tiny, 2.5, -2]
    pairs = itertools.product(np.array([*edges, limits.smallest_subnormal], dtype), repeat=2)
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    a = np.concatenate([a, rng.uniform(-100, 100, 500).astype(dtype), np.arange(-99, 99).astype(dtype)])
    b = np.concatenate(
        [b, rng.uniform(-5, 5, 500).astype(dtype), rng.choice([-7, -2, 3, 10], 198).astype(dtype)]
    )
    with np.errstate(all="ignore"):
        expected = op(a, b)
    out = op(Tensor(a), Tensor(b)).numpy()
    np.testing.assert_array_equal(out, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(expected[known]))


def test_remainders_are_exact_however_large_the_quotient_is() -> None:
    a, b = np.array([1.0, 1e30, -1e30, 16777216.0], np.float32), np.array([1e-40, 0.3, 0.3, 0.1], np.float32)
    np.testing.assert_array_equal((Tensor(a) % Tensor(b)).numpy(), a % b)
    assert (Tensor([1e300], dtype="float64") % 0.3).item() == 1e300 % 0.3
    assert (Tensor([8388609.0]) // 1).item() == 8388609


def test_gradients_of_remainders_are_those_of_torch() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-9, 9, 40), rng.uniform(0.5, 3, 40) * rng.choice([-1, 1], 40)
    x, y = Tensor(a), Tensor(b)
    u, v = (torch.tensor(side, requires_grad=True) for side in (a, b))
    expected = torch.autograd.grad(torch.remainder(u, v).square().sum(), (u, v))
    for ours, theirs in zip((x % y).square().sum().gradient(x, y), expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    (flat,) = (x // y).sum().gradient(x)
    assert not flat.numpy().any()


def test_division_of_integers_gives_floats() -> None:
    out = Tensor([1, 2]) / Tensor([2, 4])
    assert out.dtype is dtypes.float32
    assert out.tolist() == [0.5, 0.5]
    assert (1 / Tensor([4])).tolist() == [0.25]


# --- promotion ---


@pytest.mark.parametrize(
    ("tensor", "number", "expected"),
    [
        ("float16", 1, "float16"),
        ("float16", 1.5, "float16"),
        ("bfloat16", 2.5, "bfloat16"),
        ("float64", 1.5, "float64"),
        ("int8", 1, "int8"),
        ("int8", 1.5, "float32"),
        ("int64", 1.5, "float32"),
        ("bool", True, "bool"),
        ("bool", 1, "int32"),
        ("bool", 1.5, "float32"),
        ("uint8", True, "uint8"),
    ],
)
def test_python_numbers_are_weak(tensor: str, number: Any, expected: str) -> None:
    out = Tensor([1], dtype=tensor) + number
    assert out.dtype.name == expected
    assert (number + Tensor([1], dtype=tensor)).dtype is out.dtype


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("int8", "uint8", "int16"),
        ("int32", "int64", "int64"),
        ("float16", "bfloat16", "float32"),
        ("float16", "int64", "float16"),
        ("bool", "uint8", "uint8"),
        ("float32", "float64", "float64"),
    ],
)
def test_tensors_meet_in_the_narrowest_dtype_above_both(left: str, right: str, expected: str) -> None:
    a, b = Tensor([1], dtype=left), Tensor([1], dtype=right)
    assert (a + b).dtype.name == (b * a).dtype.name == expected
    assert promoted([a, b]).name == expected


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(
        DtypeError, match=r"300 does not fit uint8, which holds 0\.\.255\. Cast to a wider dtype"
    ):
        Tensor([1], dtype="uint8") + 300


def test_equal_expressions_are_one_node() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 4, t * 4
    assert a is not b
    assert a.uop is b.uop


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"shapes \(2,\) and \(3,\) do not broadcast: axis -1 has sizes 2 and 3"
    ):
        Tensor([1, 2]) + Tensor([1, 2, 3])


@pytest.mark.parametrize(
    "op", [operator.add, operator.truediv, operator.lt, operator.mod, operator.and_, operator.pow]
)
def test_an_operand_that_is_no_number_is_refused(op: Binary) -> None:
    with pytest.raises(DtypeError, match=r"cannot compute with 'a' \(str\) and a tensor"):
        op(Tensor([1]), "a")


# --- bools ---


def test_arithmetic_of_bools_is_logic() -> None:
    t = Tensor([True, True, False])
    u = Tensor([True, False, False])
    assert (t + u).tolist() == [True, True, False]
    assert (t * u).tolist() == [True, False, False]
    assert (~t).tolist() == [False, False, True]
    assert (t ^ u).tolist() == [False, True, False]
    assert Tensor([3, 0]).logical_not().tolist() == [False, True]
    with pytest.raises(
        DtypeError, match=r"subtraction of bool and bool: it takes numbers \(use \^ for bools\)"
    ):
        _ = t - u
    with pytest.raises(DtypeError, match="% of bool"):
        _ = t % u


def test_bits_of_floats_are_refused() -> None:
    with pytest.raises(
        DtypeError, match="bitwise operation of float32 and int32: it takes integers or bools"
    ):
        _ = Tensor([1.0]) & Tensor([1])
    with pytest.raises(DtypeError, match="~ of float32"):
        _ = ~Tensor([1.0])
    with pytest.raises(DtypeError, match="<< of float32 and 1"):
        _ = Tensor([1.0]) << 1


# --- shifts ---


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_shifts_by_any_amount_are_those_of_endless_bits(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [info.max, info.min, 1, 5, info.max // 3]
    width = info.bits
    for amount in (0, 1, width - 1, width, width + 3):
        left = [
            Tensor([(v << amount) & ((1 << width) - 1)], dtype="uint64").cast(dtype).item() for v in values
        ]
        right = [v >> amount for v in values]
        t = Tensor(values, dtype=dtype)
        amounts = Tensor([amount] * len(values), dtype=dtype)
        assert (t << amount).tolist() == (t << amounts).tolist() == left
        assert (t >> amount).tolist() == (t >> amounts).tolist() == right


# --- powers ---


def test_small_constant_powers_are_products() -> None:
    np.testing.assert_allclose((Tensor(A) ** 3).numpy(), A**3, rtol=1e-6)
    np.testing.assert_allclose((Tensor(A) ** -2).numpy(), A**-2, rtol=1e-6)
    np.testing.assert_allclose((Tensor(A) ** 5.0).numpy(), A**5, rtol=1e-6)
    np.testing.assert_array_equal((Tensor(A) ** 0).numpy(), A**0)
    np.testing.assert_allclose((Tensor(np.abs(A)) ** 0.5).numpy(), np.abs(A) ** 0.5, rtol=1e-6)
    np.testing.assert_allclose((Tensor(np.abs(A)) ** 1.7).numpy(), np.abs(A) ** 1.7, rtol=1e-5)
    x = Tensor(A)
    assert (x**2).uop is (x * x).uop


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=4),
    st.lists(st.integers(0, 40), min_size=4, max_size=4),
)
def test_integer_powers_wrap_like_multiplication(base: list[int], exponents: list[int]) -> None:
    exponent = exponents[: len(base)]
    expected = np.array(base, np.int32) ** np.array(exponent, np.int32)
    np.testing.assert_array_equal((Tensor(base) ** Tensor(exponent)).numpy(), expected)


def test_integers_to_a_negative_power_are_refused() -> None:
    with pytest.raises(
        DtypeError, match=r"int32 to the power of -1 is no integer. Cast to a float dtype first, or"
    ):
        _ = Tensor([2]) ** -1
    assert (Tensor([2]) ** -1.0).tolist() == [0.5]


# --- choices ---


def test_where_chooses_and_broadcasts() -> None:
    cond = np.array([[True], [False]])
    np.testing.assert_array_equal(Tensor(cond).where(Tensor(A), Tensor(B)).numpy(), np.where(cond, A, B))
    np.testing.assert_array_equal(Tensor(cond).where(Tensor(A), 0).numpy(), np.where(cond, A, 0))
    assert Tensor([True, False]).where(1, 0.5).tolist() == [1.0, 0.5]
    assert Tensor(True).where(Tensor([1, 2]), Tensor([3, 4])).tolist() == [1, 2]
    assert Tensor([1, 2]).masked_fill(Tensor([True, False]), 9).tolist() == [9, 2]
    with pytest.raises(DtypeError, match="where of int32: it takes a bool condition"):
        Tensor([1]).where(1, 2)
    with pytest.raises(ShapeError, match=r"where: shapes \(3,\), \(2,\)|where: shapes \(3,\) and \(2,\)"):
        Tensor([True] * 3).where(Tensor([1, 2]), 0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32"])
def test_extremes_are_those_of_numpy(dtype: str) -> None:
    a, b = np.array([0, 1, 1, 0], dtype), np.array([0, 0, 1, 1], dtype)
    if dtype != "bool":
        a, b = a * 100, b * np.array(120, dtype)
    np.testing.assert_array_equal(Tensor(a).maximum(Tensor(b)).numpy(), np.maximum(a, b))
    np.testing.assert_array_equal(Tensor(a).minimum(Tensor(b)).numpy(), np.minimum(a, b))


def test_extremes_of_nan_are_nan_and_of_limits_are_limits() -> None:
    a = np.array([1.0, np.nan, np.inf], np.float32)
    np.testing.assert_array_equal(Tensor(a).maximum(0.5).numpy(), np.maximum(a, 0.5))
    np.testing.assert_array_equal(Tensor(a).minimum(0.5).numpy(), np.minimum(a, 0.5))
    lowest = -(1 << 31)
    assert Tensor([lowest, 5]).minimum(Tensor([3, lowest])).tolist() == [lowest, lowest]


def test_clamp_at_a_limit_that_is_nan_is_nan_as_torchs() -> None:
    nan = float("nan")
    x, low = np.array([-2.0, 3.0, 5.0], np.float32), np.array([nan, 0.0, nan], np.float32)
    for limits in ((low, None), (None, low), (low, 4.0), (nan, None), (None, nan)):
        ours = Tensor(x).clamp(*(Tensor(y) if isinstance(y, np.ndarray) else y for y in limits))
        theirs = torch.tensor(x).clamp(
            *(torch.tensor(y) if y is not None else None for y in limits)  # pyright: ignore
        )
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_clamp_is_that_of_torch_with_its_gradient_at_the_limits() -> None:
    values = [-2.0, -1.0, 0.5, 1.0, 3.0, float("nan")]
    ours, theirs = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    out = ours.clamp(-1, 1)
    np.testing.assert_array_equal(out.numpy(), theirs.clamp(-1, 1).detach().numpy())
    out.sum().backward()
    theirs.clamp(-1, 1).sum().backward()
    assert ours.grad is not None
    np.testing.assert_array_equal(ours.grad.numpy()[:5], theirs.grad.numpy()[:5])
    assert Tensor([1, 5]).clamp(max_=3).tolist() == [1, 3]
    assert Tensor([1, 5]).clip(2).tolist() == [2, 5]
    with pytest.raises(DtypeError, match="clamp without a limit"):
        Tensor([1]).clamp()


def test_constants_fold_into_one_kernel_constant() -> None:
    items = ((Tensor([1.0, 2.0]).realize() + 3) + 4).schedule()
    constants = {
        u.arg
        for item in items
        for u in item.ast.toposort()
        if u.op.name == "CONST" and u.dtype.kind == "float"
    }
    assert constants == {7.0} or constants == {3.0, 4.0}, "folded by the kernel's own passes at the latest"


def test_a_tensor_is_a_key_by_identity() -> None:
    a, b = Tensor([1]), Tensor([1])
    assert len({a, b, a}) == 2
    assert not math.isnan(hash(a))


def test_arrays_and_numbers_of_numpy_are_operands_on_either_side() -> None:
    t = Tensor([1, 2])
    array = np.array([10, 20], np.int32)
    for out in (t + array, array + t, t.maximum(array) + 0 * array + t):
        assert isinstance(out, Tensor)
    assert (array - t).tolist() == [9, 18]
    assert (t < array).tolist() == [True, True]
    # NumPy's numbers are weak, like Python's
    assert (t * np.int64(3)).dtype is dtypes.int32
    assert (np.float64(0.5) * Tensor([1.0])).dtype is dtypes.float32
    assert Tensor([True]).where(array, 0).tolist() == [10, 20]


def test_what_is_no_number_is_not_equal_as_a_whole() -> None:
    t = Tensor([1, 2])
    for other in (None, "a", object(), {}):
        assert (t == other) is False
        assert (other == t) is False
        assert (t != other) is True
    assert t in [None, t]
    for ambiguous in ([1, 2], (1, 2)):
        with pytest.raises(DtypeError, match="cannot compute with"):
            _ = t == ambiguous


def test_numbers_are_shifted_by_tensors() -> None:
    assert (1 << Tensor([0, 1, 4])).tolist() == [1, 2, 16]
    assert (-16 >> Tensor([0, 1, 5])).tolist() == [-16, -8, -1]
    assert (1 << Tensor([1], dtype="uint8")).dtype.name == "uint8"
    with pytest.raises(DtypeError, match="integers"):
        _ = 1 << Tensor([1.0])


def test_the_power_of_zero_has_a_gradient_of_zero() -> None:
    x = Tensor([0.0, 2.0], requires_grad=True)
    (x**0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0]
