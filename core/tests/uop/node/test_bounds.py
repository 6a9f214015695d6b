import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from plugrad.dtype import dtype_max, dtype_min, dtypes
from plugrad.uop.node.bounds import INDEX_MAX, INDEX_MIN
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

INTERVALS = [(0, 3), (-3, 2), (-5, -2), (1, 4), (0, 0), (-1, -1), (5, 7)]
BINARY = [
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD, Ops.MAX,
    Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR,
]  # fmt: skip


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", [dtypes.index, dtypes.int32, dtypes.int8])
def test_bounds_hold_every_value(op: Ops, dtype: Any) -> None:
    from plugrad.uop.fold import evaluate

    for (a0, a1), (b0, b1) in itertools.product(INTERVALS, INTERVALS):
        a, b = UOp.variable("a", a0, a1, dtype), UOp.variable("b", b0, b1, dtype)
        u = a.alu(op, b)
        values = [evaluate(op, u.dtype, (p, q)) for p in range(a0, a1 + 1) for q in range(b0, b1 + 1)]
        known = [v for v in values if v is not None]
        assert all(u.vmin <= v <= u.vmax for v in known), (
            f"{op} of {(a0, a1)}, {(b0, b1)}: {u.bounds}, {known}"
        )
        exact = op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CMPLT) and dtype is not dtypes.int8
        if exact and op is not Ops.MUL:
            assert (u.vmin, u.vmax) == (min(known), max(known))


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint8])
def test_bounds_that_leave_the_dtype_wrap_to_everything(dtype: Any) -> None:
    v = UOp.variable("v", 0, 100, dtype)
    assert (v * 3).bounds == (dtype_min(dtype), dtype_max(dtype))
    assert (v + 20).bounds == (20, 120)
    assert (-UOp.variable("v", 0, 100, dtypes.uint8)).bounds == (0, 255)


def test_bounds_of_bool_are_bools() -> None:
    p = UOp.variable("p", 0, 5) < 3
    for u, expected in [
        (p, (False, True)),
        (p & False, (False, False)),
        (p | True, (True, True)),
        (~p, (False, True)),
        (p ^ p, (False, True)),
    ]:
        assert u.bounds == expected
        assert all(type(b) is bool for b in u.bounds)


@pytest.mark.parametrize("dtype", [dtypes.index, dtypes.int32])
def test_bounds_of_unary_and_choice(dtype: Any, compute: Callable[..., Any]) -> None:
    v, w = UOp.variable("v", -3, 4, dtype), UOp.variable("w", 2, 6, dtype)
    assert (v.alu(Ops.NEG)).bounds == (-4, 3)
    assert (~v).bounds == (-5, 2)
    assert (v < w).where(v, w).bounds == (-3, 6)
    assert (w < 2).where(v, w).bounds == (2, 6)
    assert (v < 0).where(v.const_like(8), v).bounds == (0, 8)
    assert (v < 2).where(v, w).bounds == (-3, 6)
    assert (v < 2).where(v, v.const_like(-9)).bounds == (-9, 1)
    assert v.cast(dtypes.int64).bounds == (-3, 4)
    assert v.cast(dtypes.uint8).bounds == (0, 255)
    assert v.cast(dtypes.float32).vmin == -math.inf


def test_bounds_of_leaves() -> None:
    assert UOp.range(5, 0).bounds == (0, 4)
    assert UOp.range(UOp.variable("n", 1, 9), 0).bounds == (0, 8)
    assert UOp(Ops.SPECIAL, dtypes.int32, (UOp.const(dtypes.int32, 8),), "gidx0").bounds == (0, 7)
    assert UOp.iota(7).bounds == (0, 6)
    assert UOp.variable("n", 2, 9).bind(5).bounds == (5, 5)
    assert UOp.const(dtypes.float32, 2.5).bounds == (2.5, 2.5)
    assert UOp.const(dtypes.float32, math.nan).bounds == (-math.inf, math.inf)
    load = UOp(Ops.PARAM, dtypes.uint8, (), (0, 4)).index(UOp.range(4, 0)).load()
    assert load.bounds == (0, 255)
    assert UOp(Ops.LOAD, dtypes.index, ()).bounds == (INDEX_MIN, INDEX_MAX)


def test_bounds_of_vectors_hold_every_lane() -> None:
    a, b = UOp.const(dtypes.int32, 3), UOp.variable("b", 5, 8, dtypes.int32)
    vector = UOp(Ops.VECTORIZE, dtypes.int32.vec(2), (a, b))
    assert vector.bounds == (3, 8)
    assert vector.gep(0).bounds == (3, 8)
    assert (vector + UOp.const(dtypes.int32.vec(2), 1)).bounds == (4, 9)


def test_comparisons_of_floats_are_open_unless_constant() -> None:
    x = UOp(Ops.PARAM, dtypes.float32, (), (0, 4)).index(UOp.range(4, 0)).load()
    assert (x < math.inf).bounds == (False, True)
    assert x.eq(x).bounds == (False, True)
    assert (UOp.const(dtypes.float32, 1) < UOp.const(dtypes.float32, 2)).bounds == (True, True)


def test_comparisons_of_complex_numbers_are_open() -> None:
    """Positions of elements that are not zero are found in graphs whose complex numbers are whole."""
    x = UOp.variable("x", 0, 3, dtypes.int32).cast(dtypes.complex64)
    for compared in (x.ne(UOp.const(dtypes.complex64, 0j)), x.eq(UOp.const(dtypes.complex64, 1 + 2j))):
        assert compared.bounds == (False, True)


def test_bounds_of_a_choice_of_floats_are_open() -> None:
    x = UOp.variable("v", -3, 4, dtypes.int32).cast(dtypes.float32)
    assert (x < 1.5).where(x, x.const_like(0.0)).vmin == -math.inf
