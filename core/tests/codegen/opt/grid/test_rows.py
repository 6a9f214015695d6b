"""Groups that have rows: reductions, and what is computed from them along the row."""

from dataclasses import replace

import pytest

from plugrad.builtin.null import CAPABILITIES
from plugrad.codegen.opt.grid.rows import row_plan
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

GRID = replace(CAPABILITIES, compute_units=64, max_workgroup=1024)


def param(slot: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 28))


def softmax(rows: int, length: int) -> UOp:
    """Return the kernel of softmax without its exponentials."""
    i, j = UOp.range(rows, 0), UOp.range(length, 1)
    m, n = (UOp.range(length, axis, AxisType.REDUCE) for axis in (2, 3))
    at = [param(1).index(i * length + place).load() for place in (j, m, n)]
    highest = at[2].reduce(Ops.MAX, n)
    total = (at[1] - highest).reduce(Ops.ADD, m)
    value = (at[0] - highest) * total.alu(Ops.RECIP)
    return UOp.sink(param(0).index(i * length + j).store(value, i, j), arg=KernelInfo())


def plan(ast: UOp) -> list[Opt]:
    kernel = KernelOpt(ast, GRID)
    return KernelOpt(ast, GRID).apply_all(row_plan(kernel)).applied


def items(opts: list[Opt]) -> int:
    return next((o.arg for o in opts if o.op is OptOps.GROUP and isinstance(o.arg, int)), 1)


def test_every_loop_along_a_row_has_the_same_work_items() -> None:
    opts = plan(softmax(4096, 4096))
    assert [o.op for o in opts].count(OptOps.GROUP) == 1
    assert [o.op for o in opts].count(OptOps.JOIN) == 2


def test_few_elements_of_each_work_item_are_written_out_by_vectors() -> None:
    kernel = KernelOpt(softmax(4096, 4096), GRID).apply_all(plan(softmax(4096, 4096)))
    assert not kernel.axes(AxisType.REDUCE, AxisType.LOOP)
    assert [r.src[0].arg for r in kernel.axes(AxisType.PARTIAL)] == [4, 4]


@pytest.mark.parametrize(("length", "count"), [(10, 1), (65, 8), (1024, 64), (8192, 512), (50_257, 1024)])
def test_longer_rows_have_more_work_items(length: int, count: int) -> None:
    assert items(plan(softmax(4096, length))) == count


def test_long_rows_keep_their_loops() -> None:
    opts = plan(softmax(64, 50_257))
    assert not any(o.op in (OptOps.UNROLL, OptOps.UPCAST) for o in opts)


def test_short_rows_share_a_group() -> None:
    assert Opt(OptOps.LOCAL, (0,), 4) in plan(softmax(4096, 1024))
    assert all(o.op is not OptOps.LOCAL for o in plan(softmax(64, 1024)))


def test_a_single_reduction_to_a_result_for_each_row_is_no_matter_of_rows() -> None:
    i, k = UOp.range(64, 0), UOp.range(1024, 1, AxisType.REDUCE)
    total = param(1).index(i * 1024 + k).load().reduce(Ops.ADD, k)
    ast = UOp.sink(param(0).index(i).store(total, i), arg=KernelInfo())
    assert row_plan(KernelOpt(ast, GRID)) == []


def test_a_variance_over_a_batch_has_work_items_along_both_axes() -> None:
    i = UOp.range(8, 0)
    n, k, m, q = (UOp.range(size, axis, AxisType.REDUCE) for axis, size in enumerate((64, 400) * 2, 1))
    one, other = (param(1).index((b * 8 + i) * 400 + r).load() for b, r in ((n, k), (m, q)))
    difference = other - one.reduce(Ops.ADD, n, k)
    total = (difference * difference).reduce(Ops.ADD, m, q)
    ast = UOp.sink(param(0).index(i).store(total, i), arg=KernelInfo())
    opts = plan(ast)
    assert Opt(OptOps.GROUP, (1,), 8) in opts
    assert Opt(OptOps.JOIN, (3,), (1, 1)) in opts


def test_a_row_as_short_as_its_vectors_gives_its_steps_to_work_items() -> None:
    i, j, k = UOp.range(64, 0), UOp.range(2, 1), UOp.range(24, 2, AxisType.REDUCE)
    highest = param(1).index(i * 24 + k).load().reduce(Ops.MAX, k)
    value = param(2).index(i * 2 + j).load() - highest
    opts = plan(UOp.sink(param(0).index(i * 2 + j).store(value, i, j), arg=KernelInfo()))
    along = [o for o in opts if o.axis == (1,)]
    assert along == [Opt(OptOps.PADTO, (1,), 8), Opt(OptOps.JOIN, (1,), (2, 0, 1))]


def test_a_store_outside_of_the_loop_along_a_row_leaves_the_row_to_other_plans() -> None:
    i, j, k = UOp.range(64, 0), UOp.range(12, 1, AxisType.LOOP), UOp.range(32, 2, AxisType.REDUCE)
    total = param(1).index(i * 32 + k).load().reduce(Ops.ADD, k)
    stores = param(0).index(i).store(total, i), param(2).index(i * 12 + j).store(total, i, j)
    assert plan(UOp.sink(*stores, arg=KernelInfo())) == []


def test_a_target_without_memory_of_groups_has_no_rows() -> None:
    alone = replace(GRID, local_memory_bytes=0, max_workgroup=1)
    assert row_plan(KernelOpt(softmax(8, 4096), alone)) == []
