"""Kernels written by hand, run with each compiler, against NumPy."""

import math
import pickle
import re
from collections import Counter

import numpy as np
import pytest

from plugrad.dtype import STORABLE, dtypes, to_numpy, truncate
from plugrad.renderer.facts import half_bits
from plugrad.runtime.program import Program
from plugrad.uop.ops import AxisType, Ops
from plugrad_cpu_clang.machine import this_machine, vector_unit
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner

LANES = (1, 2, 16)
WITH_NUMPY = [d for d in STORABLE if d is not dtypes.bfloat16]
SPECIALS = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 1e30]
SPECIALS += [-2.5, 3.999, 0.5, -0.25, 7.0, 9e9, 1e-40, 2.0]
ARITHMETIC = [
    (Ops.ADD, np.add),
    (Ops.SUB, np.subtract),
    (Ops.MUL, np.multiply),
    (Ops.FDIV, np.divide),
    (Ops.MAX, np.maximum),
]


def _elementwise(w, out_dtype, in_dtypes, count, body, numel=64):
    """Write `out[i] = body(w, a[i], b[i], ...)` over `numel` elements, `count` at a time."""
    out = w.param(0, out_dtype, numel)
    ins = [w.param(1 + n, dtype, numel) for n, dtype in enumerate(in_dtypes)]
    i = w.range(numel // count, 0)
    at = w.alu(Ops.MUL, i, count)
    w.store(out, at, body(w, *(w.load(buffer, at, count) for buffer in ins)))
    w.end(i)


def _floats(dtype=np.float32, numel=64):
    return np.resize(np.array(SPECIALS, dtype=np.float64), numel).astype(dtype)


def _shuffled(a):
    return np.ascontiguousarray(np.roll(a[::-1], 5))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
@pytest.mark.parametrize(("op", "expected"), ARITHMETIC)
def test_float_arithmetic_is_numpys_with_infinities_and_nan(w, launch, op, expected, dtype, count):
    _elementwise(w, dtype, [dtype, dtype], count, lambda w, a, b: w.alu(op, a, b))
    a = _floats(to_numpy(dtype))
    b = _shuffled(a)
    out = np.empty_like(a)
    launch(w, out, a, b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, expected(a, b))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize(
    ("op", "expected"),
    [(Ops.NEG, np.negative), (Ops.SQRT, np.sqrt), (Ops.TRUNC, np.trunc), (Ops.RECIP, np.reciprocal)],
)
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_unary_functions_are_numpys(w, launch, op, expected, dtype, count):
    _elementwise(w, dtype, [dtype], count, lambda w, a: w.alu(op, a))
    a = _floats(to_numpy(dtype))
    out = np.empty_like(a)
    launch(w, out, a)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, expected(a))
        np.testing.assert_array_equal(np.signbit(out[a == 0]), np.signbit(expected(a)[a == 0]))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("constant_first", [False, True])
def test_max_with_a_constant_keeps_nan(w, launch, count, constant_first):
    def body(w, a):
        zero = w.const(a.dtype, 0.0)
        return w.alu(Ops.MAX, zero, a) if constant_first else w.alu(Ops.MAX, a, zero)

    _elementwise(w, dtypes.float32, [dtypes.float32], count, body)
    a = _floats()
    out = np.empty_like(a)
    launch(w, out, a)
    np.testing.assert_array_equal(out, np.maximum(a, 0))


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_mulacc_rounds_at_most_twice(w, launch, dtype, count):
    _elementwise(w, dtype, [dtype] * 3, count, lambda w, a, b, c: w.alu(Ops.MULACC, a, b, c))
    rng = np.random.default_rng(3)
    a, b, c = (rng.normal(size=64).astype(to_numpy(dtype)) for _ in range(3))
    out = np.empty_like(a)
    launch(w, out, a, b, c)
    np.testing.assert_allclose(out, a.astype(np.longdouble) * b + c, rtol=0, atol=4 * np.finfo(a.dtype).eps)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("dtype", [d for d in STORABLE if d.kind in ("int", "uint")])
def test_a_number_divided_by_itself_is_one(w, launch, dtype, count):
    _elementwise(w, dtype, [dtype], count, lambda w, a: w.alu(Ops.CDIV, a, a))
    a = np.arange(1, 65).astype(to_numpy(dtype))
    out = np.empty_like(a)
    launch(w, out, a)
    np.testing.assert_array_equal(out, np.ones_like(a))


