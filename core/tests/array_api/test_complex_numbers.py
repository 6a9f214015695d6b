"""Functions of complex numbers beside NumPy's: special values, large and small ones, branch cuts."""

import math
from typing import Any

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad.dtype import dtypes, is_complex
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor

FUNCTIONS = "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 sin sinh sqrt tan tanh"
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -1.5]
COMPLEX = {"float32": "complex64", "float64": "complex128"}


def grid(values: list[float], dtype: str) -> Any:
    real, imag = (part.ravel() for part in np.meshgrid(np.array(values, dtype), np.array(values, dtype)))
    out = np.empty(real.shape, COMPLEX[dtype])
    out.real, out.imag = real, imag
    return out


def sign_of(part: Any, other: Any, z: Any) -> Any:
    """Return the signs that are said: not those of NaN, beside it, or where no part is finite."""
    is_said = ~(np.isnan(part) | np.isnan(other) | ~(np.isfinite(z.real) | np.isfinite(z.imag)))
    return np.where(is_said, np.signbit(part), False)


def compare(ours: Any, theirs: Any, z: Any, rtol: float) -> None:
    theirs = theirs.astype(ours.dtype)
    for mine, other, wanted, beside in (
        (ours.real, ours.imag, theirs.real, theirs.imag),
        (ours.imag, ours.real, theirs.imag, theirs.real),
    ):
        np.testing.assert_allclose(np.abs(mine), np.abs(wanted), rtol=rtol, atol=rtol / 10)
        np.testing.assert_array_equal(sign_of(mine, other, z), sign_of(wanted, beside, z))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS.split()) - {"expm1"}))
def test_special_values_are_those_of_the_standard(name: str, dtype: str) -> None:
    z = grid(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z.astype("complex128"))
    # one of both on the oracle, which compiles nothing
    ours = xp.asarray(z, device="PYTHON" if dtype == "float64" else None)
    compare(getattr(xp, name)(ours).numpy(), wanted, z, 1e-6 if dtype == "float32" else 1e-14)


# Source: Python array API standard 2024.12, "expm1", special cases; NumPy has NaN for more.
EXPM1 = [
    (0.0, 0.0, 0.0, 0.0),
    (-0.0, 0.0, 0.0, 0.0),
    (1.5, math.inf, math.nan, math.nan),
    (1.5, math.nan, math.nan, math.nan),
    (math.inf, 0.0, math.inf, 0.0),
    (-math.inf, 1.5, -1.0, 0.0),
    (math.inf, 1.5, math.inf, math.inf),
    (-math.inf, math.inf, -1.0, 0.0),
    (math.inf, math.inf, math.inf, math.nan),
    (-math.inf, math.nan, -1.0, 0.0),
    (math.inf, math.nan, math.inf, math.nan),
    (math.nan, 0.0, math.nan, 0.0),
    (math.nan, 1.5, math.nan, math.nan),
    (math.nan, math.nan, math.nan, math.nan),
]


def test_special_values_of_expm1_are_those_of_the_standard() -> None:
    for real, imag, wanted_real, wanted_imag in EXPM1:
        found = xp.expm1(xp.asarray([complex(real, imag)])).numpy()[0]
        np.testing.assert_array_equal([abs(found.real), found.imag], [abs(wanted_real), wanted_imag])
        assert math.isnan(wanted_real) or (found.real < 0) == (wanted_real < 0)


# numbers near 1, where logarithms and roots cancel, and along cuts
TRICKY = [1.0, -1.0, 1 + 2e-7, 1 - 1e-7, 0.6, 0.8, -0.8, 0.0, -0.0, 1e-3, -1e-10, 7.5, 3e-20, 4e18]


@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_single_precision_is_as_exact_as_double_precision_says(name: str) -> None:
    z = grid([x for x in TRICKY if abs(x) < 80 or name[:3] in ("log", "aco", "asi", "ata", "sqr")], "float32")
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z.astype("complex128"))
        # NumPy adds 1 and loses small numbers
        small = np.log1p(z.real.astype("float64") * (2 + z.real) + z.imag.astype("float64") ** 2) / 2
    if name == "log1p":
        wanted.real = np.where(np.abs(z) < 0.5, small, wanted.real)
    found = getattr(xp, name)(xp.asarray(z)).numpy()
    for mine, part in ((found.real, wanted.real), (found.imag, wanted.imag)):
        # sums leave errors of the size of the whole
        size = np.abs(wanted) if name in ("expm1", "log1p") else np.abs(part)
        is_finite = np.isfinite(part)
        np.testing.assert_array_equal(mine[~is_finite], part[~is_finite])
        far = np.abs(mine - np.where(is_finite, part, 0))[is_finite] > 1e-6 * size[is_finite] + 1e-38
        assert not z[is_finite][far].size


