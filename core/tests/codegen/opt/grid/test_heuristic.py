"""What grids are made of, by how a kernel reads memory; times are for real devices."""

import math
from dataclasses import replace

import pytest

from plugrad.builtin.null import CAPABILITIES
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.codegen.prepare.ranges import simplify_ranges
from plugrad.codegen.rebuild import stores_of
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

GRID = replace(CAPABILITIES, compute_units=64, thread_registers=255)


def param(slot: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 28))


def reduction(results: int, steps: int, by_row: bool = True, op: Ops = Ops.ADD) -> UOp:
    """Return the kernel of a reduction along rows, or along columns."""
    i, k = UOp.range(results, 0), UOp.range(steps, 1, AxisType.REDUCE)
    place = i * steps + k if by_row else k * results + i
    sink = UOp.sink(param(0).index(i).store(param(1).index(place).load().reduce(op, k), i), arg=KernelInfo())
    return simplify_ranges(sink)


def matmul(rows: int, columns: int, steps: int) -> UOp:
    i, j, k = UOp.range(rows, 0), UOp.range(columns, 1), UOp.range(steps, 2, AxisType.REDUCE)
    product = param(1).index(i * steps + k).load() * param(2).index(k * columns + j).load()
    return UOp.sink(param(0).index(i * columns + j).store(product.reduce(Ops.ADD, k), i, j), arg=KernelInfo())


def steps(ast: UOp, *kinds: AxisType) -> int:
    """Return the steps that all axes of some kinds have together."""
    optimised = optimise(KernelOpt(ast, GRID))
    return math.prod(int(r.src[0].vmax) for r in optimised.axes(*kinds))


@pytest.mark.parametrize("results", [1, 64, 4095, 4096, 100_000])
@pytest.mark.parametrize("length", [1024, 50_257])
def test_a_group_takes_a_row_however_many_rows_there_are(results: int, length: int) -> None:
    assert steps(reduction(results, length), AxisType.GROUP_REDUCE) >= 128


def test_short_rows_share_a_group() -> None:
    ast = reduction(1 << 16, 128)
    assert steps(ast, AxisType.GROUP_REDUCE) < 128
    assert steps(ast, AxisType.LOCAL, AxisType.GROUP_REDUCE) == 256


def test_rows_that_begin_at_multiples_of_a_vector_are_read_by_vectors() -> None:
    assert steps(reduction(4096, 1024), AxisType.PARTIAL) == 4
    assert steps(reduction(4096, 1026), AxisType.PARTIAL) == 2
    assert steps(reduction(4096, 1025), AxisType.PARTIAL) == 1


@pytest.mark.parametrize(("row", "items"), [(400, 16 * 32), (20, 20 * 32)])
def test_few_results_of_a_batch_of_rows_have_work_items_along_both_axes(row: int, items: int) -> None:
    i, n, k = UOp.range(32, 0), UOp.range(256, 1, AxisType.REDUCE), UOp.range(row, 2, AxisType.REDUCE)
    total = param(1).index((n * 32 + i) * row + k).load().reduce(Ops.ADD, n, k)
    ast = UOp.sink(param(0).index(i).store(total, i), arg=KernelInfo())
    assert steps(ast, AxisType.GROUP_REDUCE) == items


def test_neighbours_that_are_read_twice_are_shared_by_a_group_too() -> None:
    i, k = UOp.range(32, 0), UOp.range(20, 1, AxisType.REDUCE)
    n = UOp.range(256, 2, AxisType.REDUCE)
    total = param(1).index((n * 32 + i) * 10 + k // 2).load().reduce(Ops.ADD, k, n)
    ast = UOp.sink(param(0).index(i).store(total, i), arg=KernelInfo())
    assert steps(ast, AxisType.GROUP_REDUCE) == 20 * 32


def test_rows_of_which_nothing_is_read_have_no_vectors() -> None:
    i, k = UOp.range(2, 0), UOp.range(301, 1, AxisType.REDUCE)
    is_place = param(1).index(i).load().cast(dtypes.int32).eq(k.cast(dtypes.int32)).cast(dtypes.float32)
    ast = UOp.sink(param(0).index(i).store(is_place.reduce(Ops.MAX, k), i), arg=KernelInfo())
    assert steps(simplify_ranges(ast), AxisType.PARTIAL) == 1


def test_columns_are_read_side_by_side() -> None:
    ast = reduction(1024, 8192, by_row=False)
    assert steps(ast, AxisType.LOCAL) == 32
    assert steps(ast, AxisType.GROUP_REDUCE) == 8


def test_many_columns_need_no_sharing() -> None:
    assert steps(reduction(1 << 18, 512, by_row=False), AxisType.GROUP_REDUCE) == 1


@pytest.mark.parametrize("shape", [(4096, 4096, 4096), (1021, 1019, 1013), (8192, 64, 64)])
def test_a_tile_fits_registers_and_leaves_every_unit_two_groups(shape: tuple[int, int, int]) -> None:
    ast = matmul(*shape)
    assert 1 < steps(ast, AxisType.UPCAST) <= 64
    assert steps(ast, AxisType.GLOBAL) >= 2 * GRID.compute_units


def test_a_convolution_has_no_more_accumulators_than_registers_hold() -> None:
    b, f, y, x = (UOp.range(size, n) for n, size in enumerate((8, 64, 56, 56)))
    c, v, u = (UOp.range(size, n, AxisType.REDUCE) for n, size in enumerate((64, 3, 3), 4))
    image = param(1).index(((b * 64 + c) * 58 + y + v) * 58 + x + u).load()
    weight = param(2).index(((f * 64 + c) * 3 + v) * 3 + u).load()
    place = param(0).index(((b * 64 + f) * 56 + y) * 56 + x)
    ast = UOp.sink(place.store((image * weight).reduce(Ops.ADD, c, v, u), b, f, y, x), arg=KernelInfo())
    assert 8 <= steps(ast, AxisType.UPCAST) <= 64


def test_a_map_takes_vectors_along_one_axis_only() -> None:
    i, j = UOp.range(8192, 0), UOp.range(1024, 1)
    scaled = param(1).index(i * 1024 + j).load() * param(2).index(i).load()
    ast = UOp.sink(param(0).index(i * 1024 + j).store(scaled, i, j), arg=KernelInfo())
    optimised = optimise(KernelOpt(ast, GRID))
    assert [o.axis for o in optimised.applied if o.op is OptOps.UPCAST] == [(1,)]
    assert len(stores_of(optimised.ast)) == 1


def test_a_reduction_inside_of_a_loop_is_not_shared() -> None:
    i, o, k = UOp.range(64, 0), UOp.range(8, 1, AxisType.REDUCE), UOp.range(1024, 2, AxisType.REDUCE)
    inner = param(1).index((i * 8 + o) * 1024 + k).load().reduce(Ops.MAX, k)
    ast = UOp.sink(param(0).index(i).store((inner * inner).reduce(Ops.ADD, o), i), arg=KernelInfo())
    assert steps(ast, AxisType.GROUP_REDUCE) == 1