def test_mul_and_add_are_not_contracted(w, launch):
    f32 = dtypes.float32
    _elementwise(w, f32, [f32] * 3, 16, lambda w, a, b, c: w.alu(Ops.ADD, w.alu(Ops.MUL, a, b), c))
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=64).astype(np.float32) for _ in range(3))
    out = np.empty_like(a)
    launch(w, out, a, b, c)
    np.testing.assert_array_equal(out, a * b + c)


INTS = [d for d in STORABLE if d.kind in ("int", "uint")]


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic_wraps(w, launch, dtype, count):
    def body(w, a, b):
        total = w.alu(Ops.ADD, w.alu(Ops.MUL, a, b), w.alu(Ops.SUB, a, b))
        # halved while still narrow: C would compute it as a wide int
        return w.alu(Ops.XOR, w.alu(Ops.SHR, total, w.const(total.dtype, 1)), w.alu(Ops.MAX, a, b))

    _elementwise(w, dtype, [dtype, dtype], count, body)
    rng = np.random.default_rng(5)
    np_dtype = to_numpy(dtype)
    info = np.iinfo(np_dtype)
    a, b = (rng.integers(info.min, info.max, 64, np_dtype, endpoint=True) for _ in range(2))
    out = np.empty_like(a)
    launch(w, out, a, b)
    np.testing.assert_array_equal(out, ((a * b + (a - b)) >> np_dtype.type(1)) ^ np.maximum(a, b))


