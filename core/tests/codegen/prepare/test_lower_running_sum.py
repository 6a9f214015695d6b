"""Running sums keep totals while one loop runs, and write what the sums mean."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.prepare.lower_running_sum import keep_totals
from plugrad.dtype import DType, dtype_min, dtypes
from plugrad.errors import KernelOptError
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.strides import constant_size
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of
from plugrad_conformance.testing.random_kernels import random_opts

LOOPS = replace(
    CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=(), vector_bits=128, threads=2
)
ROWS, SIZE = 8, 24


def param(slot: int, numel: int, dtype: DType = dtypes.int32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def kernel(
    rows: int = ROWS, size: int = SIZE, inner: bool = False, has_keys: bool = True, op: Ops = Ops.ADD
) -> UOp:
    """Return `out[r, j] = 5 * (sum over l < j of x[r, l] where key[r, l] == key[r, j]) + 2`, or of maxima."""
    r, j = UOp.range(rows, 0), UOp.range(size, 1)
    before = UOp.range(size, 2, AxisType.REDUCE)
    place, other = (j * rows + r, before * rows + r) if inner else (r * size + j, r * size + before)
    keys, x = param(1, rows * size, dtypes.int8), param(2, rows * size)
    is_equal = keys.index(place).load().eq(keys.index(other).load())
    holds = is_equal & (before < j) if has_keys else before < j
    neutral = 0 if op is Ops.ADD else dtype_min(dtypes.int32)
    value = holds.where(x.index(other).load(), neutral).reduce(op, before)
    store = param(0, rows * size).index(place).store(value * 5 + 2, *((j, r) if inner else (r, j)))
    return UOp.sink(store, arg=KernelInfo("running"))


def buffers() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    numel = ROWS * SIZE
    keys = rng.choice([-128, -1, 0, 7, 127], numel)
    values = (
        (np.full(numel, 7), dtypes.int32),
        (keys, dtypes.int8),
        (rng.integers(-9, 9, numel), dtypes.int32),
    )
    return [storage_of(x, dtype) for x, dtype in values]


def test_a_running_sum_is_totals_that_are_read_and_added_to_in_order() -> None:
    j, before = UOp.range(32, 0), UOp.range(32, 1, AxisType.REDUCE)
    out, keys = param(0, 32), param(1, 32, dtypes.uint8)
    ordered, number = UOp.range(32, 0, AxisType.ORDERED), UOp.range(256, 2)
    is_equal = keys.index(j).load().eq(keys.index(before).load())
    count = (is_equal & (before < j)).cast(dtypes.int32).reduce(Ops.ADD, before)
    cleared, written, added = keep_totals(
        UOp.sink(out.index(j).store(count + 3, j), arg=KernelInfo()), LOOPS
    ).src
    totals = UOp(Ops.DEFINE_LOCAL, dtypes.int32, (), (0, 256))
    key = keys.index(ordered).load().cast(dtypes.index)
    total = totals.after(ordered).index(key).load()
    assert cleared is totals.index(number).store(UOp.const(dtypes.int32, 0), number)
    assert written is out.index(ordered).store(total + 3, ordered)
    assert added is totals.index(key).store(total + 1, ordered)


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("has_keys", [False, True])
@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX])
def test_every_optimisation_writes_what_the_sum_means(inner: bool, has_keys: bool, op: Ops) -> None:
    ast = kernel(inner=inner, has_keys=has_keys, op=op)
    expected = buffers()
    evaluate_kernel(ast, expected)
    prepared = PREPARE.run(ast, LOOPS)
    assert len(prepared.src) == 3
    chosen = [None, (), *(random_opts(KernelOpt(prepared, LOOPS), seed) for seed in range(25))]
    for opts in chosen:
        got = buffers()
        run_lowered(lower(ast, LOOPS, opts), got)
        assert np.array_equal(got[0], expected[0]), opts


@pytest.mark.parametrize("has_keys", [False, True])
def test_rows_have_threads_but_no_lanes_as_they_share_the_totals(has_keys: bool) -> None:
    prepared = KernelOpt(PREPARE.run(kernel(has_keys=has_keys), LOOPS), LOOPS)
    assert not prepared.can_repeat()
    prepared.apply(Opt(OptOps.THREAD, (0,) if has_keys else (0, 0), 2))
    for op in (OptOps.UPCAST, OptOps.SHIFTIN, OptOps.PADTO):
        with pytest.raises(KernelOptError):
            prepared.apply(Opt(op, (0, 1), 3 if op is OptOps.SHIFTIN else 4))


@pytest.mark.parametrize(
    ("rows", "threads", "beside"), [(8, 2, 4), (24, 2, 8), (24, 8, 3), (7, 1, 1), (2, 1, 1)]
)
def test_rows_of_one_key_go_on_side_by_side_where_threads_have_rows_left(
    rows: int, threads: int, beside: int
) -> None:
    prepared = keep_totals(kernel(rows, has_keys=False), replace(LOOPS, threads=threads))
    last = prepared.src[-1].src[-1]
    assert (constant_size(last) if last.arg.kind is AxisType.UPCAST else 1) == beside


def test_a_grid_and_few_steps_keep_the_sum() -> None:
    assert keep_totals(kernel(), CAPABILITIES) is kernel()
    assert keep_totals(kernel(size=8), LOOPS) is kernel(size=8)
