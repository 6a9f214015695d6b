"""Sums by position get kernels of their own, or are atomic updates; what they compare gets no memory."""

from dataclasses import replace

import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.dtype import DType, dtypes
from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.tensor.lookup import pick_last
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

SIZE, COUNT, WIDTH = 40, 30, 20


def scattered() -> UOp:
    """Return what `out[position[j]] += x[j]` gives, as a sum: (SIZE, WIDTH)."""
    position = UOp.new_buffer("PYTHON", (COUNT,), dtypes.int32)
    x = UOp.new_buffer("PYTHON", (COUNT, WIDTH), dtypes.float32)
    here = UOp.iota(SIZE, dtypes.int32).reshape((SIZE, 1)).expand((SIZE, COUNT))
    meets = here.eq(position.reshape((1, COUNT)).expand((SIZE, COUNT)))
    shape = (SIZE, COUNT, WIDTH)
    each = x.reshape((1, COUNT, WIDTH)).expand(shape)
    chosen = meets.reshape((SIZE, COUNT, 1)).expand(shape).where(each, each.const_like(0.0))
    return chosen.reduce_axis(Ops.ADD, (1,)).reshape((SIZE, WIDTH))


def stored_values(value: UOp, runs_loops: bool, *others: UOp) -> list[Ops]:
    """Return what each kernel of a schedule stores last."""
    cost = CostModel(cores=2, runs_loops=runs_loops, row_bytes=1 << 20)
    calls = create_schedule(UOp.sink(value, *others), {"PYTHON": cost}, "PYTHON").calls
    return [call.ast.src[0].src[1].op for call in calls]


@pytest.mark.parametrize("runs_loops", [True, False])
def test_the_comparisons_get_no_memory(runs_loops: bool) -> None:
    assert stored_values(scattered(), runs_loops) == [Ops.REDUCE]


def test_what_is_done_with_the_sum_is_another_kernel_where_loops_run() -> None:
    old = UOp.new_buffer("PYTHON", (SIZE, WIDTH), dtypes.float32)
    assert stored_values(old * scattered(), True) == [Ops.REDUCE, Ops.MUL]
    assert stored_values(old * scattered(), False) == [Ops.MUL]


def test_a_sum_is_added_to_what_its_memory_is_filled_with() -> None:
    old = UOp.new_buffer("PYTHON", (SIZE, WIDTH), dtypes.float32)
    other = UOp.new_buffer("PYTHON", (SIZE, WIDTH), dtypes.float32)
    total = scattered()
    assert stored_values(old + total, True) == [Ops.ADD]
    # two values would be two passes over the positions
    assert stored_values(old + total, True, other + total)[0] is Ops.REDUCE
    # steps may read what the fill has written
    assert stored_values(old.assign(old + total), True)[0] is Ops.REDUCE
    assert stored_values(total + total * total, True)[0] is Ops.REDUCE


def test_what_the_last_write_decides_is_written_by_its_step() -> None:
    old = UOp.new_buffer("PYTHON", (SIZE,), dtypes.float32)
    new = UOp.new_buffer("PYTHON", (COUNT,), dtypes.float32)
    position = UOp.new_buffer("PYTHON", (COUNT,), dtypes.int32).reshape((1, COUNT)).expand((SIZE, COUNT))
    meets = UOp.iota(SIZE, dtypes.int32).reshape((SIZE, 1)).expand((SIZE, COUNT)).eq(position)
    numbers = UOp.iota(COUNT, dtypes.int32).reshape((1, COUNT)).expand((SIZE, COUNT)) + 1
    last = meets.where(numbers, numbers.const_like(0)).reduce_axis(Ops.MAX, (1,)).reshape((SIZE,))
    written = (last > 0).where(
        pick_last(new.reshape((1, COUNT)), (last - 1).reshape((1, SIZE))).reshape((SIZE,)), old
    )
    assert stored_values(written, True) == [Ops.WHERE]
    # what reads the element that it writes would read what an earlier step wrote
    assert stored_values(written + old, True)[0] is Ops.REDUCE
    assert stored_values(old.assign(written), True)[0] is Ops.REDUCE


