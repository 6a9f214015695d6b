"""Tests of plugrad.codegen.decompositions.small_floats."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from plugrad.builtin.arithmetic import from_storage, round_to_bfloat16, to_storage
from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad.dtype import STORABLE, DType, dtypes, to_numpy
from plugrad.uop.ops import ALU, COMPARE, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise

SMALL = (dtypes.float16, dtypes.bfloat16)
STORED_ONLY = replace(CAPABILITIES, compute_dtypes=CAPABILITIES.compute_dtypes - set(SMALL))
OPS = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX, *sorted(COMPARE)]


def _lower(sink: UOp) -> UOp:
    lowered = decompose(sink, STORED_ONLY)
    for u in lowered.toposort():
        small = {s.dtype.scalar() for s in (u, *u.src)} & set(SMALL)
        if u.op in ALU - {Ops.WHERE}:
            assert not small, u
        if u.op is Ops.CAST and small:
            assert dtypes.float32 in (u.dtype.scalar(), u.src[0].dtype.scalar())
    return lowered


def _every_value(dtype: DType) -> np.ndarray:
    return np.arange(65536, dtype=np.uint16).view(np.uint16 if dtype is dtypes.bfloat16 else np.float16)


def _as_float64(stored: np.ndarray, dtype: DType) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # signalling NaNs are among all values
        return from_storage(stored, dtype).astype(np.float64)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_each_op_gives_what_native_arithmetic_gives(op: Ops, dtype: DType) -> None:
    x = _every_value(dtype)
    y = np.random.default_rng(0).permutation(x)
    types = [dtype, dtype]
    native = compute_elementwise(lambda a, b: a.alu(op, b), x, y, types=types)
    emulated = compute_elementwise(lambda a, b: a.alu(op, b), x, y, types=types, lower=_lower)
    if op not in COMPARE:
        native, emulated = (from_storage(v, dtype) for v in (native, emulated))
    assert np.array_equal(native, emulated, equal_nan=op not in COMPARE)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_square_roots_of_all_values(dtype: DType) -> None:
    x = _every_value(dtype)
    native = compute_elementwise(lambda a: a.sqrt(), x, types=[dtype])
    emulated = compute_elementwise(lambda a: a.sqrt(), x, types=[dtype], lower=_lower)
    assert np.array_equal(from_storage(native, dtype), from_storage(emulated, dtype), equal_nan=True)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("other", [d for d in STORABLE if d not in SMALL], ids=str)
def test_casts_from_and_to_every_type_round_once(dtype: DType, other: DType) -> None:
    x = _every_value(dtype)
    finite = np.abs(_as_float64(x, dtype)) < 100
    out = compute_elementwise(lambda a: a.cast(other), x[finite], types=[dtype])
    assert np.array_equal(
        out, compute_elementwise(lambda a: a.cast(other), x[finite], types=[dtype], lower=_lower)
    )
    wide = np.random.default_rng(0).integers(0, 256, 8 * 20000, dtype=np.uint8).view(to_numpy(other))
    if other is dtypes.bool:
        wide = np.array([False, True])
    native = compute_elementwise(lambda a: a.cast(dtype), wide)
    emulated = compute_elementwise(lambda a: a.cast(dtype), wide, lower=_lower)
    assert np.array_equal(from_storage(native, dtype), from_storage(emulated, dtype), equal_nan=True)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_float64_beside_a_tie_is_not_rounded_twice(dtype: DType) -> None:
    values = _as_float64(_every_value(dtype), dtype)
    values = np.unique(values[np.isfinite(values)])
    ties = (values[:-1] + values[1:]) / 2
    near = np.concatenate([np.nextafter(ties, -np.inf), ties, np.nextafter(ties, np.inf)])
    emulated = compute_elementwise(lambda a: a.cast(dtype), near, lower=_lower)
    expected = (
        near.astype(np.float16) if dtype is dtypes.float16 else to_storage(round_to_bfloat16(near), dtype)
    )
    assert np.array_equal(emulated, expected)


@pytest.mark.parametrize("source", [dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64], ids=str)
def test_integers_beside_a_tie_are_not_rounded_twice_and_need_no_float64(source: DType) -> None:
    def lower(sink: UOp) -> UOp:
        lowered = _lower(sink)
        assert dtypes.float64 not in {u.dtype.scalar() for u in lowered.toposort()}
        return lowered

    bits = source.itemsize * 8
    # eight digits, then half of the last, at each place where they fit
    ties = [(2 * digits + 1) << place for digits in range(128, 256) for place in range(bits - 9)]
    near = [tie + step for tie in ties for step in (-1, 0, 1)] + [0, 1, (1 << bits - 1) - 1]
    if source.kind == "int":
        near = [value for value in near if value < 1 << bits - 1]
        near += [-value for value in near] + [-(1 << bits - 1)]
    else:
        near += [(1 << bits) - 1]

    def nearest(value: int) -> float:
        size = abs(value)
        unit = max(0, size.bit_length() - 8)
        rounded = round(Fraction(size, 1 << unit)) << unit  # to even where it is a tie
        return math.copysign(rounded, value)

    x = np.array(near, dtype=to_numpy(source))
    got = compute_elementwise(lambda a: a.cast(dtypes.bfloat16), x, lower=lower)
    assert from_storage(got, dtypes.bfloat16).tolist() == [nearest(value) for value in near]


def test_choosing_needs_no_arithmetic_and_stays() -> None:
    x = UOp(Ops.DEFINE_VAR, dtypes.float16, (), ("x", 0, 1))
    cond = UOp(Ops.DEFINE_VAR, dtypes.bool, (), ("c", 0, 1))
    node = cond.where(x, x.const_like(2.0))
    assert decompose(node, STORED_ONLY) is node


def test_types_that_the_target_computes_with_stay() -> None:
    x = UOp(Ops.DEFINE_VAR, dtypes.float16, (), ("x", 0, 1))
    assert decompose(x + x, CAPABILITIES) is x + x


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_vectors_are_widened_as_vectors(dtype: DType) -> None:
    x = _every_value(dtype)
    plain = compute_elementwise(lambda a: a + a, x, types=[dtype], lower=_lower)
    vector = compute_elementwise(lambda a: a + a, x, types=[dtype], lanes=4, lower=_lower)
    assert np.array_equal(plain.view(np.uint16), vector.view(np.uint16))


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_reductions_are_widened_as_a_whole(dtype: DType) -> None:
    r = UOp.range(8, 0)
    value = UOp(Ops.PARAM, dtype, (), (1, 8)).index(r).load()
    lowered = decompose(UOp.sink(value.reduce(Ops.MAX, r)), STORED_ONLY)
    (out,) = lowered.src
    assert (out.op, out.dtype, out.src[0].op, out.src[0].dtype) == (
        Ops.CAST,
        dtype,
        Ops.REDUCE,
        dtypes.float32,
    )
