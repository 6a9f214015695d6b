"""Tests of plugrad_cpu_clang.remainder: every result is exact, so it is compared bit for bit."""

import itertools
import math

import numpy as np
import pytest

from plugrad.dtype import dtypes, to_numpy
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.renderer import cpu_capabilities

pytestmark = pytest.mark.skipif(
    "FMOD" not in cpu_capabilities(this_machine()).native_ops, reason="this processor has no fused operations"
)
FLOATS = [dtypes.float32, dtypes.float64]
LANES = [1, 2, 8, 16]


def _assert_exact(w, launch, dtype, count, x, y):
    numel = len(x)
    out, a, b = (w.param(slot, dtype, numel) for slot in range(3))
    i = w.range(numel // count, 0)
    at = w.alu(Ops.MUL, i, count)
    w.store(out, at, w.alu(Ops.FMOD, w.load(a, at, count), w.load(b, at, count)))
    w.end(i)
    got = np.empty(numel, to_numpy(dtype))
    launch(w, got, x, y)
    with np.errstate(all="ignore"):
        exact = np.fmod(x, y)
    np.testing.assert_array_equal(got, exact)
    known, bits = ~np.isnan(exact), f"u{dtype.itemsize}"
    np.testing.assert_array_equal(got[known].view(bits), exact[known].view(bits))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_of_any_two_numbers_are_exact(w, launch, dtype, count):
    bits = np.random.default_rng(0).integers(0, 256, (2, 4096 * dtype.itemsize), dtype=np.uint8)
    _assert_exact(w, launch, dtype, count, *bits.view(to_numpy(dtype)))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_beside_multiples_are_exact(w, launch, dtype, count):
    rng, kind = np.random.default_rng(0), to_numpy(dtype)
    y = rng.uniform(1, 2, 4096).astype(kind)
    x = (y * np.round(np.exp2(rng.uniform(0, 27, 4096)))).astype(kind)
    x = np.nextafter(x, rng.choice([-math.inf, math.inf], 4096).astype(kind))
    _assert_exact(w, launch, dtype, count, x * rng.choice([-1, 1], 4096).astype(kind), y)


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_those_of_c(w, launch, dtype, count):
    limits = np.finfo(to_numpy(dtype))
    sizes = [0, 1, 3, 0.3, limits.max, limits.tiny, limits.smallest_subnormal, math.inf]
    values = np.array([*sizes, *(-s for s in sizes)], to_numpy(dtype))
    values[3] = math.nan
    x, y = (np.array(side) for side in zip(*itertools.product(values, values), strict=True))
    _assert_exact(w, launch, dtype, count, x, y)
