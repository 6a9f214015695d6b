"""Tests of plugrad.codegen.opt.neighbours."""

from dataclasses import replace

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.neighbours import neighbours
from plugrad.codegen.opt.opt_ops import GroupTile, Opt, OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(_ALL, _ALL, vector_bits=256, threads=4, local_memory_bytes=1 << 14)
GRID = Capabilities(
    _ALL, _ALL, grid_dims=3, max_workgroup=64, max_workgroup_dims=(64, 64, 64), local_memory_bytes=512
)
UPCAST, SHIFTIN, THREAD, STAGE = OptOps.UPCAST, OptOps.SHIFTIN, OptOps.THREAD, OptOps.STAGE


def row_sums(rows: int = 12) -> UOp:
    i, k = UOp.range(rows, 0), UOp.range(16, 2, AxisType.REDUCE)
    source, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, n)) for slot, n in ((1, rows * 16), (0, rows)))
    return UOp.sink(
        out.index(i).store(source.index(i * 16 + k).load().reduce(Ops.ADD, k), i), arg=KernelInfo()
    )


def lists(ast: UOp, capabilities: Capabilities, *opts: Opt) -> set[tuple[Opt, ...]]:
    return {tuple(kernel.applied) for kernel in neighbours(ast, capabilities, opts)}


def test_plain_loops_get_one_decision() -> None:
    found = lists(row_sums(), LOOPS)
    assert (Opt(UPCAST, (0,), 4),) in found
    assert (Opt(SHIFTIN, (0,), 8), Opt(UPCAST, (0, 1), 8)) in found
    assert (Opt(OptOps.UNROLL, (2,), 16),) in found
    assert (Opt(THREAD, (0,), 4),) in found
    # 8 does not divide 12
    assert (Opt(UPCAST, (0,), 8),) not in found


def test_each_neighbour_applies_and_is_yielded_once() -> None:
    start = (Opt(UPCAST, (0,), 4), Opt(THREAD, (0, 0), 3))
    found = list(neighbours(row_sums(), LOOPS, start))
    assert len({tuple(kernel.applied) for kernel in found}) == len(found)
    for kernel in found:
        assert KernelOpt(row_sums(), LOOPS).apply_all(kernel.applied).ast is kernel.ast
    assert start not in {tuple(kernel.applied) for kernel in found}


def test_dropping_a_split_drops_what_its_parts_have() -> None:
    found = lists(row_sums(), LOOPS, Opt(UPCAST, (0,), 4), Opt(THREAD, (0, 0), 3))
    assert () in found
    assert (Opt(UPCAST, (0,), 4),) in found


def test_a_tile_of_another_size_is_split_off_in_that_size() -> None:
    found = lists(row_sums(), LOOPS, Opt(SHIFTIN, (0,), 8), Opt(UPCAST, (0, 1), 8))
    assert (Opt(SHIFTIN, (0,), 6), Opt(UPCAST, (0, 1), 6)) in found
    assert not any(opts[0].arg != opts[1].arg for opts in found if [o.op for o in opts] == [SHIFTIN, UPCAST])


def test_what_is_added_goes_before_threads_and_their_split() -> None:
    start = (Opt(SHIFTIN, (0,), 4), Opt(THREAD, (0, 0), 4))
    found = lists(row_sums(13), LOOPS, *start)
    assert (Opt(OptOps.UNROLL, (2,), 4), *start) in found


def test_a_grid_gets_groups() -> None:
    found = lists(row_sums(64), GRID)
    assert (Opt(OptOps.LOCAL, (0,), 32),) in found
    assert (Opt(OptOps.GROUP, (2,), 16),) in found
    assert not any(opt.op in (THREAD, STAGE) for opts in found for opt in opts)


def test_copies_of_a_group_get_other_steps_that_stay_written_out() -> None:
    i, j, k = UOp.range(8, 0), UOp.range(8, 1), UOp.range(30, 2, AxisType.REDUCE)
    out, a, b = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 240)) for slot in range(3))
    product = a.index(i * 30 + k).load() * b.index(k * 8 + j).load()
    ast = UOp.sink(out.index(i * 8 + j).store(product.reduce(Ops.ADD, k), i, j), arg=KernelInfo())

    def opts(steps: int, ahead: int = 0) -> tuple[Opt, ...]:
        share = Opt(OptOps.SHARE, (2,), GroupTile(steps, ((0,), (1,)), ahead=ahead))
        return Opt(OptOps.PADTO, (2,), steps), share, Opt(OptOps.UNROLL, (2, 1), steps)

    found = lists(ast, replace(GRID, local_memory_bytes=1 << 14), *opts(8))
    assert {opts(4), opts(16), opts(8, 1)} <= found
