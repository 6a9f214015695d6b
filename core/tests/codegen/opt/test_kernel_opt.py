import re

import pytest

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(_ALL, _ALL, vector_bits=256, threads=4)
GRID = Capabilities(
    _ALL, _ALL, grid_dims=3, max_workgroup=64, max_workgroup_dims=(64, 64, 64), local_memory_bytes=512
)


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


i, j = UOp.range(12, 0), UOp.range(8, 1)
k = UOp.range(16, 2, AxisType.REDUCE)


def elementwise() -> UOp:
    place = i * 8 + j
    return UOp.sink(param(0, 96).index(place).store(param(1, 96).index(place).load(), i, j), arg=KernelInfo())


def row_sums() -> UOp:
    total = param(1, 192).index(i * 16 + k).load().reduce(Ops.ADD, k)
    return UOp.sink(param(0, 12).index(i).store(total, i), arg=KernelInfo())


def axes_of(kernel: KernelOpt) -> list[tuple[tuple[int, ...], str, int]]:
    return [(r.arg.ident, r.arg.kind.name, r.src[0].arg) for r in kernel.axes()]


def stored_order(kernel: KernelOpt) -> list[tuple[int, ...]]:
    return [r.arg.ident for r in kernel.ast.src[0].src[2:]]


def refused(ast: UOp, capabilities: Capabilities, message: str, *opts: Opt) -> None:
    kernel = KernelOpt(ast, capabilities).apply_all(opts[:-1])
    before = kernel.ast, list(kernel.applied)
    with pytest.raises(KernelOptError, match=re.escape(message)):
        kernel.apply(opts[-1])
    assert (kernel.ast, kernel.applied) == before


def test_upcast_splits_an_output_axis_inside() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.UPCAST, (1,), 4))
    assert axes_of(kernel) == [((0,), "LOOP", 12), ((1, 0), "LOOP", 2), ((1, 1), "UPCAST", 4)]
    outer, inner = kernel.axes()[1:]
    place = simplify(i * 8 + outer * 4 + inner)
    want = param(0, 96).index(place).store(param(1, 96).index(place).load(), i, outer, inner)
    assert kernel.ast is UOp.sink(want, arg=KernelInfo())


def test_an_axis_keeps_its_name_when_another_is_split() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply_all(
        [Opt(OptOps.UPCAST, (0,), 2), Opt(OptOps.UPCAST, (1,), 2), Opt(OptOps.UPCAST, (0, 0), 3)]
    )
    assert [ident for ident, _, _ in axes_of(kernel)] == [(0, 0, 0), (0, 0, 1), (0, 1), (1, 0), (1, 1)]


def test_a_whole_axis_keeps_its_name_and_changes_its_kind() -> None:
    kernel = KernelOpt(row_sums(), LOOPS)
    kernel.apply(Opt(OptOps.UNROLL, (2,), 16))
    assert axes_of(kernel) == [((0,), "LOOP", 12), ((2,), "UNROLL", 16)]


def test_upcast_of_a_reduced_axis_makes_separate_accumulators() -> None:
    kernel = KernelOpt(row_sums(), LOOPS)
    kernel.apply(Opt(OptOps.UPCAST, (2,), 8))
    assert axes_of(kernel)[1:] == [((2, 0), "REDUCE", 2), ((2, 1), "PARTIAL", 8)]


def test_group_takes_every_nth_step() -> None:
    group = KernelOpt(row_sums(), GRID)
    group.apply(Opt(OptOps.GROUP, (2,), 4))
    assert axes_of(group)[1:] == [((2, 0), "REDUCE", 4), ((2, 1), "GROUP_REDUCE", 4)]


def test_thread_splits_outside_and_stands_first() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.THREAD, (1,), 4))
    assert stored_order(kernel) == [(1, 0), (0,), (1, 1)]


def test_axes_of_a_grid_are_global() -> None:
    assert [kind for _, kind, _ in axes_of(KernelOpt(elementwise(), GRID))] == ["GLOBAL", "GLOBAL"]


def test_swap_exchanges_the_loop_order() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.SWAP, (0,), (1,)))
    assert stored_order(kernel) == [(1,), (0,)]


def test_padding_gates_what_is_beyond_the_axis() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.PADTO, (0,), 8))
    wide = UOp.range(16, 0)
    inside = wide < 12
    place = simplify(wide * 8 + j)
    want = param(0, 96).index(place, inside).store(param(1, 96).index(place, inside).load(), wide, j)
    assert kernel.ast is UOp.sink(want, arg=KernelInfo())


