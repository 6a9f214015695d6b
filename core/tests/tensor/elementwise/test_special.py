import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import ArgumentError, DtypeError

SMALL = [0.0, -0.0, 1e-30, -1e-10, 1e-5, 1e-3, -1e-3]
EDGES = [math.inf, -math.inf, math.nan]
WIDE = np.concatenate([np.linspace(-9, 9, 301), SMALL, EDGES, [80, -80, 1e10, -1e20]])
UNIT = np.concatenate([np.linspace(-1, 1, 201), SMALL, EDGES, [1.5, -2]])
FROM_ONE = np.concatenate([np.linspace(1, 9, 201), EDGES, [1.0000001, 1e10, 1e30, 0.5]])
ABOVE_MINUS_ONE = np.concatenate([np.linspace(-0.99, 9, 201), SMALL, EDGES, [1e10, -1, -2]])

# where numbers are taken from, and the greatest error in units of the last place
CASES: dict[str, tuple[Any, int]] = {
    "expm1": (WIDE, 3),
    "log1p": (ABOVE_MINUS_ONE, 4),
    "sinh": (WIDE, 4),
    "cosh": (WIDE, 4),
    "asinh": (WIDE, 4),
    "acosh": (FROM_ONE, 4),
    "atanh": (UNIT, 4),
    "asin": (UNIT, 4),
    "acos": (UNIT, 4),
    "atan": (WIDE, 4),
    "erf": (WIDE, 2),
    "erfc": (WIDE, 10),
}


def errors_in_last_place(ours: Any, theirs: Any) -> Any:
    finite = np.isfinite(theirs) & (np.abs(theirs) < np.finfo(ours.dtype).max)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    np.testing.assert_array_equal(ours[~finite], theirs[~finite].astype(ours.dtype))
    unit = np.spacing(np.abs(theirs[finite]).astype(ours.dtype)).astype(np.float64)
    return np.abs(ours[finite].astype(np.float64) - theirs[finite]) / unit


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", CASES)
def test_functions_are_precise_to_the_last_places(name: str) -> None:
    values, limit = CASES[name]
    x = values.astype(np.float32)
    exact = np.arccosh if name == "acosh" else lambda v: getattr(torch, name)(torch.tensor(v)).numpy()
    with np.errstate(all="ignore"):
        assert (
            errors_in_last_place(getattr(Tensor(x), name)().numpy(), exact(x.astype(np.float64))).max()
            <= limit
        )
        # values of float64 go through 52 digits as well
        doubles = values[::7]
        found = errors_in_last_place(getattr(Tensor(doubles), name)().numpy(), exact(doubles))
        assert found.max() <= limit


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_torch(name: str) -> None:
    x = CASES[name][0].astype(np.float32)
    x = x[np.isfinite(x) & (np.abs(x) < 50)]
    t, u = Tensor(x), torch.tensor(x, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(getattr(torch, name)(u).sum(), u)
    (gradient,) = getattr(t, name)().sum().gradient(t)
    np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=5e-5, atol=1e-6)


def test_the_sign_of_zero_is_kept() -> None:
    for name in ("expm1", "log1p", "sinh", "asinh", "atanh", "asin", "atan", "erf"):
        assert np.signbit(getattr(Tensor([-0.0, 0.0]), name)().numpy()).tolist() == [True, False], name


@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign", "logaddexp"])
def test_functions_of_two_are_those_of_torch_at_every_edge(name: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 0.3, -7.5, *EDGES, 1e30, -3e38, 1e-40]
    a, b = (np.array(side, np.float32) for side in zip(*itertools.product(values, values), strict=True))
    ours = getattr(Tensor(a), name)(Tensor(b)).numpy()
    theirs = getattr(torch, name)(torch.tensor(a), torch.tensor(b)).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=2e-6)
    if name != "logaddexp":
        np.testing.assert_array_equal(
            np.signbit(ours)[~np.isnan(theirs)], np.signbit(theirs)[~np.isnan(theirs)]
        )


@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign", "logaddexp", "fmod"])
def test_gradients_of_functions_of_two_are_those_of_torch(name: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 30)).astype(np.float32)
    x, y, tx, ty = Tensor(a), Tensor(b), torch.tensor(a, requires_grad=True), torch.tensor(b)
    (expected,) = torch.autograd.grad(getattr(torch, name)(tx, ty).square().sum(), tx)
    (gradient,) = getattr(x, name)(y).square().sum().gradient(x)
    np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_fmod_is_that_of_numpy_at_every_edge_and_quotient() -> None:
    values = [0.0, -0.0, 1.0, -0.3, 7.5, *EDGES, 1e30, -3e38, 1e-40]
    a, b = (np.array(side, np.float32) for side in zip(*itertools.product(values, values), strict=True))
    ours = Tensor(a).fmod(Tensor(b)).numpy()
    with np.errstate(all="ignore"):
        exact = np.fmod(a, b)
    np.testing.assert_array_equal(ours, exact)
    np.testing.assert_array_equal(np.signbit(ours)[~np.isnan(exact)], np.signbit(exact)[~np.isnan(exact)])
    np.testing.assert_array_equal(Tensor([7.5, -7.5]).fmod(2).tolist(), [1.5, -1.5])


