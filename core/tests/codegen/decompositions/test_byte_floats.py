"""Tests of plugrad.codegen.decompositions.byte_floats, and of arithmetic around it, as codegen lowers it."""

from typing import Any

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import byte_floats, decompose
from plugrad.dtype import FLOAT8, DType, dtypes
from plugrad.uop.ops import COMPARE, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise, elementwise_kernel

Array = np.ndarray[Any, Any]
CODES = np.arange(256, dtype=np.uint8)


def _lower(sink: UOp) -> UOp:
    lowered = decompose(sink, CAPABILITIES)
    assert all(u.dtype.scalar() not in FLOAT8 for u in lowered.toposort())
    return lowered


def _numbers(codes: Array, dtype: DType) -> Array:
    return np.array([FLOAT8[dtype].decode(int(code)) for code in codes])


def _nearest(values: Array, dtype: DType) -> Array:
    return np.array([FLOAT8[dtype].encode(float(v)) for v in values], np.uint8)


def _assert_same(got: Array, expected: Array, dtype: DType) -> None:
    """Compare codes, but all those of NaN are one."""
    both_nan = np.isnan(_numbers(got, dtype)) & np.isnan(_numbers(expected, dtype))
    np.testing.assert_array_equal(got[~both_nan], expected[~both_nan])


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_all_numbers_come_back_as_float32(dtype: DType) -> None:
    out = compute_elementwise(
        lambda x: x.bitcast(dtype).cast(dtypes.float32), CODES, types=[dtypes.uint8], lower=_lower
    )
    expected = _numbers(CODES, dtype)
    np.testing.assert_array_equal(out, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(expected[known]))


@pytest.mark.parametrize(
    "source", [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]
)
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_casts_from_every_type_round_once(dtype: DType, source: type) -> None:
    x = (
        np.random.default_rng(0)
        .integers(0, 256, 4000 * np.dtype(source).itemsize, dtype=np.uint8)
        .view(source)
    )
    if source is np.bool_:
        x = np.array([False, True])
    if np.dtype(source).kind == "f":
        numbers = _numbers(CODES, dtype)
        numbers = np.unique(numbers[np.isfinite(numbers)])
        ties = (numbers[1:] + numbers[:-1]) / 2
        with np.errstate(all="ignore"):
            ties = np.concatenate(
                [numbers, ties, ties * 1.0001, [np.inf, -np.inf, np.nan, 0.0, -0.0]]
            ).astype(source)
        x = np.concatenate([x, ties, np.nextafter(ties, source(np.inf)), np.nextafter(ties, source(-np.inf))])
    out = compute_elementwise(lambda a: a.cast(dtype).bitcast(dtypes.uint8), x, lower=_lower)
    with np.errstate(all="ignore"):
        _assert_same(out, _nearest(x.astype(np.float64), dtype), dtype)


def _pair(op: Ops, dtype: DType) -> Any:
    def build(a: UOp, b: UOp) -> UOp:
        out = a.bitcast(dtype).alu(op, b.bitcast(dtype))
        return out if op in COMPARE else out.bitcast(dtypes.uint8)

    return build


_EXACT = {
    Ops.ADD: np.add,
    Ops.SUB: np.subtract,
    Ops.MUL: np.multiply,
    Ops.FDIV: np.divide,
    Ops.MAX: np.maximum,
    Ops.CMPLT: np.less,
    Ops.CMPNE: np.not_equal,
    Ops.CMPEQ: np.equal,
}


@pytest.mark.parametrize("op", _EXACT, ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_arithmetic_is_rounded_from_the_exact_result(dtype: DType, op: Ops) -> None:
    x, y = np.repeat(CODES, 256), np.tile(CODES, 256)
    out = compute_elementwise(_pair(op, dtype), x, y, types=[dtypes.uint8] * 2, lower=_lower)
    with np.errstate(all="ignore"):
        exact = _EXACT[op](_numbers(x, dtype), _numbers(y, dtype))
    if op in COMPARE:
        np.testing.assert_array_equal(out, exact)
    else:
        _assert_same(out, _nearest(exact, dtype), dtype)


def test_memory_and_choices_are_of_bytes() -> None:
    sink, _ = elementwise_kernel(
        lambda x: (x < x.const_like(2.0)).where(x, x.const_like(2.0)), [dtypes.fp8e4m3], 256
    )
    params = [u for u in _lower(sink).toposort() if u.op is Ops.PARAM]
    assert {u.dtype for u in params} == {dtypes.uint8}
    assert UOp.const(dtypes.uint8, 0x40) in _lower(sink).toposort()


def test_reductions_are_in_float32_and_rounded_once() -> None:
    r = UOp.range(4, 0)
    value = UOp(Ops.PARAM, dtypes.fp8e5m2, (), (1, 4)).index(r).load()
    out = UOp(Ops.PARAM, dtypes.fp8e5m2, (), (0, 1)).index(UOp.const(dtypes.index, 0))
    lowered = _lower(UOp.sink(out.store(value.reduce(Ops.MAX, r))))
    assert [u.dtype for u in lowered.toposort() if u.op is Ops.REDUCE] == [dtypes.float32]


@pytest.mark.parametrize("lanes", [4, 16])
def test_vectors_give_what_scalars_give(lanes: int) -> None:
    def build(x: UOp) -> UOp:
        a = x.bitcast(dtypes.fp8e4m3.vec(x.dtype.count))
        return (a * a + a).bitcast(dtypes.uint8.vec(x.dtype.count))

    scalars = compute_elementwise(build, CODES, lower=_lower)
    np.testing.assert_array_equal(compute_elementwise(build, CODES, lanes=lanes, lower=_lower), scalars)


def test_a_kernel_without_them_is_left_alone() -> None:
    sink, _ = elementwise_kernel(lambda x: x + x, [dtypes.float32], 16)
    assert byte_floats.store_as_bytes(sink, CAPABILITIES) is sink