@pytest.mark.parametrize(("op", "neutral"), [(Ops.ADD, 0), (Ops.MUL, 1), (Ops.MAX, -(1 << 31))])
def test_padded_steps_of_a_reduction_change_nothing(op: Ops, neutral: int) -> None:
    value = param(1, 16, dtypes.int32).index(k).load()
    zero = UOp.const(dtypes.index, 0)
    ast = UOp.sink(param(0, 1, dtypes.int32).index(zero).store(value.reduce(op, k)), arg=KernelInfo())
    kernel = KernelOpt(ast, LOOPS)
    kernel.apply(Opt(OptOps.PADTO, (2,), 12))
    (reduced,) = [u for u in kernel.ast.toposort() if u.op is Ops.REDUCE]
    wide = UOp.range(24, 2, AxisType.REDUCE)
    assert reduced.src[0] is (wide < 16).where(
        param(1, 16, dtypes.int32).index(wide, wide < 16).load(), neutral
    )


def test_the_last_tile_is_shifted_in() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.SHIFTIN, (0,), 5))
    tiles, inner = UOp.range(3, (0, 0)), UOp.range(5, (0, 1))
    place = simplify(((tiles * 5).minimum(7) + inner) * 8 + j)
    want = param(0, 96).index(place).store(param(1, 96).index(place).load(), tiles, inner, j)
    assert kernel.ast is UOp.sink(want, arg=KernelInfo())
    assert (place.vmin, place.vmax) == (0, 95)


def test_what_reads_its_own_output_is_not_computed_twice() -> None:
    place = param(0, 12).index(i)
    ast = UOp.sink(place.store(place.load() + 1.0, i), arg=KernelInfo())
    refused(ast, LOOPS, "no element may be computed twice", Opt(OptOps.SHIFTIN, (0,), 5))


@pytest.mark.parametrize(("op", "count"), [(OptOps.SHIFTIN, 0), (OptOps.SHIFTIN, 12), (OptOps.SHIFTIN, 13)])
def test_a_tile_is_a_part_of_its_axis(op: OptOps, count: int) -> None:
    refused(
        elementwise(), LOOPS, "12 steps; a part has some of a constant number, not all", Opt(op, (0,), count)
    )


def test_a_tile_of_a_symbolic_axis_is_refused() -> None:
    n = UOp.range(UOp.variable("n", 1, 12), 0)
    ast = UOp.sink(param(0, 12).index(n).store(param(1, 12).index(n).load(), n), arg=KernelInfo())
    refused(ast, LOOPS, "12 steps at most, symbolic", Opt(OptOps.SHIFTIN, (0,), 4))


def test_shifting_takes_output_axes_and_peeling_reduced_ones() -> None:
    refused(row_sums(), LOOPS, "is REDUCE, which SHIFTIN", Opt(OptOps.SHIFTIN, (2,), 3))
    refused(row_sums(), LOOPS, "is LOOP, which SPLIT_REMAINDER", Opt(OptOps.SPLIT_REMAINDER, (0,), 3))


def test_a_cut_axis_is_two_loops() -> None:
    kernel = KernelOpt(elementwise(), LOOPS)
    kernel.apply(Opt(OptOps.SPLIT, (1,), 3))
    first, last = UOp.range(3, (1, 0)), UOp.range(5, (1, 1))
    stores = [
        param(0, 96).index(place).store(param(1, 96).index(place).load(), i, part)
        for part, place in ((first, i * 8 + first), (last, simplify(i * 8 + (last + 3))))
    ]
    assert kernel.ast is UOp.sink(*stores, arg=KernelInfo())


def test_a_cut_is_inside_of_a_loop_whose_steps_read_only_what_they_write() -> None:
    for place in (0, 8):
        refused(elementwise(), LOOPS, "the axis has 8 steps; a part has some", Opt(OptOps.SPLIT, (1,), place))
    refused(row_sums(), LOOPS, "is REDUCE, which SPLIT does not take", Opt(OptOps.SPLIT, (2,), 3))
    place, beside = param(0, 12).index(i), param(0, 12).index(11 - i)
    own, other = (UOp.sink(place.store(u.load() + 1.0, i), arg=KernelInfo()) for u in (place, beside))
    refused(other, LOOPS, "the kernel reads memory that it writes", Opt(OptOps.SPLIT, (0,), 5))
    KernelOpt(own, LOOPS).apply(Opt(OptOps.SPLIT, (0,), 5))


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX])
def test_what_is_left_of_a_reduction_is_one_of_its_own(op: Ops) -> None:
    x, zero = param(1, 16), UOp.const(dtypes.index, 0)
    ast = UOp.sink(param(0, 1).index(zero).store(x.index(k).load().reduce(op, k)), arg=KernelInfo())
    kernel = KernelOpt(ast, LOOPS)
    kernel.apply(Opt(OptOps.SPLIT_REMAINDER, (2,), 6))
    first, last = UOp.range(12, (2, 0), AxisType.REDUCE), UOp.range(4, (2, 1), AxisType.REDUCE)
    both = x.index(first).load().reduce(op, first).alu(op, x.index(last + 12).load().reduce(op, last))
    assert kernel.ast is UOp.sink(param(0, 1).index(zero).store(simplify(both)), arg=KernelInfo())


