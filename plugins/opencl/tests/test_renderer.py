"""Kernels written by hand, as loops on vectors and as work-items of a grid, against NumPy."""

import math
import pickle

import numpy as np
import pytest

from plugrad.dtype import STORABLE, dtypes, to_numpy, truncate
from plugrad.errors import DtypeError
from plugrad.uop.ops import Ops
from plugrad_opencl.renderer import OpenClRenderer

SPECIALS = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 1e30]
SPECIALS += [-2.5, 3.999, 0.5, -0.25, 7.0, 9e9, 1e-40, 2.0]
WITH_NUMPY = [d for d in STORABLE if d is not dtypes.bfloat16]
INTS = [d for d in STORABLE if d.kind in ("int", "uint")]


def _elementwise(w, outs, ins, count, body, numel=64):
    """Write `outs[n][i] = body(w, ins[0][i], ...)[n]` over `numel` elements, `count` at a time."""
    results = [w.param(n, dtype, numel) for n, dtype in enumerate(outs)]
    sources = [w.param(len(outs) + n, dtype, numel) for n, dtype in enumerate(ins)]
    i = w.range(numel // count, 0)
    at = w.alu(Ops.MUL, i, count)
    for out, value in zip(results, body(w, *(w.load(s, at, count) for s in sources)), strict=True):
        w.store(out, at, value)
    w.end(i)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_functions_keep_within_three_units_in_the_last_place(w, launch, dtype, count):
    functions = {Ops.EXP: np.exp, Ops.EXP2: np.exp2, Ops.LOG2: np.log2}
    _elementwise(w, [dtype] * 3, [dtype], count, lambda w, a: [w.alu(op, a) for op in functions], 2048)
    with np.errstate(all="ignore"):
        a = np.concatenate([_floats(), np.linspace(-150, 130, 1 << 10), np.exp2(np.linspace(-149, 127, 960))])
        a = a.astype(to_numpy(dtype))
        outs = [np.empty_like(a) for _ in functions]
        launch(w, *outs, a)
        for out, f in zip(outs, functions.values(), strict=True):
            exact = f(a.astype(np.longdouble))
            near = exact.astype(a.dtype)
            special = ~np.isfinite(near)
            np.testing.assert_array_equal(out[special], near[special])
            units = np.abs(out - exact)[~special] / np.spacing(np.abs(near[~special]))
            assert units.max() <= 3.0


def test_functions_of_float16_are_computed_in_float32(w, gpu):
    a = w.load(w.param(1, dtypes.float16), 0)
    w.store(w.param(0, dtypes.float16), 0, w.alu(Ops.EXP, a))
    assert "*data0 = ((half)(exp(((float)(val0)))));" in OpenClRenderer(gpu).render(w.uops, "k")


def _floats(dtype=np.float32, numel=64):
    return np.resize(np.array(SPECIALS, dtype=np.float64), numel).astype(dtype)


def _shuffled(a):
    return np.ascontiguousarray(np.roll(a[::-1], 5))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_float_arithmetic_is_numpys_with_infinities_and_nan(w, launch, dtype, count):
    binary = {
        Ops.ADD: np.add,
        Ops.SUB: np.subtract,
        Ops.MUL: np.multiply,
        Ops.FDIV: np.divide,
        Ops.MAX: np.maximum,
    }
    unary = {Ops.NEG: np.negative, Ops.SQRT: np.sqrt, Ops.TRUNC: np.trunc, Ops.RECIP: np.reciprocal}

    def body(w, a, b):
        clamped = w.alu(Ops.MAX, a, w.const(a.dtype, 0.0))
        return [*(w.alu(op, a, b) for op in binary), *(w.alu(op, a) for op in unary), clamped]

    _elementwise(w, [dtype] * 10, [dtype] * 2, count, body)
    a = _floats(to_numpy(dtype))
    b = _shuffled(a)
    outs = [np.empty_like(a) for _ in range(10)]
    launch(w, *outs, a, b)
    with np.errstate(all="ignore"):
        expected = [*(f(a, b) for f in binary.values()), *(f(a) for f in unary.values()), np.maximum(a, 0)]
    for out, want in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, want)


def test_mul_and_add_are_not_contracted_but_mulacc_may_be(w, launch, count):
    def body(w, a, b, c):
        return [w.alu(Ops.ADD, w.alu(Ops.MUL, a, b), c), w.alu(Ops.MULACC, a, b, c)]

    _elementwise(w, [dtypes.float32] * 2, [dtypes.float32] * 3, count, body)
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=64).astype(np.float32) for _ in range(3))
    twice, once = np.empty_like(a), np.empty_like(a)
    launch(w, twice, once, a, b, c)
    np.testing.assert_array_equal(twice, a * b + c)
    np.testing.assert_allclose(once, a.astype(np.float64) * b + c, rtol=0, atol=4 * np.finfo(a.dtype).eps)