def atomic_model(*atomic_ops: tuple[str, DType], deterministic: bool = False) -> CostModel:
    """Return the cost model of a grid with these atomic operations."""
    return CostModel.of(replace(CAPABILITIES, atomic_ops=frozenset(atomic_ops)), deterministic=deterministic)


def counts(size: int, count: int, dtype: DType = dtypes.int32) -> UOp:
    """Return how often each of `size` numbers is among `count`: (size,)."""
    numbers = UOp.new_buffer("PYTHON", (count,), dtypes.int32).reshape((1, count)).expand((size, count))
    meets = UOp.iota(size, dtypes.int32).reshape((size, 1)).expand((size, count)).eq(numbers)
    return meets.cast(dtype).reduce_axis(Ops.ADD, (1,)).reshape((size,))


def schedule(model: CostModel, *values: UOp) -> list[KernelCall]:
    return list(create_schedule(UOp.sink(*values), {"PYTHON": model}, "PYTHON").calls)


def updates(model: CostModel, *values: UOp) -> list[Ops | None]:
    """Return by which op each kernel stores."""
    return [call.ast.src[0].arg for call in schedule(model, *values)]


INTS = ("ADD", dtypes.int32)


def test_a_large_sum_by_position_is_filled_and_updated_on_a_grid() -> None:
    fill, update = schedule(atomic_model(INTS), counts(1000, 5000))
    assert (fill.ast.src[0].arg, update.ast.src[0].arg) == (None, Ops.ADD)
    assert fill.ast.src[0].src[1].arg == 0
    # one memory, filled first
    assert update.memory[0] is fill.memory[0] is fill.root
    assert update.reads[-1] is update.target is fill.root


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (atomic_model(), counts(1000, 5000)),
        (atomic_model(("ADD", dtypes.int64)), counts(1000, 5000)),
        (atomic_model(("MAX", dtypes.int32)), counts(1000, 5000)),
        (CostModel(cores=2, runs_loops=True, row_bytes=1, atomic_ops=frozenset({INTS})), counts(1000, 5000)),
        (atomic_model(INTS), counts(100, 100)),
        (atomic_model(INTS), counts(20, 1_000_000)),
    ],
    ids=["no atomics", "other dtype", "other op", "loops", "little work", "few places"],
)
def test_other_sums_by_position_are_not_updated(model: CostModel, value: UOp) -> None:
    assert not any(updates(model, value))


def test_sums_of_one_shape_are_added_to_memory_of_their_own() -> None:
    calls = schedule(atomic_model(INTS), counts(1000, 5000), counts(1000, 5000))
    filled = [call.memory[0] for call in calls if call.ast.src[0].arg is None]
    updated = [call.memory[0] for call in calls if call.ast.src[0].arg is Ops.ADD]
    assert len(set(filled)) == 2
    assert set(filled) == set(updated)
    # the fills are one kernel, run twice
    assert len({call.ast for call in calls}) == 2


def test_a_long_sum_by_position_is_not_cut_into_pieces() -> None:
    assert updates(atomic_model(INTS), counts(100, 1_000_000)) == [None, Ops.ADD]


def test_sums_of_floats_keep_their_order_where_that_was_asked_for() -> None:
    floats, value = ("ADD", dtypes.float32), counts(1000, 5000, dtypes.float32)
    assert updates(atomic_model(floats), value) == [None, Ops.ADD]
    assert updates(atomic_model(floats, deterministic=True), value) == [None]
    assert updates(atomic_model(INTS, deterministic=True), counts(1000, 5000)) == [None, Ops.ADD]