def test_peeling_needs_something_left() -> None:
    refused(row_sums(), LOOPS, "which 4 divides", Opt(OptOps.SPLIT_REMAINDER, (2,), 4))


def test_padding_to_a_divisor_changes_nothing() -> None:
    ast = elementwise()
    kernel = KernelOpt(ast, LOOPS)
    kernel.apply(Opt(OptOps.PADTO, (0,), 4))
    assert kernel.ast is ast


def test_applied_optimisations_are_noted_on_the_kernel() -> None:
    opts = (Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.THREAD, (0,), 2))
    kernel = KernelOpt(elementwise(), LOOPS).apply_all(opts)
    assert kernel.finished().arg == KernelInfo("kernel", opts)


def test_what_cannot_be_done_is_refused_and_changes_nothing() -> None:
    refused(
        elementwise(), LOOPS, "no axis (7,) in this kernel: it has (0,), (1,)", Opt(OptOps.UPCAST, (7,), 2)
    )
    refused(
        elementwise(), LOOPS, "the axis has 12 steps, which 5 does not divide", Opt(OptOps.UPCAST, (0,), 5)
    )
    refused(elementwise(), LOOPS, "which 0 does not divide", Opt(OptOps.UPCAST, (0,), 0))
    refused(elementwise(), LOOPS, "axis (0,) is LOOP, which UNROLL", Opt(OptOps.UNROLL, (0,), 2))
    refused(row_sums(), LOOPS, "axis (2,) is REDUCE, which THREAD", Opt(OptOps.THREAD, (2,), 2))
    refused(elementwise(), LOOPS, "takes a number", Opt(OptOps.UPCAST, (0,), (1,)))
    refused(elementwise(), LOOPS, "8 work-items, and a group has at most 0", Opt(OptOps.LOCAL, (1,), 8))
    refused(elementwise(), GRID, "the target has no threads", Opt(OptOps.THREAD, (1,), 2))
    refused(elementwise(), GRID, "96 work-items", Opt(OptOps.LOCAL, (0,), 12), Opt(OptOps.LOCAL, (1,), 8))
    refused(row_sums(), LOOPS, "SWAP takes output axes", Opt(OptOps.SWAP, (0,), (2,)))
    refused(
        elementwise(), LOOPS, "pad an axis before", Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.PADTO, (1, 1), 3)
    )
    refused(elementwise(), LOOPS, "positive multiple", Opt(OptOps.PADTO, (1,), 0))


def test_symbolic_axes_cannot_be_split_or_padded() -> None:
    n = UOp.range(UOp.variable("n", 1, 9), 0)
    ast = UOp.sink(param(0, 9).index(n).store(param(1, 9).index(n).load(), n), arg=KernelInfo())
    refused(ast, LOOPS, "9 steps at most, symbolic", Opt(OptOps.UPCAST, (0,), 3))
    refused(ast, LOOPS, "constant size", Opt(OptOps.PADTO, (0,), 4))


def test_groups_share_no_more_than_local_memory_holds() -> None:
    shared = Opt(OptOps.GROUP, (2,), 16)
    KernelOpt(row_sums(), GRID).apply_all([Opt(OptOps.UPCAST, (0,), 6), shared])
    refused(
        row_sums(), GRID, "share 768 bytes, and local memory has 512", Opt(OptOps.UPCAST, (0,), 12), shared
    )
    refused(
        row_sums(), GRID, "share 768 bytes, and local memory has 512", shared, Opt(OptOps.UPCAST, (0,), 12)
    )


def test_a_reduction_inside_of_a_loop_is_not_shared() -> None:
    inner = UOp.range(4, 3, AxisType.REDUCE)
    nested = param(1, 64).index(k * 4 + inner).load().reduce(Ops.ADD, inner).reduce(Ops.MAX, k)
    ast = UOp.sink(param(0, 1).index(UOp.const(dtypes.index, 0)).store(nested), arg=KernelInfo())
    refused(ast, GRID, "a loop over [(2,)] is around", Opt(OptOps.GROUP, (3,), 4))
    KernelOpt(ast, GRID).apply(Opt(OptOps.GROUP, (2,), 4))


