import math
from typing import Any

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.uop.fold import convert, evaluate, holds_exactly, reinterpret
from plugrad.uop.ops import ALU, BINARY, UNARY, Ops

INT_DTYPES = [
    dtypes.int8,
    dtypes.uint8,
    dtypes.int16,
    dtypes.int32,
    dtypes.uint32,
    dtypes.int64,
    dtypes.uint64,
]
FLOAT_VALUES = [0.0, -0.0, 1.0, -1.5, 3.25, 1e-40, 1e38, -1e38, math.inf, -math.inf, math.nan]


def same(a: Any, b: Any) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("dtype", INT_DTYPES)
def test_integer_arithmetic_wraps_as_numpy(dtype: Any) -> None:
    low, high = np.iinfo(dtype.name).min, np.iinfo(dtype.name).max
    values = [low, low + 1, -1 if low else 7, 0, 1, 2, 5, high // 2, high - 1, high]
    functions: dict[Ops, Any] = {
        Ops.ADD: np.add,
        Ops.SUB: np.subtract,
        Ops.MUL: np.multiply,
        Ops.AND: np.bitwise_and,
        Ops.OR: np.bitwise_or,
        Ops.XOR: np.bitwise_xor,
        Ops.MAX: np.maximum,
        Ops.CMPLT: np.less,
        Ops.CMPEQ: np.equal,
        Ops.CMPNE: np.not_equal,
    }
    for op, function in functions.items():
        out = dtypes.bool if op in (Ops.CMPLT, Ops.CMPEQ, Ops.CMPNE) else dtype
        for a in values:
            for b in values:
                with np.errstate(all="ignore"):
                    expected = function(np.array([a], dtype.name), np.array([b], dtype.name))[0]
                assert evaluate(op, out, (a, b)) == expected


def test_division_rounds_down_or_towards_zero() -> None:
    cases = {Ops.FLOORDIV: -4, Ops.FLOORMOD: 1, Ops.CDIV: -3, Ops.CMOD: -1}
    for op, expected in cases.items():
        assert evaluate(op, dtypes.int32, (-7, 2)) == expected
        assert evaluate(op, dtypes.int32, (-7, 0)) is None
    assert evaluate(Ops.CMOD, dtypes.int32, (7, -2)) == 1
    assert evaluate(Ops.CDIV, dtypes.int8, (-128, -1)) == -128


def test_shift_by_the_width_is_undefined() -> None:
    assert evaluate(Ops.SHL, dtypes.int32, (1, 31)) == -(1 << 31)
    assert evaluate(Ops.SHL, dtypes.int32, (1, 32)) is None
    assert evaluate(Ops.SHR, dtypes.int8, (-128, 7)) == -1
    assert evaluate(Ops.SHR, dtypes.uint8, (128, 8)) is None


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.float32, dtypes.float64])
def test_float_arithmetic_rounds_as_numpy(dtype: Any) -> None:
    functions = {Ops.ADD: np.add, Ops.SUB: np.subtract, Ops.MUL: np.multiply, Ops.FDIV: np.divide}
    scalar = np.dtype(dtype.name).type
    with np.errstate(all="ignore"):
        values = [float(scalar(v)) for v in [*FLOAT_VALUES, 0.1, 1 / 3, 65504.0, 6e-8]]
        for op, function in functions.items():
            for a in values:
                for b in values:
                    result = evaluate(op, dtype, (a, b))
                    assert result is not None
                    assert same(result, float(function(scalar(a), scalar(b)))), (op, a, b)
        for op, one in {
            Ops.SQRT: np.sqrt,
            Ops.NEG: np.negative,
            Ops.TRUNC: np.trunc,
            Ops.RECIP: lambda v: scalar(1) / v,
        }.items():
            for a in values:
                result = evaluate(op, dtype, (a,))
                assert result is not None
                assert same(result, float(one(scalar(a)))), (op, a)


def test_transcendental_functions_take_their_limits() -> None:
    assert evaluate(Ops.EXP2, dtypes.float32, (3.0,)) == 8
    assert evaluate(Ops.EXP2, dtypes.float32, (200.0,)) == math.inf
    assert evaluate(Ops.EXP2, dtypes.float32, (-math.inf,)) == 0
    assert evaluate(Ops.LOG2, dtypes.float32, (8.0,)) == 3
    assert evaluate(Ops.LOG2, dtypes.float32, (0.0,)) == -math.inf
    assert evaluate(Ops.POW, dtypes.float32, (0.0, -1.0)) == math.inf
    for op, value in ((Ops.LOG2, -1.0), (Ops.SIN, math.inf), (Ops.SQRT, -1.0)):
        result = evaluate(op, dtypes.float32, (value,))
        assert result is not None
        assert math.isnan(result)