def _divides(w, dtype, count, size):
    """Write quotients, and remainders behind them."""
    out, a, b = w.param(0, dtype, 2 * size), w.param(1, dtype, size), w.param(2, dtype, size)
    i = w.alu(Ops.MUL, w.range(size // count, 0), count)
    x, y = w.load(a, i, count), w.load(b, i, count)
    w.store(out, i, w.alu(Ops.CDIV, x, y))
    w.store(out, w.alu(Ops.ADD, i, size), w.alu(Ops.CMOD, x, y))
    w.end(i.src[0])


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("dtype", INTS)
def test_division_truncates_and_never_traps(w, launch, dtype, count):
    _divides(w, dtype, count, 64)
    info = np.iinfo(to_numpy(dtype))
    signed = [info.min, -1, -7, -3] if info.min else [info.max, 100, 3, 7]
    x = np.resize(np.array([*signed, 0, 1, 7, info.max], to_numpy(dtype)), 64)
    y = np.repeat(x[:8], 8)
    got = np.empty(128, x.dtype)
    launch(w, got, x, y)
    for n, (p, q) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        quotient = 0 if q == 0 else truncate(abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1), dtype)
        assert got[n] == quotient, (p, q)
        assert got[64 + n] == (0 if q in (0, -1) else p - q * quotient), (p, q)


@pytest.mark.parametrize("count", [1, 2, 8, 16])
@pytest.mark.parametrize("dtype", INTS)
def test_quotients_beside_multiples_are_exact(w, launch, dtype, count):
    _divides(w, dtype, count, 4096)
    info, rng = np.iinfo(to_numpy(dtype)), np.random.default_rng(0)
    most = min(info.max, np.iinfo(np.int64).max)
    # a part of the vectors has numbers for which 64 bits take another way
    bits = np.repeat(rng.choice([most.bit_length(), min(61, most.bit_length())], 256), 16)
    divisors = np.exp2(rng.uniform(0, bits - 0.01)).astype(np.int64)
    multiples = (
        rng.integers(0, (np.exp2(bits - 0.01).astype(np.int64) - 1) // divisors, endpoint=True) * divisors
    )
    x = np.maximum(multiples + rng.integers(-1, 2, 4096), 0)
    signs = rng.choice([-1, 1] if info.min else [1], (2, 4096))
    got = np.empty(8192, info.dtype)
    launch(w, got, (x * signs[0]).astype(info.dtype), (divisors * signs[1]).astype(info.dtype))
    np.testing.assert_array_equal(got[:4096], x // divisors * signs[0] * signs[1])
    np.testing.assert_array_equal(got[4096:], x % divisors * signs[0])


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize("divisor", [7, -3, 1, 8])
def test_division_by_a_constant_is_cs(w, launch, divisor, count):
    def body(w, a):
        c = w.const(a.dtype, divisor)
        return w.alu(Ops.ADD, w.alu(Ops.CDIV, a, c), w.alu(Ops.CMOD, a, c))

    _elementwise(w, dtypes.int32, [dtypes.int32], count, body)
    a = np.arange(-32, 32, dtype=np.int32) * 1000
    out = np.empty_like(a)
    launch(w, out, a)
    np.testing.assert_array_equal(out, np.trunc(a / divisor).astype(np.int32) + np.fmod(a, divisor))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int8, dtypes.uint16, dtypes.int64])
@pytest.mark.parametrize(
    ("op", "expected"), [(Ops.CMPLT, np.less), (Ops.CMPNE, np.not_equal), (Ops.CMPEQ, np.equal)]
)
def test_comparisons_store_bytes_of_0_and_1(w, launch, op, expected, dtype, count):
    _elementwise(w, dtypes.bool, [dtype, dtype], count, lambda w, a, b: w.alu(op, a, b))
    np_dtype = to_numpy(dtype)
    a = _floats(np_dtype) if dtype.kind == "float" else np.arange(64).astype(np_dtype)
    b = _shuffled(a)
    out = np.full(64, 7, np.uint8)
    launch(w, out, a, b)
    np.testing.assert_array_equal(out, expected(a, b).astype(np.uint8))


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.bfloat16, dtypes.float32, dtypes.uint64])
def test_where_takes_masks_of_any_origin(w, launch, dtype, count):
    """The condition is (flag and x < y) or x != x: a loaded bool meets comparisons of wider lanes."""

    def body(w, flag, x, y, a, b):
        is_less = w.alu(Ops.AND, flag, w.alu(Ops.CMPLT, x, y))
        return w.alu(Ops.WHERE, w.alu(Ops.OR, is_less, w.alu(Ops.CMPNE, x, x)), a, b)

    _elementwise(w, dtype, [dtypes.bool, dtypes.float32, dtypes.float32, dtype, dtype], count, body)
    x = _floats()
    y = _shuffled(x)
    flag = np.arange(64) % 3 > 0
    a, b = (np.arange(64 * dtype.itemsize, dtype=np.uint8).reshape(64, -1) + k for k in (0, 100))
    out = np.empty_like(a)
    launch(w, out, flag, x, y, a, b)
    np.testing.assert_array_equal(out, np.where(((flag & (x < y)) | np.isnan(x))[:, None], a, b))


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
@pytest.mark.parametrize("is_least", [False, True])
def test_the_extreme_of_two_is_the_second_beside_nan_and_of_two_zeros(w, launch, dtype, count, is_least):
    def body(w, a, b):
        return w.alu(Ops.WHERE, w.alu(Ops.CMPLT, *((a, b) if is_least else (b, a))), a, b)

    _elementwise(w, dtype, [dtype, dtype], count, body)
    a = np.repeat(_floats(to_numpy(dtype), 8), 8)
    b = np.tile(_floats(to_numpy(dtype), 8), 8)
    out = np.empty_like(a)
    launch(w, out, a, b)
    expected = np.where(a < b if is_least else b < a, a, b)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(np.signbit(out[a == 0]), np.signbit(expected[a == 0]))


@pytest.mark.skipif(this_machine().vector_bits < 512, reason="blends by masks need AVX-512")
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_choices_are_one_instruction(w, compiler, dtype):
    def body(w, a, b):
        low, two = w.alu(Ops.WHERE, w.alu(Ops.CMPLT, a, b), a, b), w.const(a.dtype, 2.0)
        return w.alu(Ops.WHERE, w.alu(Ops.CMPLT, low, two), w.alu(Ops.MUL, a, b), w.alu(Ops.ADD, a, b))

    count = 64 // dtype.itemsize
    _elementwise(w, dtype, [dtype, dtype], count, body, 1024 * count)
    code = compiler.disassemble(compiler.compile(CpuRenderer().render(w.uops, "kernel"), "kernel"))
    arithmetic = re.findall(r"\b(v(?:min|cmp|p?blend|mul|add|p(?:and|or|xor|tern|add))\w*)", code)
    # an operation under a mask is the blend, too; loops may be unrolled
    counts = Counter(name[:4] for name in arithmetic if "blend" not in name)
    assert set(counts) == {"vadd", "vcmp", "vmin", "vmul"}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("count", [1, 8])
