import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-3, 7.75, -7.25, math.inf, -math.inf, math.nan]
SIGNED = [
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
    "square",
    "neg",
    "relu",
]
SMOOTH = ["exp", "exp2", "sin", "cos", "tan", "reciprocal"]
POSITIVE = ["log", "log2", "log10", "sqrt", "rsqrt"]


def theirs(name: str, x: torch.Tensor) -> torch.Tensor:
    function: Callable[[torch.Tensor], torch.Tensor] = getattr(torch, name)
    return function(x)


@pytest.mark.parametrize("name", SIGNED)
def test_rounding_and_signs_are_exact(name: str) -> None:
    out = getattr(Tensor(EDGES), name)().numpy()
    expected = theirs(name, torch.tensor(EDGES)).numpy()
    if name == "sign":
        expected = np.sign(np.array(EDGES, np.float32))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "round", "trunc"])
def test_the_sign_of_zero_is_that_of_torch(name: str) -> None:
    values = [0.0, -0.0, -0.3, 0.3, -0.5]
    out = getattr(Tensor(values), name)().numpy()
    assert np.signbit(out).tolist() == np.signbit(theirs(name, torch.tensor(values)).numpy()).tolist()


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "round", "trunc"])
def test_steps_are_flat(name: str) -> None:
    x = Tensor([1.5, -2.5, 0.0], requires_grad=True)
    getattr(x, name)().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_are_close_to_torch(name: str) -> None:
    x = np.concatenate([np.linspace(-9, 9, 41), [0.001, -1e-5]]).astype(np.float32)
    out = getattr(Tensor(x), name)().numpy()
    expected = theirs(name, torch.tensor(x, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(out, expected, rtol=4e-6, atol=2e-7)


@pytest.mark.parametrize("name", POSITIVE)
def test_functions_of_positive_numbers_are_close_to_torch(name: str) -> None:
    x = np.array([1e-30, 1e-3, 0.5, 1.0, 1.0001, 2.0, 10.0, 1e10, np.inf, 0.0, -1.0], np.float32)
    out = getattr(Tensor(x), name)().numpy()
    np.testing.assert_allclose(out, theirs(name, torch.tensor(x)).numpy(), rtol=2e-6, atol=1e-7)


def test_cosine_of_large_angles_keeps_its_digits() -> None:
    x = np.array([1e3, 1e4, -31415.0], np.float32)
    np.testing.assert_allclose(Tensor(x).cos().numpy(), np.cos(x.astype(np.float64)), rtol=2e-7)


def test_the_gradient_of_a_sine_of_large_angles_keeps_its_digits() -> None:
    x = np.array([1e4, 1e7, 3e30, 355.0 / 2], np.float32)
    t = Tensor(x)
    (gradient,) = t.sin().sum().gradient(t)
    np.testing.assert_allclose(gradient.numpy(), np.cos(x.astype(np.float64)), rtol=2e-7)


@pytest.mark.parametrize(("dtype", "ends"), [(np.float32, (-87, 88.7)), (np.float64, (-708, 709.7))])
def test_exponentials_keep_their_digits_over_their_whole_range(
    dtype: type, ends: tuple[float, float]
) -> None:
    x = np.linspace(*ends, 2001).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    error = np.abs(Tensor(x).exp().numpy() - exact) / np.spacing(exact.astype(dtype))
    assert error.max() <= 1


@pytest.mark.parametrize("name", [*SMOOTH, *POSITIVE])
def test_integers_become_the_default_float(name: str) -> None:
    out = getattr(Tensor([1, 2]), name)()
    assert out.dtype is dtypes.float32
    np.testing.assert_allclose(out.numpy(), theirs(name, torch.tensor([1.0, 2.0])).numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "sqrt", "floor", "abs"])
def test_other_floats_keep_their_dtype(name: str, dtype: str) -> None:
    out = getattr(Tensor([0.5, 1.25], dtype=dtype), name)()
    expected = theirs(name, torch.tensor([0.5, 1.25], dtype=getattr(torch, dtype)))
    assert out.dtype.name == dtype
    np.testing.assert_allclose(out.numpy(), expected.float().numpy(), rtol={"float64": 1e-6}.get(dtype, 1e-2))


@pytest.mark.parametrize(
    "name", ["floor", "ceil", "round", "trunc", "abs", "sign", "isnan", "isinf", "isfinite"]
)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
def test_integers_round_to_themselves(name: str, dtype: str) -> None:
    values = np.array([0, 1] if dtype == "bool" else [0, 1, 100], dtype)
    out = getattr(Tensor(values), name)().numpy()
    expected = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.get(name)
    np.testing.assert_array_equal(
        out, expected(values) if expected else values != 0 if name == "sign" else values
    )


def test_the_absolute_value_of_the_lowest_integer_wraps() -> None:
    assert Tensor([-128, -5], dtype="int8").abs().tolist() == [-128, 5]
    assert abs(Tensor([-3])).tolist() == [3]


def test_the_negative_of_bools_is_refused() -> None:
    with pytest.raises(DtypeError, match="bools have no negative"):
        _ = -Tensor([True])


def test_the_same_sign_gives_an_equal_value() -> None:
    assert (+Tensor([1, -2])).tolist() == [1, -2]


def test_rounding_to_more_decimals_than_there_are_changes_nothing() -> None:
    values = [1.5, 3e38, -1e-30, 0.1]
    assert Tensor(values).round(38).tolist() == Tensor(values).tolist()


def test_rounding_has_no_slope() -> None:
    x = Tensor([1.26, 2e9])
    assert x.round(1).sum().gradient(x)[0].tolist() == [0.0, 0.0]


def test_what_is_infinite_may_be_asked_for_by_sign() -> None:
    x = Tensor([1.0, float("inf"), float("-inf")])
    assert x.isinf().tolist() == [False, True, True]
    assert x.isinf(detect_negative=False).tolist() == [False, True, False]
    assert x.isinf(detect_positive=False).tolist() == [False, False, True]


@pytest.mark.parametrize("dtype", ["fp8e4m3", "fp8e4m3fnuz", "fp8e5m2fnuz"])
def test_the_largest_number_of_a_dtype_without_infinities_is_finite(dtype: str) -> None:
    largest = Tensor([1e9 if dtype == "fp8e4m3" else 240.0, -240.0, float("nan")]).cast(dtype)
    assert largest.isinf().tolist() == [False, False, False]
    assert largest.isfinite().tolist() == [True, True, False]
    assert largest.nan_to_num(1.0, 2.0, 3.0).tolist() == [*largest.tolist()[:2], 1.0]