def test_a_maximum_begins_with_what_the_condition_leaves() -> None:
    position = UOp.new_buffer("PYTHON", (5000,), dtypes.int32).reshape((1, 5000)).expand((1000, 5000))
    meets = UOp.iota(1000, dtypes.int32).reshape((1000, 1)).expand((1000, 5000)).eq(position)
    step = (UOp.iota(5000, dtypes.int32) + 1).reshape((1, 5000)).expand((1000, 5000))
    last = meets.where(step, step.const_like(0)).reduce_axis(Ops.MAX, (1,))
    fill, update = schedule(atomic_model(("MAX", dtypes.int32)), last)
    assert (fill.ast.src[0].src[1].arg, update.ast.src[0].arg) == (0, Ops.MAX)


def counts_of(position: UOp, size: int) -> UOp:
    """Return how often each of `size` numbers is among positions."""
    (count,) = position.shape
    meets = UOp.iota(size, position.dtype).reshape((size, 1)).expand((size, count))
    meets = meets.eq(position.reshape((1, count)).expand((size, count)))
    return meets.cast(dtypes.int32).reduce_axis(Ops.ADD, (1,)).reshape((size,))


@pytest.mark.parametrize("asks", [False, True])
def test_positions_are_computed_where_they_are_used_once(asks: bool) -> None:
    x = UOp.new_buffer("PYTHON", (100_000,), dtypes.int32)
    value = counts_of((x < 0).where(x + 1000, x), 1000)
    assert stored_values(value.contiguous() if asks else value, True) == [Ops.REDUCE]


def test_dear_positions_are_computed_in_lanes_before() -> None:
    x = UOp.new_buffer("PYTHON", (100_000,), dtypes.float32)
    value = counts_of((x.sin() * 1000).cast(dtypes.int32), 1000)
    wide, narrow = (
        CostModel(cores=1, runs_loops=True, row_bytes=1 << 20, vector_bytes=nbytes) for nbytes in (64, 0)
    )
    assert [len(schedule(model, value)) for model in (wide, narrow)] == [2, 1]


def equal_before(keys: UOp) -> UOp:
    """Return how many equal keys come before each one of a row: (rows, n) -> (rows, n)."""
    rows, size = keys.shape
    shape = (rows, size, size)
    mine, other = (keys.reshape((rows, *at)).expand(shape) for at in ((size, 1), (1, size)))
    place, before = (
        UOp.iota(size, dtypes.int32).reshape(at).expand(shape) for at in ((1, size, 1), (1, 1, size))
    )
    return (
        (mine.eq(other) & (before < place))
        .cast(dtypes.int32)
        .reduce_axis(Ops.ADD, (2,))
        .reshape((rows, size))
    )


def test_a_running_sum_compares_nothing_in_memory_and_takes_along_what_is_done_with_it() -> None:
    keys = UOp.new_buffer("PYTHON", (3, 2000), dtypes.uint8)
    table = UOp.new_buffer("PYTHON", (3, 2000), dtypes.int32)
    assert stored_values(equal_before(keys), True) == [Ops.REDUCE]
    assert stored_values(equal_before(keys) * 3 + table, True) == [Ops.ADD]


def test_a_running_sum_has_a_kernel_of_its_own_where_its_order_is_not_that_of_the_kernel() -> None:
    keys = UOp.new_buffer("PYTHON", (3, 2000), dtypes.uint8)
    turned = equal_before(keys).permute((1, 0))
    assert stored_values((turned + 1).reduce_axis(Ops.ADD, (0,)).reshape((3,)), True)[0] is Ops.REDUCE
    twice = equal_before(keys) + equal_before(UOp.new_buffer("PYTHON", (3, 2000), dtypes.uint8))
    assert stored_values(twice, True) == [Ops.REDUCE, Ops.ADD]


def test_keys_of_a_running_sum_are_computed_once() -> None:
    x = UOp.new_buffer("PYTHON", (1, 100_000), dtypes.int64)
    digits = ((x >> 8) & 255).cast(dtypes.uint8)
    wide = CostModel(cores=1, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
    kernels = [call.ast.src[0].src[1].dtype for call in schedule(wide, equal_before(digits))]
    assert kernels == [dtypes.uint8, dtypes.int32]