def two_stores() -> UOp:
    """A kernel with a store outside of the axis j, which adds to what is there."""
    inside = param(0, 96).index(i * 8 + j).store(param(1, 8).index(j).load(), i, j)
    place = param(2, 12).index(i)
    return UOp.sink(inside, place.store(place.load() + 1.0, i), arg=KernelInfo())


def test_an_axis_that_a_store_stands_outside_of_stays_a_loop() -> None:
    assert [kind for _, kind, _ in axes_of(KernelOpt(two_stores(), GRID))] == ["GLOBAL", "LOOP"]
    refused(two_stores(), LOOPS, "a store outside of axis (1,)", Opt(OptOps.THREAD, (1,), 2))
    refused(two_stores(), LOOPS, "outside of the other", Opt(OptOps.SWAP, (0,), (1,)))


def counts() -> UOp:
    """Return a kernel that adds rows of 8 where 16 positions say."""
    step = UOp.range(16, 2)
    place = param(2, 16, dtypes.int32).index(step).load().cast(dtypes.index) * 8 + j
    value = param(1, 128).index(step * 8 + j).load()
    return UOp.sink(param(0, 96).index(place).store(value, step, j, op=Ops.ADD), arg=KernelInfo())


def test_steps_that_may_update_one_element_are_not_written_out() -> None:
    message = "may update one element, each for itself"
    refused(counts(), GRID, message, Opt(OptOps.UPCAST, (2,), 4))
    kernel = KernelOpt(counts(), GRID)
    kernel.apply_all([Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.LOCAL, (2,), 16)])
    assert [kind for _, kind, _ in axes_of(kernel)] == ["GLOBAL", "UPCAST", "LOCAL"]


def test_updates_are_not_repeated() -> None:
    refused(counts(), GRID, "no element may be computed twice", Opt(OptOps.SHIFTIN, (2,), 3))
    kernel = KernelOpt(counts(), GRID)
    kernel.apply(Opt(OptOps.PADTO, (2,), 5))
    (store,) = kernel.ast.src
    # the steps that were added update nothing
    assert kernel.axis((2,)) in store.src[0].src[2].ranges


def test_steps_that_all_update_one_element_are_not_padded() -> None:
    step = UOp.range(12, 0)
    value = param(1, 12).index(step).load()
    ast = UOp.sink(param(0, 1).index(step * 0).store(value, step, op=Ops.ADD), arg=KernelInfo())
    refused(simplify(ast), GRID, "nothing gates", Opt(OptOps.PADTO, (0,), 5))


def normalised() -> UOp:
    """Return the kernel of 12 rows that are divided by their sums."""
    total = param(1, 192).index(i * 16 + k).load().reduce(Ops.ADD, k)
    column = UOp.range(16, 3)
    place = i * 16 + column
    value = param(1, 192).index(place).load() * total.alu(Ops.RECIP)
    return UOp.sink(param(0, 192).index(place).store(value, i, column), arg=KernelInfo())


def test_a_loop_behind_reductions_is_no_axis_of_the_grid() -> None:
    kinds = [("GLOBAL", 12), ("REDUCE", 16), ("LOOP", 16)]
    assert [(kind, size) for _, kind, size in axes_of(KernelOpt(normalised(), GRID))] == kinds


def test_work_items_take_steps_of_a_loop_behind_their_reduction() -> None:
    kernel = KernelOpt(normalised(), GRID).apply_all(
        [Opt(OptOps.GROUP, (2,), 8), Opt(OptOps.JOIN, (3,), (2, 1))]
    )
    assert axes_of(kernel) == [
        ((0,), "GLOBAL", 12),
        ((2, 0), "REDUCE", 2),
        ((2, 1), "GROUP_REDUCE", 8),
        ((3, 0), "LOOP", 2),
    ]
    assert stored_order(kernel) == [(0,), (2, 1), (3, 0)]


def test_a_join_takes_work_items_of_a_reduction_that_other_loops_have() -> None:
    group, join = Opt(OptOps.GROUP, (2,), 8), Opt(OptOps.JOIN, (3,), (2, 1))
    refused(normalised(), GRID, "axis (0,) is GLOBAL; JOIN takes one of GROUP", Opt(OptOps.JOIN, (3,), (0,)))
    refused(normalised(), GRID, "JOIN does not take", group, Opt(OptOps.JOIN, (0,), (2, 1)))
    refused(normalised(), GRID, "one nest of loops has both axes", group, Opt(OptOps.JOIN, (2, 0), (2, 1)))
    refused(
        normalised(), GRID, "one nest of loops has both axes", group, join, Opt(OptOps.JOIN, (3, 0), (2, 1))
    )
