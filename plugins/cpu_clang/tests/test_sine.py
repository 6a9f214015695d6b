"""Tests of plugrad_cpu_clang.sine: distances from exact values, in units of their last place."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from plugrad.dtype import dtypes, to_numpy
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.renderer import cpu_capabilities

pytestmark = pytest.mark.skipif(
    "SIN" not in cpu_capabilities(this_machine()).native_ops, reason="this processor has no fused operations"
)
FLOATS = [dtypes.float32, dtypes.float64]
LANES = [1, 2, 8, 16]
LIMITS = {dtypes.float32: 2.0**18, dtypes.float64: 2.0**30}
OPS = [Ops.SIN, Ops.COS]


def _computed(w, launch, op, dtype, count, x):
    numel = len(x)
    out, a = (w.param(slot, dtype, numel) for slot in range(2))
    i = w.range(numel // count, 0)
    at = w.alu(Ops.MUL, i, count)
    w.store(out, at, w.alu(op, w.load(a, at, count)))
    w.end(i)
    got = np.empty(numel, to_numpy(dtype))
    launch(w, got, x)
    return got


def _assert_near(got, x, op, dtype):
    digits, least = np.finfo(to_numpy(dtype)).nmant, int(np.finfo(to_numpy(dtype)).minexp)
    with mp.workprec(1300):
        for value, angle in zip(got, x, strict=True):
            exact = (mp.sin if op is Ops.SIN else mp.cos)(mpf(float(angle)))
            exponent = max(mp.frexp(exact)[1] - 1, least) if exact else least
            assert abs(mpf(float(value)) - exact) <= 1.6 * mpf(2) ** (exponent - digits), angle


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", OPS)
def test_angles_are_right_to_their_last_digits(w, launch, op, dtype, count):
    rng, kind, limit = np.random.default_rng(0), to_numpy(dtype), LIMITS[dtype]
    turns = np.round(rng.uniform(1, limit / 2, 256)) * math.pi / 2
    x = np.concatenate([rng.uniform(-8, 8, 256), turns, np.exp2(rng.uniform(-40, 60, 256))]).astype(kind)
    # few vectors are to have one of those beyond the limit
    _assert_near(_computed(w, launch, op, dtype, count, np.sort(x)), np.sort(x), op, dtype)


@pytest.mark.parametrize("op", OPS)
def test_all_magnitudes_of_float32_are_within_their_ulps(w, launch, op):
    x = np.arange(5, 2**32, 9973, dtype=np.uint64)[: 430_000 // 8 * 8].astype(np.uint32).view(np.float32)
    got = _computed(w, launch, op, dtypes.float32, 8, x)
    with np.errstate(all="ignore"):
        exact = (np.sin if op is Ops.SIN else np.cos)(x.astype(np.float64))
        ulp = np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-126))) - 23)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    known = ~np.isnan(exact)
    assert np.max(np.abs(got[known] - exact[known]) / ulp[known]) <= 1.6


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_those_of_c(w, launch, dtype, count):
    limits = np.finfo(to_numpy(dtype))
    sizes = [0.0, limits.smallest_subnormal, limits.tiny, math.inf]
    x = np.array([*sizes, *(-s for s in sizes), math.nan, *[0.0] * 7], to_numpy(dtype))
    sine = _computed(w, launch, Ops.SIN, dtype, count, x)
    exact = np.where(np.isinf(x), math.nan, x)
    np.testing.assert_array_equal(sine, exact)
    known = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(sine[known]), np.signbit(x[known]))