def test_nothing_overflows_or_vanishes_on_the_way() -> None:
    big, small = 3e38, 1e-38
    z = xp.asarray([complex(big, big / 2), complex(small, -small)])
    double = z.numpy().astype("complex128")
    for name in ("sqrt", "log", "asinh", "acosh", "atanh", "reciprocal", "sign"):
        found = getattr(xp, name)(z).numpy()
        np.testing.assert_allclose(found, getattr(np, name)(double), rtol=1e-6)
    np.testing.assert_allclose((z / z).numpy(), [1, 1], rtol=1e-6)
    np.testing.assert_allclose(
        xp.abs(xp.asarray([3e37 + 4e37j, 3e-37 + 4e-37j])).numpy(), [5e37, 5e-37], rtol=1e-6
    )
    # exp(89) is infinite in single precision, its product with a small cosine is not
    turned = xp.asarray([complex(89.0, math.pi / 2)])
    for name in ("exp", "sinh", "cosh"):
        found = getattr(xp, name)(turned).numpy()[0].real
        np.testing.assert_allclose(
            found, getattr(np, name)(turned.numpy().astype("complex128"))[0].real, rtol=1e-5
        )


def test_logarithms_near_the_unit_circle_lose_nothing() -> None:
    angles = np.linspace(0.1, 6.2, 50)
    z = (np.cos(angles) + 1j * np.sin(angles)).astype("complex64")
    exact = [math.log1p(math.fsum((float(x.real) ** 2, float(x.imag) ** 2, -1.0))) / 2 for x in z]
    np.testing.assert_allclose(xp.log(xp.asarray(z)).real.numpy(), exact, rtol=1e-5)


BINARY = ["add", "subtract", "multiply", "divide", "pow", "equal", "not_equal"]


@pytest.mark.parametrize("name", BINARY)
def test_operands_are_complex_real_or_numbers_on_either_side(name: str) -> None:
    z, t = np.array([1 + 2j, -0.5j, 3 + 0j], "complex64"), np.array([[1.0], [2.0]], "float32")
    given: list[tuple[Any, Any]] = [(z, xp.asarray(z)), (t, Tensor(t)), (2 - 1j, 2 - 1j), (3, 3), (0.5, 0.5)]
    for left, ours in given:
        for right, other in given:
            if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
                with pytest.raises(DtypeError, match="two numbers"):
                    getattr(xp, name)(ours, other)
                continue
            wanted = getattr(np, name)(left, right)
            found = getattr(xp, name)(ours, other)
            assert found.dtype.name == wanted.dtype.name
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_dtypes_meet_as_the_standard_says() -> None:
    single, double = xp.asarray([1j]), xp.asarray([1j], dtype=xp.complex128)
    real = Tensor([1.0], dtype="float64")
    assert (single + double).dtype is (single * real).dtype is (real - single).dtype is xp.complex128
    assert (single + 1j).dtype is xp.complex64
    assert xp.add(real, 1j).dtype is xp.multiply(real + 1j, real).dtype is xp.complex128
    assert (real + 1j).dtype is dtypes.complex128
    assert (Tensor([1], dtype="int8") * 1j).dtype is dtypes.complex64
    assert (Tensor([1.0], dtype="float16") / 1j).dtype is dtypes.complex64


def test_parts_alone_meet_real_numbers() -> None:
    z = xp.asarray([complex(math.inf, 1.0), complex(-0.0, -0.0)])
    assert (z * 2.0).tolist() == [complex(math.inf, 2.0), 0]
    assert str((z + 0.0).imag.tolist()) == "[1.0, -0.0]"
    assert xp.divide(z, Tensor([2.0])).tolist()[0] == complex(math.inf, 0.5)