def test_logic_on_bools_is_logic(w, launch, count):
    def body(w, a, b, c):
        mixed = w.alu(Ops.XOR, w.alu(Ops.ADD, a, b), w.alu(Ops.MUL, b, c))
        chosen = w.alu(Ops.WHERE, a, w.alu(Ops.CMPEQ, b, c), w.alu(Ops.CMPLT, a, b))
        negated = w.alu(Ops.CMPNE, mixed, w.const(a.dtype, True))
        return w.alu(Ops.OR, w.alu(Ops.AND, negated, chosen), w.alu(Ops.AND, w.alu(Ops.MAX, a, c), b))

    _elementwise(w, dtypes.bool, [dtypes.bool] * 3, count, body)
    a, b, c = (np.arange(64) >> k & 1 != 0 for k in range(3))
    out = np.empty(64, bool)
    launch(w, out, a, b, c)
    mixed, chosen = (a | b) ^ (b & c), np.where(a, b == c, ~a & b)
    np.testing.assert_array_equal(out, (~mixed & chosen) | ((a | c) & b))


def _converted(w, x, to):
    """Write a cast as codegen does: to 16-bit floats by way of float32."""
    is_half = to.scalar() in (dtypes.float16, dtypes.bfloat16)
    return w.add(Ops.CAST, to, w.add(Ops.CAST, dtypes.float32.vec(to.count), x) if is_half else x)


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize("source", WITH_NUMPY)
def test_casts_are_numpys_for_values_in_range(w, launch, source, count):
    a = w.param(0, source, 64)
    outs = [w.param(1 + n, to, 64) for n, to in enumerate(WITH_NUMPY)]
    i = w.range(64 // count, 0)
    at = w.alu(Ops.MUL, i, count)
    x = w.load(a, at, count)
    for out in outs:
        w.store(out, at, _converted(w, x, out.dtype.vec(count)))
    w.end(i)
    values = np.array([0, 1, 2, 3.7, 100, 60.5, 17, 0.25] * 8)
    given = values.astype(to_numpy(source))
    results = [np.empty(64, to_numpy(to)) for to in WITH_NUMPY]
    launch(w, given, *results)
    for result in results:
        np.testing.assert_array_equal(result, given.astype(result.dtype))


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize("source", [dtypes.float32, dtypes.float64, dtypes.float16, dtypes.int16])
def test_casts_of_negative_numbers_keep_the_sign(w, launch, source, count):
    signed = [d for d in WITH_NUMPY if d.kind in ("int", "float")]
    a = w.param(0, source, 16)
    outs = [w.param(1 + n, to, 16) for n, to in enumerate(signed)]
    for start in range(0, 16, count):
        x = w.load(a, start, count)
        for out in outs:
            w.store(out, start, _converted(w, x, out.dtype.vec(count)))
    given = np.resize([-1, -2.75, -100, 0], 16).astype(to_numpy(source))
    results = [np.empty(16, to_numpy(to)) for to in signed]
    launch(w, given, *results)
    for result in results:
        np.testing.assert_array_equal(result, given.astype(result.dtype))


@pytest.mark.parametrize("count", [1, 4, 8, 16])
def test_every_float16_survives_the_way_to_float32_and_back(w, launch, count):
    cast = dtypes.float32.vec(count)
    _elementwise(w, dtypes.float32, [dtypes.float16], count, lambda w, a: w.add(Ops.CAST, cast, a), 65536)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    out = np.empty(65536, np.float32)
    launch(w, out, halves)
    np.testing.assert_array_equal(out, halves.astype(np.float32))


def _hard_floats():
    """Floats around each halfway point of float16 and bfloat16, subnormals, overflow and NaN."""
    halves = np.arange(0, 65536, 7, dtype=np.uint16)
    f16 = halves.view(np.float16).astype(np.float32).view(np.uint32)
    bf16 = halves.astype(np.uint32) << 16
    steps = np.array([0, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001], np.uint32)
    values = np.add.outer(steps, np.concatenate([f16, bf16])).ravel().view(np.float32)
    return np.ascontiguousarray(values[: len(values) // 16 * 16])


@pytest.mark.parametrize("count", [1, 4, 8, 16])
def test_float32_rounds_to_the_nearest_float16(w, launch, count):
    a = _hard_floats()
    cast = dtypes.float16.vec(count)
    _elementwise(w, dtypes.float16, [dtypes.float32], count, lambda w, a: w.add(Ops.CAST, cast, a), len(a))
    out = np.empty(len(a), np.float16)
    launch(w, out, a)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, a.astype(np.float16))
    np.testing.assert_array_equal(np.signbit(out[a == 0]), np.signbit(a[a == 0]))


@pytest.mark.parametrize("count", [1, 16])
def test_float32_rounds_to_the_nearest_bfloat16(w, launch, count):
    a = _hard_floats()[::3]
    a = np.ascontiguousarray(a[: len(a) // 16 * 16])
    cast = dtypes.bfloat16.vec(count)
    _elementwise(w, dtypes.bfloat16, [dtypes.float32], count, lambda w, a: w.add(Ops.CAST, cast, a), len(a))
    out = np.empty(len(a), np.uint16)
    launch(w, out, a)
    expected = np.array([truncate(value, dtypes.bfloat16) for value in a.tolist()], np.float32)
    np.testing.assert_array_equal((out.astype(np.uint32) << 16).view(np.float32), expected)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("dtype", STORABLE)
def test_constants_are_exact(w, launch, dtype, count):
    out = w.param(0, dtype, 64)
    if dtype.kind == "float":
        top = {dtypes.float16: 65504.0, dtypes.float64: 1.7e308}.get(dtype, 3.3895e38)
        values = [*SPECIALS, 0.1, 1 / 3, 6e-8, top]
    else:
        bits = dtype.itemsize * 8
        values = [True, False] if dtype is dtypes.bool else [0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    values = [truncate(v, dtype) for v in values]
    for n, value in enumerate(values):
        w.store(out, n, w.const(dtype.vec(count), value))
    np_dtype = to_numpy(dtype) or np.dtype(np.uint16)
    got = np.zeros(64, np_dtype)
    launch(w, got)
    expected = [half_bits(dtype, float(v)) for v in values] if dtype is dtypes.bfloat16 else values
    np.testing.assert_array_equal(got[: len(values)], np.array(expected, np_dtype))


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize(
    ("source", "to"),
    [
        (dtypes.float32, dtypes.uint32),
        (dtypes.int64, dtypes.float64),
        (dtypes.float16, dtypes.int16),
        (dtypes.bool, dtypes.uint8),
    ],
)
def test_bitcast_keeps_the_bits(w, launch, source, to, count):
    _elementwise(w, to, [source], count, lambda w, a: w.add(Ops.BITCAST, to.vec(count), a))
    top = 2 if source is dtypes.bool else 256
    a = (np.arange(64 * source.itemsize) % top).astype(np.uint8).reshape(64, -1)
    out = np.empty_like(a)
    launch(w, out, a)
    np.testing.assert_array_equal(out, a)


def test_lanes_are_taken_and_put_together(w, launch):
    out, a = w.param(0, dtypes.float32, 8), w.param(1, dtypes.float32, 8)
    v = w.load(a, 0, 8)
    half = w.add(Ops.GEP, dtypes.float32.vec(4), v, arg=(6, 4, 2, 0))
    one = w.add(Ops.GEP, dtypes.float32, v, arg=(7,))
    w.store(out, 0, half)
    w.store(out, 4, w.add(Ops.VECTORIZE, dtypes.float32.vec(4), one, w.const(dtypes.float32, 5.0), one, one))
    got = np.empty(8, np.float32)
    launch(w, got, np.arange(8, dtype=np.float32))
    assert got.tolist() == [6, 4, 2, 0, 7, 5, 7, 7]


def test_lanes_of_truth_are_taken_and_put_together(w, launch):
    out, a = w.param(0, dtypes.bool, 8), w.param(1, dtypes.float32, 8)
    v = w.alu(Ops.CMPLT, w.load(a, 0, 8), w.const(dtypes.float32.vec(8), 3.5))
    lanes = [w.add(Ops.GEP, dtypes.bool, v, arg=(n,)) for n in (0, 7, 3, 4)]
    w.store(out, 0, w.add(Ops.VECTORIZE, dtypes.bool.vec(4), *lanes))
    w.store(out, 4, w.add(Ops.GEP, dtypes.bool.vec(4), v, arg=(3, 2, 4, 5)))
    got = np.full(8, 9, np.uint8)
    launch(w, got, np.arange(8, dtype=np.float32))
    assert got.tolist() == [1, 0, 1, 0, 1, 1, 0, 0]


def test_gated_loads_do_not_touch_memory(w, launch):
    out, a = w.param(0, dtypes.float32, 16), w.param(1, dtypes.float32, 16)
    i = w.range(4, 0)
    gate = w.alu(Ops.CMPLT, i, 2)
    far = w.alu(Ops.MUL, w.alu(Ops.WHERE, gate, i, w.const(dtypes.int32, 1 << 28)), 4)
    alt = w.const(dtypes.float32.vec(4), -1.0)
    value = w.add(Ops.LOAD, dtypes.float32.vec(4), w.index(a, far), alt, gate)
    w.store(out, w.alu(Ops.MUL, i, 4), value)
    w.end(i)
    got = np.empty(16, np.float32)
    launch(w, got, np.arange(16, dtype=np.float32))
    assert got.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, *[-1] * 8]


def test_accumulators_conditions_and_variables(w, launch):
    """Expect out = [sum of the even numbers below n, n - 1, twice the sum before the last turn, 0]."""
    n = w.variable("n")
    out = w.param(0, dtypes.int32, 4)
    total, top = w.accumulator(w.const(dtypes.int32, 0)), w.accumulator(w.const(dtypes.int32, -1), 1)
    r = w.range(n, 0, kind=AxisType.REDUCE)
    before = w.alu(Ops.MUL, total, 2)
    is_even = w.alu(Ops.CMPEQ, w.alu(Ops.CMOD, r, 2), 0)
    w.accumulate(top, w.alu(Ops.MAX, top, r))
    changed = w.accumulate(total, w.alu(Ops.ADD, total, w.alu(Ops.WHERE, is_even, r, 0)))
    w.store(out, 2, before)
    condition = w.add(Ops.IF, dtypes.void, w.alu(Ops.CMPLT, r, 1))
    w.store(out, 3, r)
    w.add(Ops.ENDIF, dtypes.void, condition)
    w.end(r)
    w.store(out, 0, changed)
    w.store(out, 1, top)
    got = np.full(4, 99, np.int32)
    launch(w, got, values=(10,))
    assert got.tolist() == [20, 9, 40, 0]
    launch(w, got, values=(9,))
    assert got.tolist() == [20, 8, 24, 0]


def test_truth_is_accumulated_in_vectors(w, launch):
    out, a = w.param(0, dtypes.bool, 4), w.param(1, dtypes.float64, 16)
    acc = w.accumulator(w.const(dtypes.bool.vec(4), False))
    i = w.range(4, 0, kind=AxisType.REDUCE)
    is_large = w.alu(Ops.CMPLT, w.const(dtypes.float64.vec(4), 13.0), w.load(a, w.alu(Ops.MUL, i, 4), 4))
    w.accumulate(acc, w.alu(Ops.OR, acc, is_large))
    w.end(i)
    w.store(out, 0, acc)
    got = np.full(4, 9, np.uint8)
    launch(w, got, np.arange(16, dtype=np.float64))
    assert got.tolist() == [0, 0, 1, 1]


def test_staged_tiles_live_on_the_thread(w, launch):
    out, a = w.param(0, dtypes.float32, 64), w.param(1, dtypes.float32, 64)
    tile = w.add(Ops.DEFINE_LOCAL, dtypes.float32, arg=(0, 64))
    i = w.range(64, 0)
    w.store(tile, w.alu(Ops.SUB, 63, i), w.load(a, i))
    w.end(i)
    w.add(Ops.BARRIER)
    j = w.range(4, 1)
    at = w.alu(Ops.MUL, j, 16)
    w.store(out, at, w.load(tile, at, 16))
    w.end(j)
    a = np.arange(64, dtype=np.float32)
    got = np.empty_like(a)
    launch(w, got, a)
    np.testing.assert_array_equal(got, a[::-1])


def test_deep_expressions_compile(w, launch):
    out, a = w.param(0, dtypes.float32, 1), w.param(1, dtypes.float32, 1)
    x = w.load(a, 0)
    for n in range(600):
        x = w.alu(Ops.MAX if n % 50 == 0 else Ops.ADD, x, w.const(dtypes.float32, float(n % 3)))
    w.store(out, 0, x)
    got = np.empty(1, np.float32)
    launch(w, got, np.zeros(1, np.float32))
    assert got[0] == sum(n % 3 for n in range(600) if n % 50)


def test_threads_do_their_pieces(w, launch):
    out = w.param(0, dtypes.int32, 8)
    thread = w.add(Ops.SPECIAL, dtypes.int32, w.const(dtypes.int32, 8), arg="thread")
    w.store(out, thread, w.alu(Ops.MUL, thread, 3))
    got = np.zeros(8, np.int32)
    launch(w, got, threads=8)
    assert got.tolist() == list(range(0, 24, 3))


def test_the_source_reads_like_the_kernel(w, best_compiler):
    out, a = w.param(0, dtypes.float32, 64), w.param(1, dtypes.float32, 64)
    i = w.range(4, 0)
    at = w.alu(Ops.MUL, i, 16)
    w.store(out, at, w.alu(Ops.MAX, w.load(a, at, 16), w.const(dtypes.float32.vec(16), 0.0)))
    w.end(i)
    body = CpuRenderer().render(w.uops, "relu").split("\n\n")[-1]
    assert body == (
        "static void relu_body(float *restrict data0, const float *restrict data1, long long thread) {\n"
        "  for (int i0 = 0; i0 < 4; i0++) {\n"
        "    int alu0 = (i0*16);\n"
        "    f32x16 val0 = *(const f32x16u *)(data1+alu0);\n"
        "    *(f32x16u *)(data0+alu0) = atleast_f32x16(val0, f32x16_of(0.0f));\n"
        "  }\n"
        "}\n"
        "void relu(void *const *bufs, const long long *vals, long long thread) {\n"
        "  relu_body(bufs[0], bufs[1], thread);\n"
        "}\n"
    )


@pytest.mark.parametrize("count", LANES)
def test_filling_a_vector_keeps_the_sign_of_zero(w, launch, count):
    _elementwise(w, dtypes.float64, [], count, lambda w: w.const(dtypes.float64.vec(count), -0.0))
    out = np.ones(64)
    launch(w, out)
    assert np.signbit(out).all()
    assert not out.any()


def test_constants_wider_than_a_register_are_not_written_to_the_stack(w, compiler):
    lanes = 2 * this_machine().vector_bits // 64
    shift, mask = (w.const(dtypes.uint64.vec(lanes), value) for value in (32, 0xFFFFFFFF))
    body = lambda w, a: w.alu(Ops.ADD, w.alu(Ops.SHR, a, shift), mask)  # noqa: E731
    _elementwise(w, dtypes.uint64, [dtypes.uint64], lanes, body, 64 * lanes)
    code = compiler.disassemble(compiler.compile(CpuRenderer().render(w.uops, "kernel"), "kernel"))
    assert "sp)" not in code
    assert "[sp" not in code


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int8, dtypes.float64])
def test_large_outputs_go_past_the_caches(w, compiler, addresses, dtype):
    count = 64 // dtype.itemsize
    _elementwise(w, dtype, [dtype], count, lambda w, a: w.alu(Ops.ADD, a, a), 640)
    source = CpuRenderer(stream_bytes=640 * dtype.itemsize).render(w.uops, "kernel")
    assert "stream_" in source
    assert "stream_" not in CpuRenderer(stream_bytes=641 * dtype.itemsize).render(w.uops, "kernel")
    runner = CpuRunner(Program("kernel", source, compiler.compile(source, "kernel"), outs=(0,), ins=(1,)))
    a = np.arange(640).astype(to_numpy(dtype))
    memory = np.zeros(640 + 2 * count, to_numpy(dtype))
    for offset in (0, 1, 2, count // 2):  # aligned by chance, or not
        out = memory[offset : offset + 640]
        runner(addresses(out, a))
        np.testing.assert_array_equal(out, a + a)


def test_renderers_pickle():
    renderer = CpuRenderer()
    assert pickle.loads(pickle.dumps(renderer)).capabilities == renderer.capabilities


@pytest.mark.parametrize(
    ("arch", "flags", "unit"),
    [
        ("x86_64", {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"}, (512, 32)),
        ("x86_64", {"avx2", "fma"}, (256, 16)),
        ("x86_64", {"avx"}, (128, 16)),
        ("aarch64", {"asimd"}, (128, 32)),
    ],
)
def test_vector_units_are_told_by_flags(arch, flags, unit):
    assert vector_unit(arch, frozenset(flags)) == unit
