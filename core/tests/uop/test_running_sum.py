"""Sums of what comes before a step are found, and nothing else is taken for one."""

import pytest

from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.running_sum import running_sum_of
from plugrad.uop.uop import UOp

SIZE = 40
J, L = UOp.range(SIZE, 0), UOp.range(SIZE, 1, AxisType.REDUCE)
BEFORE = L.cast(dtypes.int32) < J.cast(dtypes.int32)


def load(slot: int, at: UOp, dtype: DType = dtypes.uint8) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, SIZE)).index(at).load()


EQUAL = load(1, L).eq(load(1, J))
X = load(2, L, dtypes.int32)


def summed(condition: UOp, value: UOp = X) -> UOp:
    return condition.where(value, value.const_like(0)).reduce(Ops.ADD, L)


@pytest.mark.parametrize(
    "condition",
    [
        EQUAL & BEFORE,
        BEFORE & load(1, J).eq(load(1, L)),
        (L < J) & EQUAL,
        ~(J < L + 1) & EQUAL,
        (L + 2 < J + 2) & EQUAL,
        ~(~BEFORE | load(1, L).ne(load(1, J))),
    ],
)
def test_a_sum_of_equal_keys_before_a_step_is_a_running_one(condition: UOp) -> None:
    found = running_sum_of(summed(condition), (J,))
    assert found is not None
    assert (found.counter, found.key, found.value) == (J, load(1, J), load(2, J, dtypes.int32))
    assert found.keys == 256


def test_without_keys_there_is_one_total() -> None:
    found = running_sum_of(summed(BEFORE), (J,))
    assert found is not None
    assert (found.keys, found.key.op, found.value) == (1, Ops.CONST, load(2, J, dtypes.int32))


def test_a_maximum_of_what_comes_before_is_a_running_one() -> None:
    least = X.const_like(-(2**31))
    found = running_sum_of(BEFORE.where(X, least).reduce(Ops.MAX, L), (J,))
    assert found is not None
    assert (found.value, found.neutral) == (load(2, J, dtypes.int32), UOp.const(dtypes.int32, -(2**31)))
    assert running_sum_of(BEFORE.where(X, X.const_like(1)).reduce(Ops.MUL, L), (J,)) is None


def test_a_count_is_a_sum_of_ones_and_a_gate_a_choice_of_zero() -> None:
    found = running_sum_of((EQUAL & BEFORE).cast(dtypes.int32).reduce(Ops.ADD, L), (J,))
    assert found is not None
    assert found.value is UOp.const(dtypes.int32, 1)
    gate = load(3, L, dtypes.bool)
    found = running_sum_of(summed(EQUAL & gate & BEFORE), (J,))
    assert found is not None
    assert found.value is load(3, J, dtypes.bool).where(load(2, J, dtypes.int32), 0)


@pytest.mark.parametrize(
    "total",
    [
        summed(EQUAL),
        summed(EQUAL & ~(J.cast(dtypes.int32) < L.cast(dtypes.int32))),
        summed(EQUAL & (J.cast(dtypes.int32) < L.cast(dtypes.int32))),
        summed(EQUAL & (L + 1 < J)),
        summed(EQUAL & ~(J < L)),
        summed(load(1, L).eq(load(3, J)) & BEFORE),
        summed(load(1, L, dtypes.int16).eq(load(1, J, dtypes.int16)) & BEFORE),
        summed(EQUAL & BEFORE, load(2, J, dtypes.int32)),
        summed(EQUAL & BEFORE & load(3, J, dtypes.bool)),
        summed(EQUAL & BEFORE, load(2, L, dtypes.float32)),
        (EQUAL & BEFORE).where(X, 1).reduce(Ops.MUL, L),
    ],
    ids=[
        "no order",
        "up to a step",
        "behind a step",
        "not the one before",
        "up to a step, in other words",
        "two keys",
        "too many keys",
        "of the step itself",
        "gated by the step itself",
        "floats have an order",
        "a product",
    ],
)
def test_other_sums_are_none(total: UOp) -> None:
    assert running_sum_of(total, (J,)) is None


def test_a_step_that_is_no_loop_of_as_many_steps_counts_nothing() -> None:
    total = summed(EQUAL & BEFORE)
    for other in (UOp.range(SIZE + 1, 0), UOp.range(SIZE, 0, AxisType.GLOBAL), UOp.range(8, 0)):
        assert running_sum_of(total.substitute({J: other}), (other,)) is None


@pytest.mark.parametrize(("source", "is_found"), [(dtypes.float32, True), (dtypes.float64, False)])
def test_floats_have_running_sums_that_are_wider(source: DType, is_found: bool) -> None:
    value = load(2, L, source).cast(dtypes.float64)
    assert (running_sum_of(summed(BEFORE, value), (J,)) is not None) == is_found
