import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.renderer.facts import addresses, group_size, half_bits, is_safe_divisor, may_overflow
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

n, i = UOp.variable("n", -9, 9, dtypes.int32), UOp.range(8, 0)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 1 / 3, 65504.0, 1e-8, float("inf"), float("nan")])
def test_half_bits_are_numpys(value: float) -> None:
    got = np.array([half_bits(dtypes.float16, value)], np.uint16).view(np.float16)
    np.testing.assert_array_equal(got, np.array([value], np.float16))


def test_bfloat16_keeps_the_upper_half_of_a_float() -> None:
    assert half_bits(dtypes.bfloat16, -2.0) == 0xC000


def lidx(axis: int, size: UOp) -> UOp:
    return UOp(Ops.SPECIAL, dtypes.index, (size,), f"lidx{axis}")


def test_a_group_is_the_product_of_its_sizes() -> None:
    assert group_size([lidx(0, i.const_like(8)), lidx(1, i.const_like(4))]) == 32
    assert group_size([]) == 1


def test_a_group_of_unknown_size_may_be_the_largest() -> None:
    assert group_size([lidx(0, UOp.variable("m", 1, 8))], 256) == 256


def test_what_is_stored_is_no_address() -> None:
    place, value = i * 4, i + 1
    buffer = UOp(Ops.PARAM, dtypes.int64, (), (0, 32))
    store = buffer.index(place).store(value.cast(dtypes.int64))
    known = addresses(list(store.toposort()))
    assert place in known
    assert value not in known


def test_signed_arithmetic_may_overflow_and_unsigned_wraps() -> None:
    assert may_overflow(n * 2, set())
    assert not may_overflow(n * 2, {n * 2})
    assert not may_overflow(n.cast(dtypes.uint32) * 2, set())
    assert may_overflow(n.cast(dtypes.uint16) * 2, set())


@pytest.mark.parametrize(("divisor", "safe"), [(3, True), (-2, True), (0, False), (-1, False)])
def test_division_is_defined_for_other_constants_than_0_and_minus_1(divisor: int, safe: bool) -> None:
    assert is_safe_divisor(n.const_like(divisor)) is safe


def test_a_variable_divisor_is_not_safe() -> None:
    assert not is_safe_divisor(n)
