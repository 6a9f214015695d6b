"""Conditions are solved for a range, however they are written."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrad.dtype import DType, dtype_min, dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.range_elimination import eliminate_ranges, guard_of, scatter_of, solve
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, storage_of, values_of

SIZE, COUNT = 6, 10


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def const(value: float, dtype: DType = dtypes.float32) -> UOp:
    return UOp.const(dtype, value)


FALSE = const(False, dtypes.bool)
ROW, STEP = UOp.range(COUNT, 0), UOp.range(SIZE, 2, AxisType.REDUCE)
OUT, TABLE, POSITIONS, FLAGS = (
    param(0, COUNT),
    param(1, SIZE),
    param(2, COUNT, dtypes.int32),
    param(3, COUNT, dtypes.bool),
)
K = STEP.cast(dtypes.int32)
P, X, IS_ON = POSITIONS.index(ROW).load(), TABLE.index(STEP).load(), FLAGS.index(ROW).load()
ZERO = const(0.0)

# values of a sum over STEP that are X where STEP is a position, or is related to it
SPELLINGS: dict[str, UOp] = {
    "equal": K.eq(P).where(X, ZERO),
    "reversed operands": P.eq(K).where(X, ZERO),
    "the other way round": K.ne(P).where(ZERO, X),
    "a negation": (~K.ne(P)).where(X, ZERO),
    "a negated choice": (~K.eq(P)).where(ZERO, X),
    "a condition beside it": (IS_ON & K.eq(P)).where(X, ZERO),
    "a condition around it": IS_ON.where(K.eq(P).where(X, ZERO), ZERO),
    "a condition inside of it": K.eq(P).where(IS_ON.where(X, ZERO), ZERO),
    "a negated alternative": (~(K.ne(P) | ~IS_ON)).where(X, ZERO),
    "a choice of conditions": IS_ON.where(K.eq(P), FALSE).where(X, ZERO),
    "a compared condition": K.eq(P).cast(dtypes.int32).ne(0).where(X, ZERO),
    "a sum": (K + 2).eq(P + 2).where(X, ZERO),
    "a difference": (K - P).eq(0).where(X, ZERO),
    "a difference the other way": (5 - K).eq(P).where(X, ZERO),
    "a negative": (-K).eq(P - 5).where(X, ZERO),
    "a multiple": (K * 2 + 1).eq(P).where(X, ZERO),
    "a multiple of an address": (STEP * 3).cast(dtypes.int32).eq(P).where(X, ZERO),
    "flipped bits": (K ^ 1).eq(P).where(X, ZERO),
    "a wider counter": K.cast(dtypes.int64).eq(P.cast(dtypes.int64)).where(X, ZERO),
    "a wider sum": (K + 1).cast(dtypes.int64).eq(P.cast(dtypes.int64)).where(X, ZERO),
    "a cast of the choice": K.eq(P).where(X.cast(dtypes.int32), 0).cast(dtypes.float32),
    "a cast of the condition": K.eq(P).cast(dtypes.float32),
    "a product with the condition": (K.eq(P).cast(dtypes.int32) * X.cast(dtypes.int32)).cast(dtypes.float32),
    "a negated value": -K.eq(P).where(X, ZERO),
    "a cast of a negated condition": (-K.eq(P).cast(dtypes.int32)).cast(dtypes.float32),
    "a truth": (K.eq(P) & (X < 14.0)).cast(dtypes.float32),
}


def computed(value: UOp) -> list[float]:
    data = [
        storage_of(np.zeros(COUNT), dtypes.float32),
        storage_of(np.arange(SIZE) + 10, dtypes.float32),
        storage_of(np.array([5, -1, 6, 0, 3, 2, 9, 7, 1, -4]), dtypes.int32),
        storage_of(np.array([True, False] * 5), dtypes.bool),
    ]
    evaluate_kernel(UOp.sink(OUT.index(ROW).store(value, ROW), arg=KernelInfo()), data)
    return values_of(data[0], dtypes.float32).tolist()


@pytest.mark.parametrize("value", SPELLINGS.values(), ids=SPELLINGS)
def test_one_step_of_a_sum_is_one_load(value: UOp) -> None:
    total = value.reduce(Ops.ADD, STEP)
    found = eliminate_ranges(total)
    assert not any(u.op is Ops.REDUCE for u in found.toposort())
    assert computed(found) == computed(total)
    assert any(computed(found))


@pytest.mark.parametrize("value", [SPELLINGS["a truth"].src[0], K.eq(P)])
def test_one_step_of_an_alternative_is_no_loop(value: UOp) -> None:
    total = value.reduce(Ops.ADD, STEP)
    found = eliminate_ranges(total)
    assert not any(u.op is Ops.REDUCE for u in found.toposort())
    assert computed(found.cast(dtypes.float32)) == computed(total.cast(dtypes.float32))


@pytest.mark.parametrize(
    ("op", "neutral"), [(Ops.MUL, 1.0), (Ops.MAX, dtype_min(dtypes.float32))], ids=["product", "greatest"]
)
def test_one_step_of_other_reductions_is_one_load(op: Ops, neutral: float) -> None:
    total = K.eq(P).where(X, neutral).reduce(op, STEP)
    found = eliminate_ranges(total)
    assert not any(u.op is Ops.REDUCE for u in found.toposort())
    assert computed(found) == computed(total)


def test_the_other_axes_of_a_sum_stay() -> None:
    c = UOp.range(3, 3, AxisType.REDUCE)
    total = K.eq(P).where(TABLE.index((STEP + c) % SIZE).load(), ZERO).reduce(Ops.ADD, STEP, c)
    found = eliminate_ranges(total)
    assert [u.src[1:] for u in found.toposort() if u.op is Ops.REDUCE] == [(c,)]
    assert computed(found) == computed(total)


def test_two_axes_of_a_sum_are_both_left_out() -> None:
    c = UOp.range(4, 3, AxisType.REDUCE)
    equal = K.eq(P) & c.cast(dtypes.int32).eq(P + 1)
    total = equal.where(TABLE.index((STEP + c) % SIZE).load(), ZERO).reduce(Ops.ADD, STEP, c)
    found = eliminate_ranges(total)
    assert not any(u.op is Ops.REDUCE for u in found.toposort())
    assert computed(found) == computed(total)


OTHERS: dict[str, UOp] = {
    "another value": K.eq(P).where(X, 1.0),
    "less": (K < P).where(X, ZERO),
    "a position that moves": K.eq(X.cast(dtypes.int32)).where(X, ZERO),
    "a fraction": STEP.cast(dtypes.float32).eq(X).where(X, ZERO),
    "a counter that wraps": STEP.cast(dtypes.uint8).eq(P.cast(dtypes.uint8)).where(X, ZERO),
    "several steps": (K // 2).eq(P).where(X, ZERO),
    "an alternative": (K.eq(P) | IS_ON).where(X, ZERO),
}


@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_other_sums_stay(value: UOp) -> None:
    size = 300 if value is OTHERS["a counter that wraps"] else SIZE
    total = value.substitute({STEP: UOp.range(size, 2, AxisType.REDUCE)}).reduce(
        Ops.ADD, UOp.range(size, 2, AxisType.REDUCE)
    )
    assert eliminate_ranges(total) is total


def test_the_greatest_integers_are_outside_of_an_axis_of_any_size() -> None:
    n = UOp.variable("n", 1, 6)
    row = UOp.range(n, 2, AxisType.REDUCE)
    for dtype in (dtypes.int64, dtypes.uint64):
        wanted = param(2, 4, dtype).index(UOp.range(4, 0)).load()
        for counter, offset in ((row.cast(dtype), 0), (row.cast(dtypes.int32).cast(dtype) + 1, 1)):
            value = counter.eq(wanted).where(TABLE.index(row).load(), 0.0).reduce(Ops.ADD, row)
            got = eliminate_ranges(value)
            assert not any(u.op is Ops.REDUCE for u in got.toposort())
            memory = [
                storage_of(np.zeros(4), dtypes.float32),
                storage_of(np.arange(6) + 10, dtypes.float32),
                storage_of(np.array([3, 4, 0, (1 << 63) - 1]), dtype),
            ]
            i = UOp.range(4, 0)
            evaluate_kernel(UOp.sink(param(0, 4).index(i).store(got, i), arg=KernelInfo()), memory, {"n": 4})
            want = [13, 0, 10, 0] if not offset else [12, 13, 0, 0]
            assert values_of(memory[0], dtypes.float32).tolist() == want


def test_every_load_of_a_nested_lookup_is_gated() -> None:
    inner = param(4, SIZE, dtypes.int32).index(STEP).load()
    value = TABLE.index(inner.cast(dtypes.index)).load()
    found = eliminate_ranges(K.eq(P).where(value, 0.0).reduce(Ops.ADD, STEP))
    loads = [u for u in found.toposort() if u.op is Ops.LOAD and u.src[0].src[0] is not POSITIONS]
    assert len(loads) == 2
    assert all(len(u.src[0].src) == 3 for u in loads)


def test_what_stands_around_a_value_is_its_path() -> None:
    equal, choice = K.eq(P), (IS_ON & K.eq(P)).where(X, ZERO)
    guard = guard_of(Ops.ADD, choice)
    assert guard is not None
    assert set(guard.conditions) == {IS_ON, equal}
    assert guard.value is X
    assert guard.path == {choice, IS_ON & equal, IS_ON, equal}


def test_a_condition_that_does_not_name_a_range_has_no_solution() -> None:
    assert solve(P.eq(3), STEP) is None
    assert solve(K.eq(K), STEP) is None
    assert solve(K < P, STEP) is None


LONG_ROW, J = UOp.range(32, 0), UOp.range(5, 1, AxisType.REDUCE)
AT = POSITIONS.index(J).load()
SCATTERED: dict[str, Callable[[UOp], UOp]] = {
    "equal": lambda i: i.eq(AT),
    "a sum": lambda i: (i + 3).eq(AT),
    "a difference": lambda i: (i - AT).eq(0),
    "negated": lambda i: ~AT.ne(i),
    "a multiple": lambda i: (i * 2).eq(AT),
}


@pytest.mark.parametrize("condition", SCATTERED.values(), ids=SCATTERED)
def test_a_sum_by_position_scatters(condition: Callable[[UOp], UOp]) -> None:
    value = TABLE.index(J).load()
    total = condition(LONG_ROW.cast(dtypes.int32)).where(value, ZERO).reduce(Ops.ADD, J)
    found = scatter_of(total, (LONG_ROW,))
    assert found is not None
    assert (found.counter, found.value, found.neutral) == (LONG_ROW, value, ZERO)
    assert found.position.ranges == {J}


def test_short_axes_and_values_that_move_with_the_axis_do_not_scatter() -> None:
    short, value = UOp.range(8, 0), TABLE.index(J).load()
    total = short.cast(dtypes.int32).eq(AT).where(value, ZERO).reduce(Ops.ADD, J)
    assert scatter_of(total, (short,)) is None
    value = TABLE.index(J + LONG_ROW).load()
    total = LONG_ROW.cast(dtypes.int32).eq(AT).where(value, ZERO).reduce(Ops.ADD, J)
    assert scatter_of(total, (LONG_ROW,)) is None