def test_the_gradient_of_fmod_reaches_the_divisor() -> None:
    x, y = Tensor([7.5, -7.5]), Tensor([2.0, 2.0])
    u, v = torch.tensor([7.5, -7.5]), torch.tensor([2.0, 2.0], requires_grad=True)
    (expected,) = torch.autograd.grad(torch.fmod(u, v).sum(), v)
    assert x.fmod(y).sum().gradient(y)[0].tolist() == expected.tolist()


def test_remainders_have_the_sign_that_c_and_python_give_them() -> None:
    a = np.array([7.5, -7.5, 7.5, -7.5, -0.0], np.float32)
    b = np.array([2.0, 2.0, -2.0, -2.0, 1.0], np.float32)
    np.testing.assert_array_equal(Tensor(a).fmod(Tensor(b)).numpy(), np.fmod(a, b))
    np.testing.assert_array_equal(Tensor(a).remainder(Tensor(b)).numpy(), np.remainder(a, b))
    assert Tensor([7, -7]).fmod(Tensor([-3, 3])).tolist() == [1, -1]
    lowest = Tensor([1, -128, 127], dtype=dtypes.int8)
    assert lowest.fmod(Tensor([-128, 3, -128], dtype=dtypes.int8)).tolist() == [1, -2, 127]
    assert Tensor([7], dtype="uint8").fmod(4).tolist() == [3]


def test_numbers_are_compared_with_tolerance() -> None:
    values = [0.0, 1.0, 1.00001, 1e-9, *EDGES]
    a, b = (np.array(side, np.float32) for side in zip(*itertools.product(values, values), strict=True))
    for equal_nan in (False, True):
        ours = Tensor(a).isclose(Tensor(b), equal_nan=equal_nan).numpy()
        theirs = torch.isclose(torch.tensor(a), torch.tensor(b), equal_nan=equal_nan).numpy()
        np.testing.assert_array_equal(ours, theirs)
    assert Tensor([1, 2]).allclose(Tensor([1, 2]))
    assert not Tensor([1.0, math.nan]).allclose(Tensor([1.0, math.nan]))
    assert Tensor([1.0, math.nan]).allclose(Tensor([1.0, math.nan]), equal_nan=True)


def test_what_is_no_number_is_replaced() -> None:
    x = Tensor([math.nan, math.inf, -math.inf, 2.0])
    np.testing.assert_array_equal(x.nan_to_num().numpy(), torch.tensor(x.tolist()).nan_to_num().numpy())
    assert x.nan_to_num(1.0, 5.0, -5.0).tolist() == [1.0, 5.0, -5.0, 2.0]
    assert x.half().nan_to_num().tolist() == [0.0, 65504.0, -65504.0, 2.0]
    assert x.cast("fp8e5m2").nan_to_num().tolist() == [0.0, 57344.0, -57344.0, 2.0]
    assert Tensor([1]).nan_to_num().tolist() == [1]


def test_lerp_goes_from_one_to_the_other() -> None:
    assert Tensor([0.0, 4.0]).lerp(Tensor([10.0, 8.0]), Tensor([0.5, 0.25])).tolist() == [5.0, 5.0]


def test_other_dtypes_are_taken() -> None:
    assert Tensor([0, 1]).atan().dtype is dtypes.float32
    half = Tensor([0.5], dtype="float16").erf()
    assert (half.dtype, half.item()) == (dtypes.float16, torch.tensor([0.5]).half().erf().item())
    assert Tensor([1]).atan2(Tensor([1])).dtype is dtypes.float32