def test_integer_arithmetic_wraps(w, launch, count):
    outs = [w.param(n, dtype, 64) for n, dtype in enumerate(INTS)]
    ins = [(w.param(20 + n, dtype, 64), w.param(40 + n, dtype, 64)) for n, dtype in enumerate(INTS)]
    i = w.alu(Ops.MUL, w.range(64 // count, 0), count)
    for out, (a, b) in zip(outs, ins, strict=True):
        x, y = w.load(a, i, count), w.load(b, i, count)
        total = w.alu(Ops.ADD, w.alu(Ops.MUL, x, y), w.alu(Ops.SUB, x, y))
        # halved while still narrow: C would compute it as a wide int
        half = w.alu(Ops.SHR, total, w.const(total.dtype, 1))
        w.store(out, i, w.alu(Ops.XOR, half, w.alu(Ops.MAX, x, y)))
    w.end(i.src[0])
    rng = np.random.default_rng(5)
    limits = [np.iinfo(to_numpy(d)) for d in INTS]
    a, b = ([rng.integers(t.min, t.max, 64, t.dtype, endpoint=True) for t in limits] for _ in range(2))
    got = [np.empty(64, t.dtype) for t in limits]
    w.uops.sort(key=lambda u: (u.op is not Ops.PARAM, u.arg[0] if u.op is Ops.PARAM else 0))
    spare = np.empty(1, np.uint8)
    slots = {
        **dict(enumerate(got)),
        **{20 + n: x for n, x in enumerate(a)},
        **{40 + n: x for n, x in enumerate(b)},
    }
    launch(w, *(slots.get(n, spare) for n in range(40 + len(INTS))))
    for out, x, y in zip(got, a, b, strict=True):
        np.testing.assert_array_equal(out, ((x * y + (x - y)) >> x.dtype.type(1)) ^ np.maximum(x, y))


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.uint64])
def test_division_truncates_and_never_traps(w, launch, dtype, count):
    _elementwise(
        w, [dtype] * 2, [dtype] * 2, count, lambda w, a, b: [w.alu(Ops.CDIV, a, b), w.alu(Ops.CMOD, a, b)]
    )
    info = np.iinfo(to_numpy(dtype))
    signed = [info.min, -1, -7, -3] if info.min else [info.max, 100, 3, 7]
    x = np.resize(np.array([*signed, 0, 1, 7, info.max], to_numpy(dtype)), 64)
    y = np.repeat(x[:8], 8)
    quotients, rests = np.empty_like(x), np.empty_like(x)
    launch(w, quotients, rests, x, y)
    for n, (p, q) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        quotient = 0 if q == 0 else truncate(abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1), dtype)
        assert quotients[n] == quotient, (p, q)
        assert rests[n] == (0 if q in (0, -1) else p - q * quotient), (p, q)


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.bfloat16, dtypes.float32, dtypes.uint64])
def test_where_takes_masks_of_any_origin(w, launch, dtype, count):
    """The condition is (flag and x < y) or x != x: a loaded bool meets comparisons of wider lanes."""

    def body(w, flag, x, y, a, b):
        is_less = w.alu(Ops.AND, flag, w.alu(Ops.CMPLT, x, y))
        condition = w.alu(Ops.OR, is_less, w.alu(Ops.CMPNE, x, x))
        return [w.alu(Ops.WHERE, condition, a, b), condition]

    given = [dtypes.bool, dtypes.float32, dtypes.float32, dtype, dtype]
    _elementwise(w, [dtype, dtypes.bool], given, count, body)
    x = _floats()
    y = _shuffled(x)
    flag = np.arange(64) % 3 > 0
    a, b = (np.arange(64 * dtype.itemsize, dtype=np.uint8).reshape(64, -1) + k for k in (0, 100))
    out, truth = np.empty_like(a), np.full(64, 7, np.uint8)
    launch(w, out, truth, flag, x, y, a, b)
    expected = (flag & (x < y)) | np.isnan(x)
    np.testing.assert_array_equal(out, np.where(expected[:, None], a, b))
    np.testing.assert_array_equal(truth, expected)


def _converted(w, x, to):
    """Write a cast as codegen does: to 16-bit floats by way of float32."""
    return w.cast(to, w.cast(dtypes.float32, x) if to is dtypes.float16 else x)