def test_powers() -> None:
    z = xp.asarray([1 + 1j, -2.0, 0.0])
    assert (z**2).tolist() == [2j, 4, 0]
    assert (z**0).tolist() == [1, 1, 1]
    assert (z**5).tolist() == [-4 - 4j, -32, 0]
    np.testing.assert_allclose((z[:2] ** -3).numpy(), z.numpy()[:2] ** -3, rtol=1e-6)
    np.testing.assert_allclose((z ** (0.5 + 1j)).numpy(), z.numpy() ** (0.5 + 1j), rtol=1e-5)
    np.testing.assert_allclose((2**z).numpy(), 2 ** z.numpy(), rtol=1e-6)
    assert np.isnan(xp.pow(z, -1j).numpy()[2])
    assert xp.pow(z, xp.asarray(0j)).tolist() == [1, 1, 1]


def test_what_is_asked_of_numbers() -> None:
    z = grid([math.nan, math.inf, -1.5, 0.0, 2.5, 3.5], "float32")
    ours = xp.asarray(z)
    for name in (
        "isfinite",
        "isinf",
        "isnan",
        "real",
        "imag",
        "conj",
        "abs",
        "negative",
        "positive",
        "round",
    ):
        np.testing.assert_array_equal(getattr(xp, name)(ours).numpy(), getattr(np, name)(z))
    finite = z[np.isfinite(z)]
    for name in ("sign", "square"):
        np.testing.assert_allclose(
            getattr(xp, name)(xp.asarray(finite)).numpy(), getattr(np, name)(finite), rtol=1e-6
        )
    assert xp.imag(Tensor([1.5])).tolist() == [0.0]


def test_quotients_of_zeros_and_infinities() -> None:
    inf = math.inf
    assert xp.divide(xp.asarray([1 + 1j]), xp.asarray([complex(inf, 1)])).tolist() == [0]
    assert xp.abs(xp.asarray([1 + 1j]) / xp.asarray([0j])).tolist() == [inf]
    assert xp.abs(xp.asarray([complex(inf, 1)]) / xp.asarray([1 + 1j])).tolist() == [inf]
    assert np.isnan((xp.asarray([0j]) / xp.asarray([0j])).numpy()).all()


def test_where_takes_arrays_and_numbers_of_any_kind() -> None:
    condition = Tensor([True, False])
    assert xp.where(condition, xp.asarray([1j, 2j]), 3).tolist() == [1j, 3]
    assert xp.where(condition, Tensor([1.0, 2.0]), 1j).tolist() == [1, 1j]
    assert xp.where(condition, 1j, Tensor([1.0, 2.0], dtype="float64")).dtype is xp.complex128


# on either side of what formulas tell apart, on axes, and beyond what squares hold
SMOOTH = [
    0.3 + 0.4j,
    2 - 1j,
    -0.7 + 1.2j,
    -3 - 0.2j,
    0.2 - 2.5j,
    30 + 2j,
    0.5 + 0j,
    0.7j,
    1e-3 + 1e-3j,
    1 + 0.5j,
]


@pytest.mark.parametrize("name", [*FUNCTIONS.split(), "abs", "sign", "reciprocal", "square"])
def test_gradients_are_quotients_of_differences(name: str) -> None:
    points = np.array([z for z in SMOOTH if name != "acosh" or z.imag])
    x, y = (Tensor(part.copy(), requires_grad=True) for part in (points.real, points.imag))
    found = getattr(xp, name)(Tensor.complex(x, y))
    if is_complex(found.dtype):
        found = found.real + found.imag * 0.5
    step = 1e-6
    for part, along in zip(found.sum().gradient(x, y), (step, step * 1j), strict=True):
        later, before = (getattr(np, name)(points + side) for side in (along, -along))
        wanted = (later - before) / (2 * step)
        np.testing.assert_allclose(part.numpy(), wanted.real + 0.5 * np.imag(wanted), rtol=1e-4, atol=1e-6)


def test_gradients_flow_through_both_parts_of_one_tensor() -> None:
    x = Tensor([0.3], requires_grad=True)
    xp.real(xp.exp(Tensor.complex(x, x)) * (2 - 1j)).sum().backward()
    real, imag = math.exp(0.3) * math.cos(0.3), math.exp(0.3) * math.sin(0.3)
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.item(), (2 * real + imag) + (real - 2 * imag), rtol=1e-6)


def test_gradients_have_gradients() -> None:
    x = Tensor([2.0], requires_grad=True)
    first = xp.log(Tensor.complex(x, x.zeros_like())).real.gradient(x)[0]
    np.testing.assert_allclose([first.item(), first.gradient(x)[0].item()], [0.5, -0.25], rtol=1e-6)