def test_the_exact_gelu_is_that_of_torch() -> None:
    x = np.concatenate([np.linspace(-9, 9, 61), EDGES[:1]]).astype(np.float32)
    t, u = Tensor(x), torch.tensor(x, dtype=torch.float64, requires_grad=True)
    # torch itself computes 1 + erf, which cancels
    exact = u * 0.5 * torch.erfc(-u * math.sqrt(0.5))
    np.testing.assert_allclose(t.gelu("none").numpy(), exact.detach().numpy(), rtol=2e-5, atol=1e-30)
    (expected,) = torch.autograd.grad(exact[:-1].sum(), u)
    (gradient,) = t.gelu("none")[:-1].sum().gradient(t)
    np.testing.assert_allclose(gradient.numpy()[:-1], expected.numpy()[:-1], rtol=1e-4, atol=1e-6)
    with pytest.raises(ArgumentError, match="gelu: approximate='erf' is none of"):
        t.gelu("erf")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_are_flat_at_infinity_and_have_second_derivatives(name: str) -> None:
    x = np.array([-math.inf, -20, -1.5, -0.0, 0.0, 0.3, 4, 20, math.inf, math.nan])
    t, u = Tensor(x), torch.tensor(x, requires_grad=True)
    flow = [math.inf, *[1.0] * 7, math.inf, 1.0]
    (slope,) = getattr(t, name)().mul(Tensor(flow, dtype="float64")).sum().gradient(t)
    (expected,) = torch.autograd.grad(getattr(torch, name)(u).sum(), u, create_graph=True)
    (curve,) = slope[1:-2].sum().gradient(t)
    (bent,) = torch.autograd.grad(expected[1:-2].sum(), u)
    np.testing.assert_allclose(slope.numpy(), expected.detach().numpy(), rtol=1e-13)
    np.testing.assert_allclose(curve.numpy()[1:-2], bent.numpy()[1:-2], rtol=1e-13)


def test_gradients_of_error_functions_keep_their_digits_where_they_vanish() -> None:
    x = np.linspace(0, 9, 301).astype(np.float32)
    t, exact = Tensor(x), np.exp(-np.square(x.astype(np.float64))) * 2 / math.sqrt(math.pi)
    np.testing.assert_allclose(t.erf().sum().gradient(t)[0].numpy(), exact, rtol=1e-6)


POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0]


def _slopes(name: str, x: Any, y: Any, kind: Any) -> tuple[Any, Any]:
    """Return the gradients of a function of two operands, of tensors of `kind`."""
    a, b = kind(x, requires_grad=True), kind(y, requires_grad=True)
    getattr(a, name)(b).sum().backward()
    return np.array(a.grad.tolist()), np.array(b.grad.tolist())


@pytest.mark.parametrize("name", ["logaddexp", "remainder", "fmod", "atan2", "hypot"])
def test_gradients_at_edges_and_ties_are_those_of_torch(name: str) -> None:
    pairs = np.array([(x, y) for x in POINTS for y in POINTS if y or name not in ("remainder", "fmod")])
    if name == "hypot":  # of length 0, torch gives NaN
        pairs = pairs[pairs.any(1)]
    x, y = pairs.T.tolist()
    for got, want in zip(_slopes(name, x, y, Tensor), _slopes(name, x, y, torch.tensor), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def test_gradients_at_length_zero_are_zero() -> None:
    x = Tensor([0.0, -0.0], requires_grad=True)
    (x.hypot(0.0) + x.copysign(Tensor([-1.0, 1.0]))).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0]


def test_logaddexp_of_equal_operands_curves() -> None:
    x = Tensor([0.0, 3.0], requires_grad=True)
    (slope,) = x.logaddexp(Tensor([0.0, 3.0])).sum().gradient(x)
    (curve,) = slope.sum().gradient(x)
    np.testing.assert_allclose(curve.numpy(), [0.25, 0.25], rtol=1e-6)


def test_a_remainder_of_zero_keeps_the_sign_of_its_divisor() -> None:
    got = (Tensor([6.0, -6.0, 6.0, -6.0]) % Tensor([3.0, 3.0, -3.0, -3.0])).tolist()
    assert [math.copysign(1, x) for x in got] == [1, 1, -1, -1]


@pytest.mark.parametrize("weight", [1.0, 0.75, 0.25, 2.0, -1.0])
def test_lerp_starts_from_the_nearer_end(weight: float) -> None:
    x, end = np.array([1e30, 1.0, 3.0], np.float32), np.array([1.0, 1e30, 5.0], np.float32)
    want = torch.lerp(torch.tensor(x), torch.tensor(end), weight).numpy()
    for w in (weight, Tensor([weight] * 3)):
        np.testing.assert_allclose(Tensor(x).lerp(Tensor(end), w).numpy(), want, rtol=1e-6)


def test_a_flag_is_no_replacement_of_nan() -> None:
    with pytest.raises(DtypeError, match="nan_to_num: True is a flag"):
        Tensor([1.0]).nan_to_num(True, 3.0)


@pytest.mark.parametrize("name", ["atan2", "hypot", "logaddexp"])
def test_what_is_nan_has_derivatives_that_are_nan(name: str) -> None:
    x, y = Tensor([math.nan, 1.0, 1.0]), Tensor([1.0, math.nan, 2.0])
    values = getattr(x, name)(y)
    for slope in values.sum().gradient(x, y):
        assert np.isnan(slope.numpy()).tolist() == [True, True, False]