@pytest.mark.parametrize("source", WITH_NUMPY)
def test_casts_are_numpys_for_values_in_range(w, launch, source, count):
    _elementwise(w, WITH_NUMPY, [source], count, lambda w, x: [_converted(w, x, to) for to in WITH_NUMPY])
    given = np.array([0, 1, 2, 3.7, 100, 60.5, 17, 0.25] * 8).astype(to_numpy(source))
    results = [np.empty(64, to_numpy(to)) for to in WITH_NUMPY]
    launch(w, *results, given)
    for result in results:
        np.testing.assert_array_equal(result, given.astype(result.dtype))


def test_every_float16_survives_the_way_to_float32_and_back(w, launch, count):
    def body(w, a):
        return [w.cast(dtypes.float32, a), w.cast(dtypes.float16, w.cast(dtypes.float32, a))]

    _elementwise(w, [dtypes.float32, dtypes.float16], [dtypes.float16], count, body, 65536)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    wide, back = np.empty(65536, np.float32), np.empty(65536, np.float16)
    launch(w, wide, back, halves)
    np.testing.assert_array_equal(wide, halves.astype(np.float32))
    np.testing.assert_array_equal(back, halves)


def _hard_floats():
    """Floats around each halfway point of float16 and bfloat16, subnormals, overflow and NaN."""
    halves = np.arange(0, 65536, 31, dtype=np.uint16)
    f16 = halves.view(np.float16).astype(np.float32).view(np.uint32)
    bf16 = halves.astype(np.uint32) << 16
    steps = np.array([0, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001], np.uint32)
    values = np.add.outer(steps, np.concatenate([f16, bf16])).ravel().view(np.float32)
    return np.ascontiguousarray(values[: len(values) // 16 * 16])


def test_float32_rounds_to_the_nearest_16_bit_float(w, launch, count):
    a = _hard_floats()
    outs = [dtypes.float16, dtypes.bfloat16]
    _elementwise(w, outs, [dtypes.float32], count, lambda w, a: [w.cast(to, a) for to in outs], len(a))
    half, brain = np.empty(len(a), np.float16), np.empty(len(a), np.uint16)
    launch(w, half, brain, a)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(half, a.astype(np.float16))
    np.testing.assert_array_equal(np.signbit(half[a == 0]), np.signbit(a[a == 0]))
    expected = np.array([truncate(value, dtypes.bfloat16) for value in a.tolist()], np.float32)
    np.testing.assert_array_equal((brain.astype(np.uint32) << 16).view(np.float32), expected)


@pytest.mark.parametrize("dtype", STORABLE)
def test_constants_are_exact(w, launch, dtype):
    out = w.param(0, dtype, 64)
    if dtype.kind == "float":
        top = {dtypes.float16: 65504.0, dtypes.float64: 1.7e308}.get(dtype, 3.3895e38)
        values = [*SPECIALS, 0.1, 1 / 3, 6e-8, top]
    else:
        bits = dtype.itemsize * 8
        values = [True, False] if dtype is dtypes.bool else [0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    values = [truncate(v, dtype) for v in values]
    for n, value in enumerate(values):
        w.store(out, n * 2, w.const(dtype.vec(2), value))
    np_dtype = to_numpy(dtype) or np.dtype(np.uint16)
    got = np.empty(64, np_dtype)
    launch(w, got)
    got = got[: 2 * len(values)]
    if dtype is dtypes.bfloat16:
        got = (got.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(got, np.repeat(np.array(values, got.dtype), 2))


def test_vectors_begin_anywhere(w, launch):
    out, a = w.param(0, dtypes.float32, 64), w.param(1, dtypes.float32, 64)
    for start in (1, 9, 18):
        w.store(out, start, w.load(a, start + 2, 4))
    values, got = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    launch(w, got, values)
    expected = np.zeros(64, np.float32)
    for start in (1, 9, 18):
        expected[start : start + 4] = values[start + 2 : start + 6]
    np.testing.assert_array_equal(got, expected)


def test_a_group_shares_memory_behind_a_barrier(w, launch):
    out, a = w.param(0, dtypes.int32, 128), w.param(1, dtypes.int32, 128)
    group, item = w.special("gidx0", 4), w.special("lidx0", 32)
    shared = w.add(Ops.DEFINE_LOCAL, dtypes.int32, arg=(0, 32))
    at = w.alu(Ops.ADD, w.alu(Ops.MUL, group, 32), item)
    written = w.store(shared, item, w.load(a, at))
    barrier = w.add(Ops.BARRIER, dtypes.void, written)
    after = w.add(Ops.AFTER, dtypes.int32, shared, barrier)
    w.store(out, at, w.load(after, w.alu(Ops.SUB, w.number(31), item)))
    values, got = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    launch(w, got, values)
    np.testing.assert_array_equal(got, values.reshape(4, 32)[:, ::-1].ravel())


def test_threads_are_groups_and_variables_come_in_order(w, launch):
    out = w.param(0, dtypes.int64, 8)
    b, a = w.variable("b", dtypes.int64), w.variable("a")
    thread = w.special("thread", 8)
    weighted = w.alu(Ops.MUL, w.cast(dtypes.int64, w.alu(Ops.ADD, thread, a)), w.const(dtypes.int64, 10))
    w.store(out, thread, w.alu(Ops.ADD, weighted, b))
    got = np.zeros(8, np.int64)
    seconds = launch(w, got, values=(5, 1 << 40), threads=8)
    assert 0 < seconds < 10
    np.testing.assert_array_equal(got, (np.arange(8) + 5) * 10 + (1 << 40))


def test_launch_positions_go_beyond_32_bits(w, gpu):
    out, group = w.param(0, dtypes.uint8, 1), w.special("gidx0", 1 << 33, dtypes.int64)
    w.store(out, w.alu(Ops.MUL, group, w.const(dtypes.int64, 3)), w.const(dtypes.uint8, 1))
    source = OpenClRenderer(gpu).render(w.uops, "k")
    assert "long gidx0 = get_group_id(0);" in source
    assert "(gidx0*3l)" in source


def test_addresses_stay_signed_and_values_wrap(w, cpu):
    out, a = w.param(0, dtypes.int32), w.param(1, dtypes.int32)
    i = w.range(8, 0)
    x = w.load(a, w.alu(Ops.MUL, i, 3))
    w.store(out, i, w.alu(Ops.MUL, x, x))
    w.end(i)
    source = OpenClRenderer(cpu).render(w.uops, "k")
    assert "data1+(i0*3)" in source
    assert "(int)((uint)val0*(uint)val0)" in source


def test_a_grid_uses_portable_vector_loads(w, gpu):
    out, a = w.param(0, dtypes.float16), w.param(1, dtypes.float16)
    w.store(out, 0, w.load(a, 4, 8))
    source = OpenClRenderer(gpu).render(w.uops, "k")
    assert "vload8(0, (data1+4))" in source
    assert "vstore8(" in source
    assert "cl_khr_fp16 : enable" in source
    assert "half" in source


def test_the_size_of_a_group_is_told_to_the_compiler(w, gpu):
    out = w.param(0, dtypes.int32)
    w.store(out, w.special("lidx0", 64), w.const(dtypes.int32, 1))
    assert "reqd_work_group_size(64, 1, 1)" in OpenClRenderer(gpu).render(w.uops, "k")


def test_a_dtype_that_the_device_lacks_is_an_error(w, gpu, changed):
    out = w.param(0, dtypes.float64)
    w.store(out, 0, w.const(dtypes.float64, 1.0))
    with pytest.raises(DtypeError, match="has no float64"):
        OpenClRenderer(changed(gpu, fp64="")).render(w.uops, "k")


def test_renderers_pickle(w, cpu):
    out = w.param(0, dtypes.int32)
    w.store(out, 0, w.const(dtypes.int32, 1))
    renderer = OpenClRenderer(cpu)
    assert pickle.loads(pickle.dumps(renderer)).render(w.uops, "k") == renderer.render(w.uops, "k")


def test_the_source_of_a_kernel(w, cpu, golden):
    out, a = w.param(0, dtypes.float16), w.param(1, dtypes.float32)
    n = w.variable("n")
    i = w.range(n, 0)
    at = w.alu(Ops.MUL, i, 8)
    x = w.load(a, at, 8)
    big = w.alu(Ops.WHERE, w.alu(Ops.CMPLT, x, w.const(x.dtype, 0.0)), x, w.alu(Ops.SQRT, x))
    w.store(out, at, w.cast(dtypes.float16, big))
    w.end(i)
    golden("cpu.cl", OpenClRenderer(cpu).render(w.uops, "k"))


ATOMIC = [(op, d) for op in (Ops.ADD, Ops.MAX) for d in INTS if d.itemsize >= 4]


@pytest.mark.parametrize(("op", "dtype"), [*ATOMIC, (Ops.ADD, dtypes.float32)], ids=str)
def test_work_items_that_update_one_element_all_count(w, launch, op, dtype):
    out, values, item = w.param(0, dtype, 5), w.param(1, dtype, 4096), w.special("gidx0", 4096)
    w.update(out, w.alu(Ops.CMOD, item, 5), w.load(values, item), op)
    x = np.random.default_rng(0).integers(0, 100, 4096).astype(to_numpy(dtype))
    got = np.full(5, 50, x.dtype)
    launch(w, got, x)
    expected = np.full(5, 50, x.dtype)
    {Ops.ADD: np.add, Ops.MAX: np.maximum}[op].at(expected, np.arange(4096) % 5, x)
    np.testing.assert_array_equal(got, expected)
