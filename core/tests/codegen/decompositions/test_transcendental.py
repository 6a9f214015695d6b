"""Tests of plugrad.codegen.decompositions.transcendental: accuracy and special cases.

float32 is compared with NumPy's float64, float64 with mpmath; every graph is simplified too, as in the
pipeline, since that must not undo what the order of operations was chosen for.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from plugrad.builtin.arithmetic import from_storage, round_to_bfloat16
from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise, elementwise_kernel

Array = np.ndarray
Build = Callable[..., UOp]

EXP: Build = lambda x: x.exp()  # noqa: E731 - names for the same two things each
EXP2: Build = lambda x: x.exp2()  # noqa: E731
LOG2: Build = lambda x: x.log2()  # noqa: E731
SIN: Build = lambda x: x.sin()  # noqa: E731
COS: Build = lambda x: x.cos()  # noqa: E731
FUNCTIONS = {
    "exp": (EXP, np.exp),
    "exp2": (EXP2, np.exp2),
    "log2": (LOG2, np.log2),
    "sin": (SIN, np.sin),
    "cos": (COS, np.cos),
}
# greatest distance from the exact value, in units of the last place of the exact value
ULPS = {"exp": 1.0, "exp2": 1.2, "log2": 1.5, "sin": 1.6, "cos": 1.6, "pow": 1.25}


def _lower(sink: UOp) -> UOp:
    return simplify(decompose(sink, CAPABILITIES))


def _lower_vectors(sink: UOp) -> UOp:
    return simplify(decompose(sink, replace(CAPABILITIES, vector_bits=256)))


LOWERINGS = {"sin": (_lower, _lower_vectors), "cos": (_lower, _lower_vectors)}


def _ulp32(exact: Array) -> Array:
    exponent = np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-126)))
    return np.exp2(exponent - 23)


def _worst_float32(got: Array, exact: Array) -> float:
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    apart = ~((got == rounded) | np.isnan(exact))
    return float(np.max(np.abs(got[apart] - exact[apart]) / _ulp32(exact[apart]), initial=0.0))


def _worst_float64(got: Array, exact: list[mpf]) -> float:
    worst = mpf(0)
    for value, right in zip(got, exact, strict=True):
        exponent = max(mp.frexp(right)[1] - 1, -1022) if right else -1022
        worst = max(worst, abs(mpf(float(value)) - right) / mpf(2) ** (exponent - 52))
    return float(worst)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_within_its_ulps_over_all_bit_patterns(name: str) -> None:
    build, reference = FUNCTIONS[name]
    x = np.arange(5, 2**32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    for lower in LOWERINGS.get(name, (_lower,)):
        assert _worst_float32(compute_elementwise(build, x, lower=lower), exact) <= ULPS[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_within_its_ulps_where_it_is_used_most(name: str) -> None:
    build, reference = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    ranges = ((-20, 20), (-104, 89), (0.4, 1.6))
    usual = (*(rng.uniform(*ends, 100_000) for ends in ranges), 1 + rng.normal(size=20_000) / 1e4)
    x = np.concatenate(usual).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    assert _worst_float32(compute_elementwise(build, x, lower=_lower), exact) <= ULPS[name]


def _float64_samples(name: str) -> Array:
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.integers(-308, 308, 800)
    angles = (
        rng.uniform(-10, 10, 1000),
        rng.normal(size=800) * scales,
        np.round(rng.uniform(1, 1e15, 400)) * np.pi / 2,
    )
    samples = {
        "exp": (rng.uniform(-1, 1, 1000), rng.uniform(-745, 709.7, 1000), rng.normal(size=200) * 1e-9),
        "exp2": (rng.uniform(-1, 1, 1000), rng.uniform(-1074, 1023.9, 1000), rng.normal(size=200) * 1e-9),
        "log2": (rng.uniform(0.5, 2, 1000), 1 + rng.normal(size=400) * 1e-5, rng.uniform(0, 1, 800) * scales),
        "sin": angles,
        "cos": angles,
    }
    return np.concatenate(samples[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_is_within_its_ulps(name: str) -> None:
    build = FUNCTIONS[name][0]
    x = _float64_samples(name)
    with mp.workprec(1300):
        functions = {"exp2": lambda v: mpf(2) ** v, "log2": lambda v: mp.log(v, 2)}
        exact = [functions.get(name, getattr(mp, name, None))(mpf(float(v))) for v in x]
        assert _worst_float64(compute_elementwise(build, x, lower=_lower), exact) <= ULPS[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_float16_are_rounded_from_float32(name: str) -> None:
    build, reference = FUNCTIONS[name]
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        nearest = exact.astype(np.float16)
    got = compute_elementwise(build, x, lower=_lower)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    differs = (got != nearest) & ~np.isnan(exact)
    # a float32 that is an ULP off lies on the other side of a tie now and then
    assert differs.mean() < 1e-3
    assert np.all(np.abs(got[differs].view(np.int16) - nearest[differs].view(np.int16)) <= 1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_bfloat16_are_rounded_from_float32(name: str) -> None:
    build, reference = FUNCTIONS[name]
    bits = np.arange(65536, dtype=np.uint16)
    with np.errstate(all="ignore"):
        exact = reference(from_storage(bits, dtypes.bfloat16).astype(np.float64))
        nearest = round_to_bfloat16(exact)
    stored = compute_elementwise(build, bits, types=[dtypes.bfloat16], lower=_lower)
    got = from_storage(stored, dtypes.bfloat16)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    assert ((got != nearest) & ~np.isnan(exact)).mean() < 1e-3


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_exp2_of_special_values_is_exact(dtype: type) -> None:
    inf, nan = math.inf, math.nan
    x = np.array([0.0, -0.0, 1, -1, 10, -14, inf, -inf, nan, 65000, -65000], dtype)
    got = compute_elementwise(EXP2, x, lower=_lower)
    assert np.array_equal(got, [1, 1, 2, 0.5, 1024, 2.0**-14, inf, 0, nan, inf, 0], equal_nan=True)


@pytest.mark.parametrize(("dtype", "lowest", "highest"), [(np.float32, -149, 127), (np.float64, -1074, 1023)])
def test_exp2_of_every_integer_is_exact(dtype: type, lowest: int, highest: int) -> None:
    n = np.arange(lowest, highest + 1)
    assert np.array_equal(compute_elementwise(EXP2, n.astype(dtype), lower=_lower), np.ldexp(dtype(1), n))


def test_exp2_overflows_and_vanishes_where_rounding_says_so() -> None:
    x = np.array([128, np.nextafter(np.float32(128), np.float32(0)), -150, -149.9, -151], np.float32)
    got = compute_elementwise(EXP2, x, lower=_lower)
    assert got[[0, 2, 3, 4]].tolist() == [math.inf, 0, 2.0**-149, 0]
    assert math.isfinite(got[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_exp_of_special_values_is_exact(dtype: type) -> None:
    inf, nan = math.inf, math.nan
    largest = float(np.finfo(dtype).max)
    x = np.array([0.0, -0.0, inf, -inf, nan, largest, -largest], dtype)
    got = compute_elementwise(EXP, x, lower=_lower)
    assert np.array_equal(got, [1, 1, inf, 0, nan, inf, 0], equal_nan=True)


def test_exp_overflows_and_vanishes_where_rounding_says_so() -> None:
    overflow = np.float32(88.722839)  # the first number whose exponential is not finite
    x = np.array([overflow, np.nextafter(overflow, np.float32(0)), -103.9, -104.1], np.float32)
    got = compute_elementwise(EXP, x, lower=_lower)
    assert got[[0, 2, 3]].tolist() == [math.inf, 2.0**-149, 0]
    assert math.isfinite(got[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_cos_of_special_values(dtype: type) -> None:
    smallest = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, smallest, -smallest, math.inf, -math.inf, math.nan], dtype)
    got = compute_elementwise(COS, x, lower=_lower)
    assert np.array_equal(got, [1, 1, 1, 1, math.nan, math.nan, math.nan], equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_log2_of_special_values_is_exact(dtype: type) -> None:
    smallest = float(np.finfo(dtype).smallest_subnormal)
    nan, inf = math.nan, math.inf
    x = np.array([0.0, -0.0, 1, 2, 0.5, inf, -inf, nan, -1, -smallest, smallest], dtype)
    got = compute_elementwise(LOG2, x, lower=_lower)
    exact = [-inf, -inf, 0, 1, -1, inf, nan, nan, nan, nan, math.log2(smallest)]
    assert np.array_equal(got, exact, equal_nan=True)


@pytest.mark.parametrize(("dtype", "lowest", "highest"), [(np.float32, -149, 127), (np.float64, -1074, 1023)])
def test_log2_of_every_power_of_two_is_exact(dtype: type, lowest: int, highest: int) -> None:
    n = np.arange(lowest, highest + 1)
    assert np.array_equal(compute_elementwise(LOG2, np.ldexp(dtype(1), n), lower=_lower), n)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sin_of_special_values(dtype: type) -> None:
    smallest = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, smallest, -smallest, math.inf, -math.inf, math.nan], dtype)
    for lower in LOWERINGS["sin"]:
        got = compute_elementwise(SIN, x, lower=lower)
        assert np.array_equal(got, [0, 0, smallest, -smallest, math.nan, math.nan, math.nan], equal_nan=True)
        assert np.signbit(got).tolist()[:4] == [False, True, False, True]


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("x", [16367173 * 2.0**72, 3.4028235e38, math.pi, math.pi / 2, 11.0, 355.0])
def test_angles_beside_quarter_turns_keep_their_digits(name: str, x: float) -> None:
    # Source of the first, the closest of all: J.-M. Muller, "Elementary Functions", table 11.1
    with mp.workprec(400):
        exact = float(getattr(mp, name)(mpf(float(np.float32(x)))))
    for lower in LOWERINGS[name]:
        got = compute_elementwise(FUNCTIONS[name][0], np.array([x], np.float32), lower=lower)
        assert _worst_float32(got, np.array([exact])) <= ULPS[name]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_double_closest_to_a_multiple_of_pi_over_two_keeps_its_digits(name: str) -> None:
    # Source: J.-M. Muller, "Elementary Functions", table 11.1: within 2**-60.9 of one
    x = np.array([6381956970095103 * 2.0**797, 5.319372648326541e255, 1e308])
    with mp.workprec(1300):
        exact = [getattr(mp, name)(mpf(float(v))) for v in x]
        got = compute_elementwise(FUNCTIONS[name][0], x, lower=_lower)
        assert _worst_float64(got, exact) <= ULPS[name]


def test_sine_and_cosine_of_one_angle_share_its_reduction() -> None:
    both, _ = elementwise_kernel(lambda x: x.sin() + x.cos(), [dtypes.float32], 16)
    one, _ = elementwise_kernel(SIN, [dtypes.float32], 16)
    assert len(_lower(both).toposort()) - len(_lower(one).toposort()) < 16


def _powers(dtype: type, greatest: float, count: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    bases = (
        rng.uniform(0, 10, count),
        1 + rng.normal(size=count) / 1000,
        np.exp2(rng.uniform(-100, 100, count)),
    )
    x = np.concatenate(bases).astype(dtype)
    with np.errstate(divide="ignore"):
        y = rng.uniform(-1, 1, 3 * count) * greatest / np.maximum(np.abs(np.log2(x.astype(np.float64))), 1e-5)
    return x, y.astype(dtype)


def test_float32_powers_are_within_their_ulps() -> None:
    x, y = _powers(np.float32, 126, 20_000)
    exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert _worst_float32(compute_elementwise(lambda a, b: a**b, x, y, lower=_lower), exact) <= ULPS["pow"]


def test_float64_powers_are_within_their_ulps() -> None:
    x, y = _powers(np.float64, 1000, 600)
    with mp.workprec(300):
        exact = [mp.power(mpf(float(a)), mpf(float(b))) for a, b in zip(x, y, strict=True)]
        got = compute_elementwise(lambda a, b: a**b, x, y, lower=_lower)
        assert _worst_float64(got, exact) <= ULPS["pow"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_powers_of_special_values_are_those_of_ieee_754(dtype: type) -> None:
    below, above = np.nextafter(dtype(1), dtype(0)), np.nextafter(dtype(1), dtype(2))
    edges = [0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1024.0, 30001.0, math.inf]
    values = np.array([*edges, *(-e for e in edges), math.nan, below, above, -below, 6e-8, -6e-8], dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    got = compute_elementwise(lambda a, b: a**b, x, y, lower=_lower)
    plain = ~np.isin(exact, [0, math.inf, -math.inf])
    assert np.array_equal(got[~plain], exact[~plain])
    assert np.array_equal(np.signbit(got[~plain]), np.signbit(exact[~plain]))
    rounding = np.finfo(dtype).eps
    assert np.allclose(got[plain], exact[plain], rtol=2 * rounding, atol=0, equal_nan=True)


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0])
def test_small_constant_exponents_take_products_with_the_same_special_cases(exponent: float) -> None:
    x = np.array([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan], np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x, np.float32(exponent))
    got = compute_elementwise(lambda a: a**exponent, x, lower=_lower)
    assert np.allclose(got, exact, rtol=2e-7, atol=0, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(exact))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_give_what_scalars_give(name: str, dtype: type) -> None:
    build = FUNCTIONS[name][0]
    x = np.linspace(-3, 700, 64, dtype=dtype)
    assert np.array_equal(
        compute_elementwise(build, x, lower=_lower),
        compute_elementwise(build, x, lanes=8, lower=_lower),
        equal_nan=True,
    )


@pytest.mark.parametrize(
    ("name", "most"), [("exp", 34), ("exp2", 32), ("log2", 44), ("sin", 110), ("cos", 110)]
)
def test_float32_functions_stay_cheap(name: str, most: int) -> None:
    sink, _ = elementwise_kernel(FUNCTIONS[name][0], [dtypes.float32], 16)
    free = {Ops.CONST, Ops.BITCAST, Ops.PARAM, Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.SPECIAL, Ops.SINK}
    steps = [u for u in _lower(sink).toposort() if u.op not in free]
    assert len(steps) <= most


def test_what_is_native_stays() -> None:
    sink, _ = elementwise_kernel(EXP2, [dtypes.float32], 16)
    native = replace(CAPABILITIES, native_ops=CAPABILITIES.native_ops | {"EXP2"})
    assert decompose(sink, native) is sink


@pytest.mark.parametrize("has_fused", [True, False])
def test_polynomials_round_each_step_once_where_the_target_can(has_fused: bool) -> None:
    native = CAPABILITIES.native_ops - {"EXP", "MULACC"} | ({"MULACC"} if has_fused else set())
    x = UOp(Ops.PARAM, dtypes.float32, (), (0, 1)).index(UOp.const(dtypes.index, 0)).load()
    made = decompose(UOp.sink(x.alu(Ops.EXP)), replace(CAPABILITIES, native_ops=native))
    assert any(u.op is Ops.MULACC for u in made.toposort()) is has_fused
