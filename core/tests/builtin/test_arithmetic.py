"""Tests of plugrad.builtin.arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.builtin.arithmetic import bitcast, cast, function, round_to_bfloat16
from plugrad.dtype import (
    STORABLE,
    DType,
    dtypes,
    is_bool,
    is_float,
    is_int,
    round_bfloat16,
    to_numpy,
    truncate,
)
from plugrad.errors import DeviceError
from plugrad.uop.ops import Ops
from plugrad_conformance.testing.elementwise import compute_elementwise

INTS = [d for d in STORABLE if is_int(d)]
SIGNED = [d for d in INTS if d.kind == "int"]


def _edges(dtype: DType) -> np.ndarray:
    info = np.iinfo(to_numpy(dtype))
    values = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 100]
    return np.array(values + [-v for v in (1, 2, 3, 7, 100)] * (info.min < 0), to_numpy(dtype))


def _pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    edges = _edges(dtype)
    return np.repeat(edges, len(edges)), np.tile(edges, len(edges))


@pytest.mark.parametrize("dtype", INTS, ids=str)
@pytest.mark.parametrize("op", [Ops.ADD, Ops.SUB, Ops.MUL])
def test_integers_wrap(op: Ops, dtype: DType) -> None:
    x, y = _pairs(dtype)
    got = compute_elementwise(lambda a, b: a.alu(op, b), x, y)
    exact = {Ops.ADD: int.__add__, Ops.SUB: int.__sub__, Ops.MUL: int.__mul__}[op]
    assert got.tolist() == [truncate(exact(int(a), int(b)), dtype) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_division_rounds_as_python_or_as_c(dtype: DType) -> None:
    x, y = _pairs(dtype)
    x, y = x[y != 0], y[y != 0]
    ints = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    got = {op: compute_elementwise(lambda a, b, op=op: a.alu(op, b), x, y).tolist() for op in _DIVISIONS}
    for op, exact in _DIVISIONS.items():
        assert got[op] == [truncate(exact(a, b), dtype) for a, b in ints]


def _c_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_DIVISIONS = {
    Ops.FLOORDIV: lambda a, b: a // b,
    Ops.FLOORMOD: lambda a, b: a % b,
    Ops.CDIV: _c_quotient,
    Ops.CMOD: lambda a, b: a - b * _c_quotient(a, b),
}


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_division_by_zero_gives_zero(dtype: DType) -> None:
    x = _edges(dtype)
    for op in _DIVISIONS:
        assert not compute_elementwise(lambda a, b, op=op: a.alu(op, b), x, np.zeros_like(x)).any()


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_shifting_right_keeps_the_sign(dtype: DType) -> None:
    x = _edges(dtype)
    got = compute_elementwise(lambda a: a >> 3, x)
    assert got.tolist() == [int(v) >> 3 for v in x]


def test_shifting_by_the_width_shifts_everything_out() -> None:
    x = np.array([-5, 5], np.int32)
    assert compute_elementwise(lambda a: a << 32, x).tolist() == [0, 0]
    assert compute_elementwise(lambda a: a >> 32, x).tolist() == [-1, 0]


def test_max_gives_nan_if_either_is() -> None:
    nan = math.nan
    got = compute_elementwise(
        lambda a, b: a.maximum(b),
        np.array([nan, 1, nan, 2], np.float32),
        np.array([1, nan, nan, 3], np.float32),
    )
    assert np.array_equal(got, [nan, nan, nan, 3], equal_nan=True)


def test_float32_is_never_computed_in_float64() -> None:
    x = np.full(1, 1 + 2.0**-23, np.float32)
    got = compute_elementwise(lambda a: a * a - 1.0, x)
    assert got[0] == np.float32(x[0] * x[0]) - np.float32(1)


def test_mulacc_rounds_once() -> None:
    x = np.full(1, 1 + 2.0**-12, np.float32)
    got = compute_elementwise(lambda a: a.mulacc(a, a.const_like(-1 - 2.0**-11)), x)
    assert got[0] == 2.0**-24


@pytest.mark.parametrize("target", INTS, ids=str)
def test_a_float_is_truncated_to_an_integer_and_wraps(target: DType) -> None:
    x = np.array([-2.9, -0.5, 0.5, 2.9, 127.9, 255.5, 65536.25, 2.0**40 + 5])
    got = compute_elementwise(lambda a: a.cast(target), x)
    assert got.tolist() == [truncate(math.trunc(v), target) for v in x]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30])
def test_a_float_outside_int64_becomes_the_lowest(value: float) -> None:
    assert compute_elementwise(lambda a: a.cast(dtypes.int64), np.array([value]))[0] == -(2**63)
    assert compute_elementwise(lambda a: a.cast(dtypes.int32), np.array([value]))[0] == 0


def test_a_float_above_int64_still_fits_uint64() -> None:
    x = np.array([2.0**63, 2.0**64 - 2048, -1.0])
    got = compute_elementwise(lambda a: a.cast(dtypes.uint64), x)
    assert got.tolist() == [2**63, 2**64 - 2048, 2**64 - 1]


@pytest.mark.parametrize("dtype", STORABLE, ids=str)
def test_casting_to_bool_asks_whether_a_value_differs_from_zero(dtype: DType) -> None:
    x = np.array([0, 1]) if dtype is dtypes.bfloat16 else np.array([0, 1], to_numpy(dtype))
    x = np.array([0, 0x3F80], np.uint16) if dtype is dtypes.bfloat16 else x
    got = compute_elementwise(lambda a: a.cast(dtypes.bool), x, types=[dtype])
    assert got.tolist() == [False, True]


def test_all_float16_round_trip_through_float32() -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    got = compute_elementwise(lambda a: a.cast(dtypes.float32).cast(dtypes.float16), x)
    assert np.array_equal(got, x, equal_nan=True)


@given(st.floats(width=64))
def test_rounding_float64_to_bfloat16_rounds_once(value: float) -> None:
    with np.errstate(all="ignore"):
        got = float(round_to_bfloat16(np.array([value]))[0])
    expected = round_bfloat16(value)
    assert got == expected or (math.isnan(got) and math.isnan(expected))


@given(st.integers(0, 0xFFFF), st.sampled_from([-1, 0, 1]))
def test_ties_just_missed_in_float64_go_the_right_way(high_bits: int, nudge: int) -> None:
    with np.errstate(invalid="ignore"):  # some of the bits are signaling NaNs
        single = np.array([(high_bits << 16) | 0x8000], np.uint32).view(np.float32).astype(np.float64)
    value = single if nudge == 0 or not np.isfinite(single[0]) else np.nextafter(single, nudge * np.inf)
    with np.errstate(all="ignore"):
        got = float(round_to_bfloat16(value)[0])
    expected = round_bfloat16(float(value[0]))
    assert got == expected or (math.isnan(got) and math.isnan(expected))


def test_bfloat16_arithmetic_rounds_after_each_op() -> None:
    x = np.array([0x3F81], np.uint16)  # 1 + 2**-7
    got = compute_elementwise(lambda a: a * a, x, types=[dtypes.bfloat16])
    assert got[0] == 0x3F82


@pytest.mark.parametrize("dtype", [d for d in STORABLE if not is_bool(d)], ids=str)
def test_bits_survive_a_bitcast_there_and_back(dtype: DType) -> None:
    bits = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}[dtype.itemsize]
    x = np.array([0, 1, 0x41, 0x3F], to_numpy(bits))
    got = compute_elementwise(lambda a: a.bitcast(dtype).bitcast(bits), x)
    assert got.tolist() == x.tolist()


def test_a_bitcast_may_regroup_lanes() -> None:
    join = bitcast(dtypes.uint8.vec(4), dtypes.uint32)
    split = bitcast(dtypes.uint32, dtypes.uint8.vec(4))
    four = np.array([[1, 2, 3, 4]], np.uint8)
    assert join(four).tolist() == [0x04030201]
    assert split(join(four)).tolist() == four.tolist()


def test_what_devices_decompose_is_refused_by_name() -> None:
    with pytest.raises(DeviceError, match="PYTHON has no EXP2"):
        function(Ops.EXP2, dtypes.float32, (dtypes.float32,))


def test_casts_keep_the_target_type_of_every_pair() -> None:
    for source in STORABLE:
        for target in STORABLE:
            array = np.ones(1, np.float32 if source is dtypes.bfloat16 else to_numpy(source))
            out = cast(source, target)(array)
            assert out[0] == 1
            assert out.dtype == (np.float32 if target is dtypes.bfloat16 else to_numpy(target))
            assert is_float(target) == (out.dtype.kind == "f")
