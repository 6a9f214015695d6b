"""Tests of plugrad.codegen.decompositions.arithmetic."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad.dtype import STORABLE, DType, dtypes, is_float, is_int, to_numpy
from plugrad.errors import DeviceError
from plugrad.target import Capabilities
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -2.75,
    math.inf,
    -math.inf,
    math.nan,
    8388609.5,
    3e38,
    -1e-42,
    1e-42,
]


def _without(*ops: str) -> Capabilities:
    return replace(CAPABILITIES, native_ops=CAPABILITIES.native_ops - set(ops))


def _lowerer(*ops: str) -> Callable[[UOp], UOp]:
    def lower(sink: UOp) -> UOp:
        lowered = decompose(sink, _without(*ops))
        assert not {u.op.name for u in lowered.toposort()} & set(ops)
        return simplify(lowered)

    return lower


def _pairs(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(EDGES, dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_max_gives_the_greater_and_nan_if_either_is(dtype: type) -> None:
    x, y = _pairs(dtype)
    got = compute_elementwise(lambda a, b: a.maximum(b), x, y, lower=_lowerer("MAX"))
    assert np.array_equal(got, np.maximum(x, y), equal_nan=True)


@pytest.mark.parametrize("dtype", [d for d in STORABLE if is_int(d)], ids=str)
def test_max_of_integers(dtype: DType) -> None:
    info = np.iinfo(to_numpy(dtype))
    x = np.array([info.min, 0, 3, info.max], to_numpy(dtype))
    got = compute_elementwise(lambda a, b: a.maximum(b), x, x[::-1].copy(), lower=_lowerer("MAX"))
    assert got.tolist() == np.maximum(x, x[::-1]).tolist()


def test_max_of_bools_is_or() -> None:
    x = UOp.const(dtypes.bool, True)
    y = UOp(Ops.DEFINE_VAR, dtypes.bool, (), ("y", 0, 1))
    assert decompose(y.maximum(x), _without("MAX")) is y | x


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_trunc_keeps_signs_of_zero_and_what_has_no_fraction(dtype: type) -> None:
    with np.errstate(over="ignore"):
        x = np.array([*EDGES, 2.0**31, -(2.0**40), 2.0**52 + 0.5, 1e300], dtype)
    got = compute_elementwise(lambda a: a.trunc(), x, lower=_lowerer("TRUNC"))
    assert np.array_equal(got, np.trunc(x), equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_square_root_is_within_one_ulp(dtype: type) -> None:
    rng = np.random.default_rng(0)
    tiny = float(np.finfo(dtype).smallest_subnormal)
    x = np.concatenate(
        [rng.uniform(0, 4, 20000), np.exp2(rng.uniform(-120, 120, 20000)), np.arange(100) * tiny]
    )
    x = x.astype(dtype)
    got = compute_elementwise(lambda a: a.sqrt(), x, lower=_lowerer("SQRT"))
    assert np.max(np.abs(got - np.sqrt(x)) / np.spacing(np.sqrt(x))) <= 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_square_roots_of_zeros_infinities_and_negative_numbers(dtype: type) -> None:
    x = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, -1.0, 4.0], dtype)
    got = compute_elementwise(lambda a: a.sqrt(), x, lower=_lowerer("SQRT"))
    assert np.array_equal(got, [0, -0.0, math.inf, math.nan, math.nan, math.nan, 2], equal_nan=True)
    assert np.signbit(got).tolist()[:2] == [False, True]


@pytest.mark.parametrize(
    "dtype", [d for d in STORABLE if d.kind in ("int", "uint")] + [dtypes.float32], ids=str
)
def test_subtraction_and_negation_come_from_addition_and_multiplication(dtype: DType) -> None:
    x = np.array([0, 1, 2, 100], to_numpy(dtype))
    y = np.array([3, 0, 2, 27], to_numpy(dtype))
    got = compute_elementwise(lambda a, b: a - b, x, y, lower=_lowerer("SUB", "NEG"))
    assert np.array_equal(got, x - y)


def test_negation_changes_the_sign_of_zero() -> None:
    got = compute_elementwise(lambda a: -a, np.zeros(1, np.float32), lower=_lowerer("NEG"))
    assert np.signbit(got[0])


def test_division_and_reciprocal_replace_each_other() -> None:
    x, y = np.array([3.0, 1.0, -1.0], np.float32), np.array([4.0, 0.0, 0.0], np.float32)
    expected = [0.75, math.inf, -math.inf]
    assert compute_elementwise(lambda a, b: a / b, x, y, lower=_lowerer("FDIV")).tolist() == expected
    assert compute_elementwise(lambda b: b.reciprocal(), y, lower=_lowerer("RECIP"))[0] == 0.25


def test_a_target_that_cannot_divide_at_all_is_refused() -> None:
    with pytest.raises(DeviceError, match="needs FDIV or RECIP"):
        decompose(UOp.sink(), _without("FDIV", "RECIP"))


def test_mulacc_becomes_a_product_and_a_sum() -> None:
    x = np.arange(4, dtype=np.float32)
    got = compute_elementwise(lambda a: a.mulacc(a, a), x, lower=_lowerer("MULACC"))
    assert got.tolist() == [0, 2, 6, 12]


def test_every_float_dtype_has_a_trunc_and_a_sqrt() -> None:
    for dtype in (d for d in STORABLE if is_float(d)):
        x = UOp(Ops.DEFINE_VAR, dtype, (), ("x", 0, 1))
        for node in (x.trunc(), x.sqrt()):
            ops = {u.op for u in decompose(node, _without("TRUNC", "SQRT")).toposort()}
            assert not ops & {Ops.TRUNC, Ops.SQRT}
