"""Tests of plugrad.codegen.decompositions.remainder: every result is exact, so it is compared bit for bit."""

import itertools
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plugrad.builtin.arithmetic import from_storage, to_storage
from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise, elementwise_kernel

Array = np.ndarray[Any, Any]
WITHOUT = replace(CAPABILITIES, native_ops=CAPABILITIES.native_ops - {"FMOD"})
FLOATS = [np.float16, np.float32, np.float64]
DIGITS = {np.float32: 24, np.float64: 53}


def _lower(sink: UOp) -> UOp:
    lowered = simplify(decompose(sink, WITHOUT))
    assert all(u.op is not Ops.FMOD for u in lowered.toposort())
    return lowered


def _fmod(x: Array, y: Array, types: list[DType] | None = None) -> Array:
    return compute_elementwise(lambda a, b: a.fmod(b), x, y, types=types, lower=_lower)


def _assert_same(x: Array, y: Array) -> None:
    with np.errstate(all="ignore"):
        exact = np.fmod(x, y)
    got = _fmod(x, y)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    known = ~np.isnan(exact)
    bits = f"u{x.dtype.itemsize}"
    np.testing.assert_array_equal(got[known].view(bits), exact[known].view(bits))


def _any_bits(dtype: type, count: int, seed: int) -> Array:
    width = np.dtype(dtype).itemsize
    return np.random.default_rng(seed).integers(0, 256, count * width, dtype=np.uint8).view(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_of_any_two_numbers_are_exact(dtype: type) -> None:
    _assert_same(_any_bits(dtype, 50_000, 0), _any_bits(dtype, 50_000, 1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_of_ordinary_quotients_are_exact(dtype: type) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-100, 100, 20_000), rng.uniform(-10, 10, 20_000)
    _assert_same(x.astype(dtype), y.astype(dtype))
    _assert_same(np.round(x).astype(dtype), np.round(y).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_those_of_c(dtype: type) -> None:
    limits = np.finfo(dtype)
    sizes = [0, 1, 3, 0.3, limits.max, limits.max / 3, limits.tiny, limits.smallest_subnormal, math.inf]
    values = np.array([s * sign for s in [*sizes, 5 * limits.smallest_subnormal] for sign in (1, -1)], dtype)
    values = np.append(values, dtype(math.nan))
    x, y = (np.array(side) for side in zip(*itertools.product(values, values), strict=True))
    _assert_same(x, y)


@pytest.mark.parametrize("dtype", DIGITS)
def test_remainders_at_the_ends_of_their_interval_are_exact(dtype: type) -> None:
    """Dividends are made for remainders beside 0 and the divisor, where a quotient off by one would show."""
    source, digits = random.Random(0), DIGITS[dtype]
    reach = 200 if dtype is np.float32 else 1900
    pairs: list[tuple[float, float]] = []
    for _ in range(20_000):
        n = source.choice((source.randrange(2 ** (digits - 1) + 1, 2**digits, 2), 2**digits - 1))
        distance, rest = source.randrange(reach), source.choice((1, 2, n // 2, n - 2, n - 1))
        m = rest * pow(2, -distance, n) % n
        pairs.append((math.ldexp(m, distance - reach // 2), math.ldexp(n, -(reach // 2))))
    x, y = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    _assert_same(x, y)


def test_all_bfloat16_by_some_are_exact() -> None:
    x = np.arange(65536, dtype=np.uint16)
    for divisor in (1.0, 0.0999755859375, -7.0, 2.0**-133, 3.3e38):
        y = np.full_like(x, to_storage(np.array([divisor], np.float32), dtypes.bfloat16)[0])
        with np.errstate(invalid="ignore"):
            a, b = (from_storage(v, dtypes.bfloat16) for v in (x, y))
            exact = to_storage(np.fmod(a, b), dtypes.bfloat16)
        got = _fmod(x, y, [dtypes.bfloat16, dtypes.bfloat16])
        values = (from_storage(got, dtypes.bfloat16), from_storage(exact, dtypes.bfloat16))
        assert np.array_equal(*values, equal_nan=True)


@pytest.mark.parametrize("dtype", DIGITS)
def test_vectors_give_what_scalars_give(dtype: type) -> None:
    x, y = np.geomspace(1e-30, 1e30, 64, dtype=dtype), np.linspace(0.1, 9, 64, dtype=dtype)
    vector = compute_elementwise(lambda a, b: a.fmod(b), x, y, lanes=8, lower=_lower)
    assert np.array_equal(vector, _fmod(x, y))


@pytest.mark.parametrize(("dtype", "most"), [(dtypes.float32, 120), (dtypes.float64, 150)])
def test_remainders_stay_cheap(dtype: DType, most: int) -> None:
    sink, _ = elementwise_kernel(lambda a, b: a.fmod(b), [dtype, dtype], 16)
    free = {Ops.CONST, Ops.BITCAST, Ops.PARAM, Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.SPECIAL, Ops.SINK}
    assert len([u for u in _lower(sink).toposort() if u.op not in free]) <= most


def test_where_it_is_native_it_stays() -> None:
    sink, _ = elementwise_kernel(lambda a, b: a.fmod(b), [dtypes.float32, dtypes.float32], 16)
    assert decompose(sink, CAPABILITIES) is sink
