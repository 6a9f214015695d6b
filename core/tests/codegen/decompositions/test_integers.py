"""Tests of plugrad.codegen.decompositions.arithmetic: FLOORDIV, FLOORMOD and CMOD."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad.dtype import STORABLE, DType, dtypes, is_int, to_numpy
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise

INTS = [d for d in STORABLE if is_int(d)]
BARE = replace(CAPABILITIES, native_ops=CAPABILITIES.native_ops - {"FLOORDIV", "FLOORMOD", "CMOD"})
OPS = {Ops.FLOORDIV: lambda a, b: a // b, Ops.FLOORMOD: lambda a, b: a % b}


def _lower(sink: UOp) -> UOp:
    lowered = decompose(sink, BARE)
    assert not {u.op for u in lowered.toposort()} & {Ops.FLOORDIV, Ops.FLOORMOD, Ops.CMOD}
    return simplify(lowered)


def _pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    info = np.iinfo(to_numpy(dtype))
    values = {info.min, info.min + 1, info.min + 7, info.max, info.max - 1, *range(0, 20), 64, 100}
    values |= {-v for v in values if -v >= info.min}
    array = np.array(sorted(v for v in values if info.min <= v <= info.max), to_numpy(dtype))
    x, y = np.repeat(array, len(array)), np.tile(array, len(array))
    # the one quotient that leaves the type
    keep = (y != 0) & ~((x == info.min) & (y == -1) if info.min < 0 else np.zeros(len(x), bool))
    return x[keep], y[keep]


@pytest.mark.parametrize("dtype", INTS, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_division_rounds_down_for_all_signs(op: Ops, dtype: DType) -> None:
    x, y = _pairs(dtype)
    got = compute_elementwise(lambda a, b: a.alu(op, b), x, y, lower=_lower)
    assert got.tolist() == [OPS[op](int(a), int(b)) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 64, 100, -1, -2, -3, -8])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.int32, dtypes.int64], ids=str)
def test_division_by_a_constant_rounds_down(dtype: DType, divisor: int) -> None:
    x = _pairs(dtype)[0][1:]
    x = x[x != np.iinfo(x.dtype).min]
    for op, exact in OPS.items():
        got = compute_elementwise(lambda a, op=op: a.alu(op, a.const_like(divisor)), x, lower=_lower)
        assert got.tolist() == [exact(int(a), divisor) for a in x]


def test_c_remainder_has_the_sign_of_the_dividend() -> None:
    x, y = np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])
    got = compute_elementwise(lambda a, b: a.alu(Ops.CMOD, b), x, y, lower=_lower)
    assert got.tolist() == [1, -1, 1, -1]


def test_vectors_divide_lane_by_lane() -> None:
    x, y = np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])
    got = compute_elementwise(lambda a, b: a // b, x, y, lanes=4, lower=_lower)
    assert got.tolist() == [2, -3, -3, 2]


def test_powers_of_two_become_shifts_and_masks() -> None:
    x = UOp.variable("x", -100, 100, dtypes.int32)
    assert decompose(x // 8, BARE) is x >> 3
    assert decompose(x % 8, BARE) is x & 7


def test_division_of_numbers_known_not_to_be_negative_needs_no_correction() -> None:
    x, y = UOp.variable("x", 0, 100), UOp.variable("y", 1, 5)
    assert decompose(x // 3, BARE) is x.alu(Ops.CDIV, x.const_like(3))
    assert decompose(x // y, BARE) is x.alu(Ops.CDIV, y)
    with_remainder = replace(BARE, native_ops=BARE.native_ops | {"CMOD"})
    assert decompose(x % 3, with_remainder) is x.alu(Ops.CMOD, x.const_like(3))


def test_what_is_native_stays() -> None:
    x = UOp.variable("x", -100, 100)
    assert decompose(x // 3, CAPABILITIES) is x // 3
