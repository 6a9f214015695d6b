"""Sums by position become stores in order, and write what the sums mean."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.prepare.lower_scatter import scatter
from plugrad.dtype import DType, dtype_min, dtypes
from plugrad.errors import KernelOptError
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of
from plugrad_conformance.testing.random_kernels import random_opts

LOOPS = replace(
    CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=(), vector_bits=128, threads=2
)
ROWS, SIZE, COUNT, WIDTH = 2, 18, 11, 8
NEUTRAL = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: None}


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def kernel(op: Ops = Ops.ADD, dtype: DType = dtypes.float32, size: int = SIZE, own: bool = True) -> UOp:
    """Return `out[r, i, c] = op over j of (x[j, c] if position[r, j] == i else neutral)`."""
    r, i, c = (UOp.range(n, at) for at, n in enumerate((ROWS, size, WIDTH)))
    j = UOp.range(COUNT, 3, AxisType.REDUCE)
    position = param(1, ROWS * COUNT, dtypes.int32).index(r * COUNT + j).load()
    x = param(2, COUNT * WIDTH, dtype).index(j * WIDTH + c).load()
    neutral = NEUTRAL[op]
    other = x.const_like(dtype_min(dtype) if neutral is None else neutral)
    total = i.cast(dtypes.int32).eq(position).where(x, other).reduce(op, j)
    place = param(0, ROWS * size * WIDTH, dtype).index((r * size + i) * WIDTH + c)
    return UOp.sink(place.store(total if own else -total, r, i, c), arg=KernelInfo("sums"))


def buffers(dtype: DType) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    # duplicates, and positions outside on both sides
    position = rng.integers(-2, SIZE + 2, ROWS * COUNT)
    position[1] = position[0] = 3
    x = rng.integers(1, 4, COUNT * WIDTH)
    return [
        storage_of(np.full(ROWS * SIZE * WIDTH, 7), dtype),
        *map(storage_of, (position, x), (dtypes.int32, dtype)),
    ]


def test_a_sum_by_position_is_filled_and_then_added_to_in_order() -> None:
    i = UOp.range(32, 0)
    j = UOp.range(5, 1, AxisType.REDUCE)
    ordered = UOp.range(5, 1, AxisType.ORDERED)
    out, x, positions = param(0, 32), param(1, 5), param(2, 5, dtypes.int32)
    wanted = positions.index(j).load()
    total = i.cast(dtypes.int32).eq(wanted).where(x.index(j).load(), 0.0).reduce(Ops.ADD, j)
    fill, add = scatter(UOp.sink(out.index(i).store(total, i), arg=KernelInfo()), LOOPS).src
    assert fill is out.index(i).store(total.const_like(0.0), i)
    at = positions.index(ordered).load().cast(dtypes.index)
    place = out.index(at, simplify(~(at < 0) & (at < 32)))
    assert add is simplify(place.store(place.load() + x.index(ordered).load(), ordered))
    # what the sum is added to is what the memory is filled with
    old = param(3, 32).index(i).load()
    fill, step = scatter(UOp.sink(out.index(i).store(old + total, i), arg=KernelInfo()), LOOPS).src
    assert step is add
    assert fill.src[1] in (old, simplify(old + 0.0))
    # a step could read what the fill has written
    inside = UOp.sink(out.index(i).store(out.index(i).load() + total, i), arg=KernelInfo())
    assert scatter(inside, LOOPS) is inside


@pytest.mark.parametrize(
    ("scale", "start", "neutral", "overwrites"),
    [
        (1, 1, 0, True),
        (1, 0, 0, True),
        (1, -1, dtype_min(dtypes.int32), True),
        (-1, 9, 0, False),
        (0, 9, 0, False),
        (1, 2**31 - 3, dtype_min(dtypes.int32), False),
    ],
)
def test_a_maximum_that_rises_with_the_steps_reads_no_memory(
    scale: int, start: int, neutral: int, overwrites: bool
) -> None:
    i = UOp.range(32, 0)
    j = UOp.range(5, 1, AxisType.REDUCE)
    wanted = param(1, 5, dtypes.int32).index(j).load()
    number = simplify(j.cast(dtypes.int32) * scale + start)
    last = i.cast(dtypes.int32).eq(wanted).where(number, neutral).reduce(Ops.MAX, j)
    sink = UOp.sink(param(0, 32, dtypes.int32).index(i).store(last, i), arg=KernelInfo("last"))
    rng = np.random.default_rng(0)
    expected = [storage_of(x, dtypes.int32) for x in (np.full(32, 7), rng.integers(-1, 4, 5))]
    found = [x.copy() for x in expected]
    evaluate_kernel(sink, expected)
    run_lowered(lower(sink, LOOPS, ()), found)
    assert np.array_equal(found[0], expected[0])
    _, step = PREPARE.run(sink, LOOPS).src
    reads = [u for u in step.src[1].toposort() if u.op is Ops.LOAD and u.src[0].src[0].arg[0] == 0]
    assert (not reads) == overwrites


@pytest.mark.parametrize("op", NEUTRAL)
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int32])
def test_every_optimisation_writes_what_the_sum_means(op: Ops, dtype: DType) -> None:
    ast = kernel(op, dtype)
    expected = buffers(dtype)
    evaluate_kernel(ast, expected)
    prepared = PREPARE.run(ast, LOOPS)
    assert len(prepared.src) == 2
    chosen = [None, (), *(random_opts(KernelOpt(prepared, LOOPS), seed) for seed in range(25))]
    for opts in chosen:
        got = buffers(dtype)
        run_lowered(lower(ast, LOOPS, opts), got)
        assert np.array_equal(values_of(got[0], dtype), values_of(expected[0], dtype)), opts


@pytest.mark.parametrize("lanes", [4, 16])
def test_elements_that_are_filled_without_a_loop_are_filled_first(lanes: int) -> None:
    i, j = UOp.range(16, 0), UOp.range(5, 1, AxisType.REDUCE)
    out, x, positions = param(0, 16), param(1, 5), param(2, 5, dtypes.int32)
    equal = i.cast(dtypes.int32).eq(positions.index(j).load())
    total = equal.where(x.index(j).load(), 0.0).reduce(Ops.ADD, j)
    ast = UOp.sink(out.index(i).store(total, i), arg=KernelInfo("sums"))
    wide = replace(LOOPS, vector_bits=lanes * 32, max_load_bits=lanes * 32, threads=1)
    got = [
        storage_of(values, dtype)
        for values, dtype in (
            (np.full(16, 7), dtypes.float32),
            (np.arange(5) + 1, dtypes.float32),
            (np.array([3, 15, 3, 0, 99]), dtypes.int32),
        )
    ]
    lowered = lower(ast, wide, [Opt(OptOps.UPCAST, (0,), 16)])
    assert sum(u.op is Ops.RANGE for u in lowered.program) == 1
    run_lowered(lowered, got)
    assert values_of(got[0], dtypes.float32).tolist() == [4, 0, 0, 4, *[0] * 11, 2]


@pytest.mark.parametrize(
    "ast",
    [
        kernel(size=8),
        kernel(own=False),
        simplify(kernel().substitute({UOp.range(SIZE, 1): UOp.const(dtypes.index, 3)})),
    ],
    ids=["few elements", "more than the sum", "one element"],
)
def test_other_sums_stay(ast: UOp) -> None:
    assert scatter(ast, LOOPS) is ast


def test_a_grid_has_no_order() -> None:
    assert scatter(kernel(), CAPABILITIES) is kernel()


def updating(ast: UOp, op: Ops) -> UOp:
    """Return a kernel that combines with what is there."""
    return ast.replace(src=tuple(store.replace(arg=op) for store in ast.src))


def test_on_a_grid_each_step_updates_the_element_that_it_belongs_to() -> None:
    i = UOp.range(32, 0)
    j, step = UOp.range(5, 1, AxisType.REDUCE), UOp.range(5, 1)
    out, x, positions = param(0, 32), param(1, 5), param(2, 5, dtypes.int32)
    total = i.cast(dtypes.int32).eq(positions.index(j).load()).where(x.index(j).load(), 0.0)
    store = out.index(i).store(total.reduce(Ops.ADD, j), i, op=Ops.ADD)
    (update,) = scatter(UOp.sink(store, arg=KernelInfo()), CAPABILITIES).src
    at = positions.index(step).load().cast(dtypes.index)
    place = out.index(at, simplify(~(at < 0) & (at < 32)))
    assert update is simplify(place.store(x.index(step).load(), step, op=Ops.ADD))


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int32])
def test_every_optimisation_updates_by_what_the_sum_means(op: Ops, dtype: DType) -> None:
    ast = updating(kernel(op, dtype), op)
    expected = buffers(dtype)
    evaluate_kernel(ast, expected)
    prepared = PREPARE.run(ast, CAPABILITIES)
    assert prepared.src[0].src[1].op is Ops.LOAD
    chosen = [None, (), *(random_opts(KernelOpt(prepared, CAPABILITIES), seed) for seed in range(25))]
    for opts in chosen:
        got = buffers(dtype)
        run_lowered(lower(ast, CAPABILITIES, opts), got)
        assert np.array_equal(values_of(got[0], dtype), values_of(expected[0], dtype)), opts


def test_a_sum_that_is_updated_by_another_op_stays() -> None:
    ast = updating(kernel(Ops.ADD), Ops.MAX)
    assert scatter(ast, CAPABILITIES) is ast


@pytest.mark.parametrize("adds_old", [False, True])
def test_what_is_made_of_a_last_step_is_stored_by_it(adds_old: bool) -> None:
    i, j = UOp.range(32, 0), UOp.range(9, 1, AxisType.REDUCE)
    wanted = param(1, 9, dtypes.int32).index(j).load()
    number = i.cast(dtypes.int32).eq(wanted).where(j.cast(dtypes.int32) + 1, 0).reduce(Ops.MAX, j)
    place = (number - 1).maximum(0).cast(dtypes.index)
    old = param(3, 32).index(i).load()
    new = param(2, 9).index(place).load() + (old if adds_old else 0.0)
    sink = UOp.sink(param(0, 32).index(i).store((number > 0).where(new, old), i), arg=KernelInfo("last"))
    # steps whose positions are outside have no element to read
    assert len(scatter(sink, LOOPS).src) == (1 if adds_old else 2)
    values = np.arange(32), np.array([4, 40, 4, 0, -1, 31, 4, 7, 32]), np.arange(9) + 100, -np.arange(32.0)
    kinds = dtypes.float32, dtypes.int32, dtypes.float32, dtypes.float32
    expected = [storage_of(x, dtype) for x, dtype in zip(values, kinds, strict=True)]
    found = [x.copy() for x in expected]
    evaluate_kernel(sink, expected)
    run_lowered(lower(sink, LOOPS), found)
    assert np.array_equal(found[0], expected[0])


def test_a_choice_of_more_than_the_lowest_value_is_no_maximum_by_position() -> None:
    i, j = UOp.range(32, 0), UOp.range(5, 1, AxisType.REDUCE)
    wanted = param(2, 5, dtypes.int32).index(j).load()
    equal = i.cast(dtypes.int32).eq(wanted)

    def sink(value: UOp, otherwise: int) -> UOp:
        total = equal.where(value, otherwise).reduce(Ops.MAX, j)
        return UOp.sink(param(0, 32, dtypes.int32).index(i).store(total, i), arg=KernelInfo())

    read = param(1, 5, dtypes.int32).index(j).load()
    assert len(scatter(sink(read, 0), LOOPS).src) == 1
    # numbers from 1 on are all greater than 0
    assert len(scatter(sink(j.cast(dtypes.int32) + 1, 0), LOOPS).src) == 2


@pytest.mark.parametrize(
    "op", [OptOps.UPCAST, OptOps.UNROLL, OptOps.THREAD, OptOps.PADTO, OptOps.SHIFTIN, OptOps.SPLIT_REMAINDER]
)
def test_steps_in_order_are_not_taken_apart(op: OptOps) -> None:
    prepared = KernelOpt(PREPARE.run(kernel(), LOOPS), LOOPS)
    (ordered,) = prepared.axes(AxisType.ORDERED)
    with pytest.raises(KernelOptError):
        prepared.apply(Opt(op, ordered.arg.ident, 2))


def test_what_does_not_move_with_the_position_is_summed_in_an_outer_loop() -> None:
    """An element that was read before the loop would forget what its steps have added."""
    i, j = UOp.range(32, 0), UOp.range(5, 1, AxisType.REDUCE)
    k = UOp.range(3, 2, AxisType.REDUCE)
    wanted = param(2, 5, dtypes.int32).index(j).load()
    x = param(1, 15, dtypes.int32).index(j * 3 + k).load()
    total = i.cast(dtypes.int32).eq(wanted).where(x, 0)
    ast = UOp.sink(
        param(0, 32, dtypes.int32).index(i).store(total.reduce(Ops.ADD, j, k), i), arg=KernelInfo("sums")
    )
    made = partial(storage_of, dtype=dtypes.int32)
    data = [made(np.zeros(32)), made(np.arange(15)), made(np.array([3, 1, 3, 31, -1]))]
    expected = [d.copy() for d in data]
    evaluate_kernel(ast, expected)
    run_lowered(lower(ast, LOOPS), data)
    assert np.array_equal(data[0], expected[0])


@pytest.mark.parametrize(("apart", "order"), [(True, (0, 2, 3)), (False, (0, 3, 2))])
def test_rows_of_their_own_that_share_positions_are_outside_of_them(
    apart: bool, order: tuple[int, ...]
) -> None:
    """Neighbours of a row are inside: their positions are read once."""
    size = 64
    r, i, c = (UOp.range(n, at) for at, n in enumerate((ROWS, size, WIDTH)))
    j = UOp.range(COUNT, 3, AxisType.REDUCE)
    position = param(1, ROWS * COUNT, dtypes.int32).index(r * COUNT + j).load()
    x = param(2, COUNT * WIDTH, dtypes.int32).index(c * COUNT + j if apart else j * WIDTH + c).load()
    total = i.cast(dtypes.int32).eq(position).where(x, 0).reduce(Ops.ADD, j)
    idx = r * (size * WIDTH) + (c * size + i if apart else i * WIDTH + c)
    place = param(0, ROWS * size * WIDTH, dtypes.int32).index(idx)
    ast = UOp.sink(place.store(total, r, i, c), arg=KernelInfo("sums"))
    _, step = scatter(ast, LOOPS).src
    assert tuple(q.arg.ident[0] for q in step.src[2:]) == order
    values = (np.full(ROWS * size * WIDTH, 7), *(np.arange(ROWS * COUNT) % 5, np.arange(COUNT * WIDTH)))
    data, expected = ([storage_of(v, dtypes.int32) for v in values] for _ in range(2))
    evaluate_kernel(ast, expected)
    run_lowered(lower(ast, LOOPS), data)
    assert np.array_equal(data[0], expected[0])
