"""Axes are cut where gates open and close, and only where that leaves vectors without gates."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.loop_splitting import cuts, rests_of_rows
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(_ALL, _ALL, vector_bits=256, threads=2, native_ops=frozenset({"RECIP"}))


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def padded(rows: int, columns: int, before: int, after: int) -> UOp:
    """Return the kernel that copies rows with zeros around them."""
    width = before + columns + after
    i, j = UOp.range(rows, 0), UOp.range(width, 1)
    inside = ~(j < before) & (j < before + columns)
    value = param(1, rows * columns).index(i * columns + j - before, inside).load()
    return UOp.sink(param(0, rows * width).index(i * width + j).store(value, i, j), arg=KernelInfo())


def joined(rows: int, left: int, right: int) -> UOp:
    """Return the kernel that writes rows of two tensors side by side."""
    width = left + right
    i, j = UOp.range(rows, 0), UOp.range(width, 1)
    first = param(1, rows * left).index(i * left + j, j < left).load()
    second = param(2, rows * right).index(i * right + j - left, ~(j < left)).load()
    value = (j < left).where(first, second)
    return UOp.sink(param(0, rows * width).index(i * width + j).store(value, i, j), arg=KernelInfo())


def rolled(rows: int, columns: int, by: int) -> UOp:
    """Return the kernel that copies rows moved on, what leaves them coming in at the beginning."""
    i, j = UOp.range(rows, 0), UOp.range(columns, 1)
    value = param(1, rows * columns).index(i * columns + (j + (columns - by)) % columns).load()
    return UOp.sink(param(0, rows * columns).index(i * columns + j).store(value, i, j), arg=KernelInfo())


def around(size: int, by: int) -> UOp:
    """Return the kernel that rolls one axis."""
    i = UOp.range(size, 0)
    value = param(1, size).index((i + (size - by)) % size).load()
    return UOp.sink(param(0, size).index(i).store(value, i), arg=KernelInfo())


def pairs(rows: int, columns: int) -> UOp:
    """Return the kernel that copies rows of pairs, with a pair of zeros after each."""
    i, j, k = UOp.range(rows, 0), UOp.range(columns + 1, 1), UOp.range(2, 2)
    value = param(1, rows * columns * 2).index((i * columns + j) * 2 + k, j < columns).load()
    place = (i * (columns + 1) + j) * 2 + k
    return UOp.sink(param(0, rows * (columns + 1) * 2).index(place).store(value, i, j, k), arg=KernelInfo())


def stacked(rows: int, columns: int) -> UOp:
    """Return the kernel that writes rows of three tensors below each other, the second one transposed."""
    i, part, j = UOp.range(rows, 0), UOp.range(3, 1), UOp.range(columns, 2)
    first, second = part < 1, ~(part < 1) & (part < 2)
    value = param(1, rows * columns).index(i * columns + j, first).load()
    value = value + param(2, rows * columns).index(j * rows + i, second).load()
    value = value + param(3, rows * columns).index(i * columns + j, ~(part < 2)).load()
    place = param(0, rows * 3 * columns).index((i * 3 + part) * columns + j)
    return UOp.sink(place.store(value, i, part, j), arg=KernelInfo())


def stacked_alone(count: int, columns: int, steps: int) -> UOp:
    """Return the kernel that stacks `count` rows, each of which is changed by `steps` more operations."""
    part, j = UOp.range(count, 0), UOp.range(columns, 1)
    value = param(count, columns).index(j, ~(part < count - 1)).load()
    for row in reversed(range(count - 1)):
        chosen = part < row + 1
        value = chosen.where(param(1 + row, columns).index(j, chosen & ~(part < row)).load(), value)
    for _ in range(steps):
        value = value * value + 1
    place = param(0, count * columns).index(part * columns + j)
    return UOp.sink(place.store(value, part, j), arg=KernelInfo())


def sums_by_position(width: int) -> UOp:
    """Return `out[i, c] = sum over j of (x[j, c] if position[j] == i else 0)`."""
    i, c, j = UOp.range(20, 0), UOp.range(width, 1), UOp.range(20, 2, AxisType.REDUCE)
    position = UOp(Ops.PARAM, dtypes.int32, (), (1, 20)).index(j).load()
    x = param(2, 20 * width).index(j * width + c).load()
    total = i.cast(dtypes.int32).eq(position).where(x, x.const_like(0.0)).reduce(Ops.ADD, j)
    return UOp.sink(param(0, 20 * width).index(i * width + c).store(total, i, c), arg=KernelInfo("sums"))


def chosen(ast: UOp) -> list[Opt]:
    return KernelOpt(ast, LOOPS).apply_all(cuts(KernelOpt(ast, LOOPS))).applied


def cut(*places: tuple[tuple[int, ...], int]) -> list[Opt]:
    return [Opt(OptOps.SPLIT, ident, place) for ident, place in places]


def test_each_border_of_a_gate_is_a_cut() -> None:
    assert chosen(padded(6, 40, 3, 2)) == cut(((1,), 43), ((1, 0), 3))
    assert chosen(padded(6, 40, 0, 2)) == cut(((1,), 40))
    assert chosen(joined(6, 24, 40)) == cut(((1,), 24))


def test_rows_of_computed_values_are_cut_at_their_gate_too() -> None:
    n, i, j = (UOp.range(size, k) for k, size in enumerate((4, 34, 10)))
    inside = (0 < i) & (i < 33) & (0 < j) & (j < 9)
    value = param(1, 4 * 32 * 8).index((n * 32 + i) * 8 + j - 9, inside).load()
    place = param(0, 4 * 34 * 10).index((n * 34 + i) * 10 + j)
    copied, scaled = (
        UOp.sink(place.store(what, n, i, j), arg=KernelInfo())
        for what in (value, inside.where(value * 3.0 + 1.0, value.const_like(0.0)))
    )
    columns = cut(((2,), 9), ((2, 0), 1))
    assert chosen(copied) == columns
    assert chosen(scaled) == [*cut(((1,), 33), ((1, 0), 1)), *columns]
    loads = [u for u in lower(scaled, LOOPS).program if u.op is Ops.LOAD]
    assert all(len(u.src) == 1 for u in loads)


def test_each_place_where_an_address_starts_again_is_a_cut() -> None:
    assert chosen(rolled(6, 40, 3)) == cut(((1,), 3))
    assert chosen(rolled(6, 40, 37)) == cut(((1,), 37))
    i, j = UOp.range(6, 0), UOp.range(40, 1)
    value = param(1, 120).index(i * 20 + (j + 5) // 20).load()
    repeated = param(0, 240).index(i * 40 + j).store(value, i, j)
    assert chosen(UOp.sink(repeated, arg=KernelInfo())) == cut(((1,), 35), ((1, 0), 15))


def test_tensors_that_are_stacked_are_read_without_gates() -> None:
    assert chosen(stacked(64, 40)) == [Opt(OptOps.UPCAST, (1,), 3)]
    loads = [u for u in lower(stacked(64, 40), LOOPS).program if u.op is Ops.LOAD]
    assert all(len(u.src) == 1 for u in loads)


def test_many_tensors_that_are_stacked_are_read_without_gates_where_that_is_all() -> None:
    assert chosen(stacked_alone(12, 40, 2)) == [Opt(OptOps.UPCAST, (0,), 12)]
    loads = [u for u in lower(stacked_alone(12, 40, 2), LOOPS).program if u.op is Ops.LOAD]
    assert all(len(u.src) == 1 for u in loads)
    assert chosen(stacked_alone(12, 40, 20)) == []


def test_stacks_among_the_steps_of_a_longer_axis_are_read_without_gates() -> None:
    i, j = UOp.range(24, 0), UOp.range(40, 1)
    part = i % 3
    value = param(1, 320).index(i // 3 * 40 + j, part < 1).load()
    value = value + param(2, 320).index(i // 3 * 40 + j, ~(part < 1) & (part < 2)).load()
    value = value + param(3, 320).index(i // 3 * 40 + j, ~(part < 2)).load()
    ast = UOp.sink(param(0, 960).index(i * 40 + j).store(value, i, j), arg=KernelInfo())
    assert chosen(ast) == [Opt(OptOps.UPCAST, (0,), 3)]
    assert all(len(u.src) == 1 for u in lower(ast, LOOPS).program if u.op is Ops.LOAD)


def test_rows_that_start_again_often_are_left_whole() -> None:
    i, j = UOp.range(6, 0), UOp.range(400, 1)
    value = param(1, 6 * 10).index(i * 10 + (j + 5) % 10).load()
    store = param(0, 2400).index(i * 400 + j).store(value, i, j)
    assert chosen(UOp.sink(store, arg=KernelInfo())) == []


def test_one_axis_is_cut_where_no_threads_share_it() -> None:
    assert chosen(around(64, 60)) == cut(((0,), 60))
    long = around(1 << 20, 60)
    assert chosen(long) == []
    alone = Capabilities(_ALL, _ALL, vector_bits=256, threads=1)
    assert list(cuts(KernelOpt(long, alone))) == cut(((0,), 60))


def test_what_gains_nothing_is_left_whole() -> None:
    i, j = UOp.range(6, 0), UOp.range(64, 1)
    plain = param(0, 384).index(i * 64 + j).store(param(1, 384).index(i * 64 + j).load(), i, j)
    assert chosen(UOp.sink(plain, arg=KernelInfo())) == []
    assert chosen(padded(6, 4, 1, 1)) == []  # too short for vectors
    across = param(0, 384).index(j * 6 + i).store(param(1, 384).index(j * 6 + i, j < 60).load(), i, j)
    assert chosen(UOp.sink(across, arg=KernelInfo())) == []


def test_reductions_are_left_whole() -> None:
    i, j, k = UOp.range(6, 0), UOp.range(64, 1), UOp.range(3, 2, AxisType.REDUCE)
    total = param(1, 512).index(i * 64 + j + k, j < 60).load().reduce(Ops.ADD, k)
    store = param(0, 384).index(i * 64 + j).store(total, i, j)
    assert chosen(UOp.sink(store, arg=KernelInfo())) == []


@pytest.mark.parametrize(
    "ast",
    [
        padded(6, 40, 3, 2),
        padded(1000, 100, 1, 1),
        padded(5, 33, 0, 9),
        joined(6, 24, 40),
        rolled(6, 40, 3),
        rolled(5, 33, 17),
        around(100, 31),
        pairs(6, 40),
        stacked(64, 40),
        stacked(5, 33),
    ],
)
def test_pieces_write_the_same(ast: UOp) -> None:
    lowered = lower(ast, LOOPS)
    assert chosen(ast)
    params = sorted((u for u in ast.toposort() if u.op is Ops.PARAM), key=lambda u: u.arg[0])
    rng = np.random.default_rng(0)
    got = [storage_of(rng.integers(1, 99, u.arg[1]), u.dtype) for u in params]
    want = [buffer.copy() for buffer in got]
    run_lowered(lowered, got)
    evaluate_kernel(ast, want)
    np.testing.assert_array_equal(values_of(got[0], dtypes.float32), values_of(want[0], dtypes.float32))


def test_vectors_between_the_borders_have_no_gates() -> None:
    program = lower(padded(6, 64, 1, 1), LOOPS).program
    wide = [u for u in program if u.op is Ops.LOAD and u.dtype.count > 1]
    assert wide
    assert all(len(u.src) == 1 for u in wide)
    # and the borders read nothing
    assert all(u.dtype.count > 1 for u in program if u.op is Ops.LOAD)


def test_a_border_of_one_step_takes_no_lanes_from_the_rows_around_it() -> None:
    i, j = UOp.range(1000, 0), UOp.range(505, 1)
    there = param(1, 1009000).index(i * 1009 + j).load()
    back = param(1, 1009000).index(i * 1009 + 1009 - j, ~(j < 1)).load()
    ast = UOp.sink(param(0, 505000).index(i * 505 + j).store(there + back, i, j), arg=KernelInfo())
    applied = optimise(KernelOpt(ast, replace(LOOPS, threads=1, vector_bits=512))).applied
    assert {o.axis[0] for o in applied if o.op is OptOps.UPCAST} == {1}


def test_rows_of_pairs_are_cut_like_rows() -> None:
    assert chosen(pairs(6, 40)) == cut(((1,), 40))


@pytest.mark.parametrize(
    ("width", "threads", "place"), [(50, 2, 48), (50, 4, None), (48, 1, None), (7, 1, None)]
)
def test_rows_that_are_added_to_in_order_are_cut_behind_whole_vectors(
    width: int, threads: int, place: int | None
) -> None:
    capabilities = replace(LOOPS, threads=threads)
    kernel = KernelOpt(PREPARE.run(sums_by_position(width), capabilities), capabilities)
    assert list(rests_of_rows(kernel)) == ([] if place is None else [Opt(OptOps.SPLIT, (1,), place)])
    lowered = lower(sums_by_position(width), capabilities)
    rng = np.random.default_rng(0)
    numbers = rng.integers(1, 99, 20 * width)
    got = [storage_of(values, dtypes.float32) for values in (np.zeros(20 * width), numbers)]
    got.insert(1, storage_of(rng.integers(0, 9, 20), dtypes.int32))
    want = [buffer.copy() for buffer in got]
    run_lowered(lowered, got)
    evaluate_kernel(sums_by_position(width), want)
    np.testing.assert_array_equal(got[0], want[0])


@pytest.mark.parametrize(("rows", "is_written_out"), [(6, True), (7, False)])
def test_phases_of_rows_are_written_out_where_these_are_whole(rows: int, is_written_out: bool) -> None:
    k, i, j = UOp.range(3, 0), UOp.range(rows, 1), UOp.range(40, 2)
    phase, half = i % 2, i // 2 * 40 + j
    even = param(1, 160).index(half, phase < 1).load()
    odd = param(2, 160).index(half, ~(phase < 1)).load()
    place = param(0, 3 * rows * 40).index((k * rows + i) * 40 + j)
    ast = UOp.sink(place.store((phase < 1).where(even, odd), k, i, j), arg=KernelInfo("phases"))
    assert chosen(ast) == ([Opt(OptOps.UPCAST, (1,), 2)] if is_written_out else [])
    lower(ast, LOOPS)