def test_max_gives_nan_if_either_is() -> None:
    for pair in ((math.nan, 1.0), (1.0, math.nan)):
        result = evaluate(Ops.MAX, dtypes.float32, pair)
        assert result is not None
        assert math.isnan(result)


def test_bool_sums_and_products_are_or_and_and() -> None:
    for a in (False, True):
        for b in (False, True):
            assert evaluate(Ops.ADD, dtypes.bool, (a, b)) is (a or b)
            assert evaluate(Ops.MUL, dtypes.bool, (a, b)) is (a and b)
            assert evaluate(Ops.MAX, dtypes.bool, (a, b)) is (a or b)


def test_every_alu_op_but_threefry_is_evaluated() -> None:
    for op in ALU - {Ops.THREEFRY}:
        values = (1,) if op in UNARY else (1, 1) if op in BINARY else (True, 1, 1)
        assert evaluate(op, dtypes.int32, values) is not None, op


def test_cast_of_constants() -> None:
    assert convert(2.9, dtypes.float32, dtypes.int32) == 2
    assert convert(-2.9, dtypes.float32, dtypes.int32) == -2
    assert convert(math.nan, dtypes.float32, dtypes.int32) is None
    assert convert(1e10, dtypes.float32, dtypes.int32) is None
    assert convert(-1.0, dtypes.float32, dtypes.uint8) is None
    assert convert(300, dtypes.int32, dtypes.uint8) == 44
    assert convert(0.5, dtypes.float32, dtypes.bool) is True
    assert convert(True, dtypes.bool, dtypes.float32) == 1.0


def test_large_integer_is_rounded_to_float32_once() -> None:
    value = (1 << 60) + (1 << 36) + 1
    assert convert(value, dtypes.int64, dtypes.float32) == float(np.float32(np.int64(value)))
    rng = np.random.default_rng(0)
    for number in rng.integers(-(2**63), 2**63, 2000):
        assert convert(int(number), dtypes.int64, dtypes.float32) == float(np.float32(number))
        assert convert(int(number), dtypes.int64, dtypes.float64) == float(np.float64(number))


def test_bitcast_of_constants() -> None:
    assert reinterpret(1.0, dtypes.float32, dtypes.uint32) == 0x3F800000
    assert reinterpret(1.0, dtypes.bfloat16, dtypes.uint16) == 0x3F80
    assert reinterpret(0x3F80, dtypes.uint16, dtypes.bfloat16) == 1.0
    assert reinterpret(-1, dtypes.int8, dtypes.uint8) == 255
    assert reinterpret(0x7FC00001, dtypes.uint32, dtypes.float32) is None
    assert reinterpret(math.nan, dtypes.float32, dtypes.uint32) is None


def test_lossless_casts_are_those_that_numpy_calls_safe() -> None:
    named = [dtypes.bool, *INT_DTYPES, dtypes.uint16, dtypes.float16, dtypes.float32, dtypes.float64]
    for a in named:
        for b in named:
            safe = np.can_cast(a.name, b.name, "safe")
            # numpy calls 64-bit integers safe in float64, which has 53 bits
            if a.name in ("int64", "uint64") and b is dtypes.float64:
                safe = False
            assert holds_exactly(a, b) is safe, (a, b)
    assert holds_exactly(dtypes.bfloat16, dtypes.float32)
    assert not holds_exactly(dtypes.bfloat16, dtypes.float16)
    assert not holds_exactly(dtypes.float16, dtypes.bfloat16)
    assert not holds_exactly(dtypes.index, dtypes.int32)


def test_constants_of_floats_of_a_byte_are_folded() -> None:
    assert evaluate(Ops.ADD, dtypes.fp8e4m3, (1.0, 0.0625)) == 1.0
    assert convert(1000, dtypes.int32, dtypes.fp8e5m2) == 1024.0
    assert reinterpret(1.0, dtypes.fp8e4m3, dtypes.uint8) == 0x38
    assert reinterpret(0x38, dtypes.uint8, dtypes.fp8e4m3) == 1.0
    assert reinterpret(0x7F, dtypes.uint8, dtypes.fp8e4m3) is None


def test_a_float_of_a_byte_is_held_by_wider_floats_only() -> None:
    assert holds_exactly(dtypes.fp8e5m2fnuz, dtypes.float16)
    assert holds_exactly(dtypes.fp8e4m3, dtypes.bfloat16)
    assert not holds_exactly(dtypes.fp8e5m2, dtypes.fp8e4m3)
    assert not holds_exactly(dtypes.float16, dtypes.fp8e4m3)
    assert not holds_exactly(dtypes.int8, dtypes.fp8e4m3)
