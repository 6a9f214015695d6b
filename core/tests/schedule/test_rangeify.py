import functools
import weakref
from dataclasses import replace

import pytest

from plugrad._util import collector_paused
from plugrad.dtype import dtypes
from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.fusion import CostModel
from plugrad.schedule.movement import max_shape
from plugrad.schedule.rangeify import Rangeify
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

LOOPS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 20)
SHARING = replace(GRID, shares_rows=True)


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def kernels(*values: UOp, model: CostModel = LOOPS) -> list[FusedKernel]:
    return Rangeify(UOp.sink(*values), {"PYTHON": model}, "PYTHON", set(values)).run()


def kinds(kernel: FusedKernel) -> list[tuple[AxisType, int]]:
    assert kernel.ast is not None
    return [(u.arg.kind, u.src[0].arg) for u in kernel.ast.toposort() if u.op is Ops.RANGE]


def test_each_axis_of_the_result_is_a_range_and_axes_of_one_are_none() -> None:
    (kernel,) = kernels(buffer(4, 1, 3) + 1)
    assert kinds(kernel) == [(AxisType.LOOP, 4), (AxisType.LOOP, 3)]
    assert kernel.ast is not None
    assert len(kernel.ast.src) == 4


def test_a_reduction_opens_ranges_of_its_own() -> None:
    (kernel,) = kernels(buffer(4, 8).reduce_axis(Ops.MAX, (1,)))
    assert sorted(kinds(kernel), key=str) == [(AxisType.LOOP, 4), (AxisType.REDUCE, 8)]


def test_a_mask_is_computed_wherever_what_it_masks_is_read_anyway() -> None:
    def masked_in_many_kernels(x: UOp, mask: UOp) -> list[UOp]:
        chosen = mask.where(x.const_like(0), x)
        return [(chosen + i).reduce_axis(Ops.ADD, (1,)) for i in range(10)]

    x, other = buffer(1 << 10, 1 << 10), buffer(1 << 10, 1 << 10)
    assert len(kernels(*masked_in_many_kernels(x, (x < 0) | x.eq(0)))) == 10
    # of what nobody else reads, a byte is less than its four
    assert len(kernels(*masked_in_many_kernels(x, (other < 0) | other.eq(0)))) == 11


def test_a_chain_whose_every_step_a_kernel_reads_is_computed_there_again() -> None:
    x = buffer(1 << 10, 1 << 10).exp()
    steps = [x]
    for _ in range(20):
        steps.append(steps[-1] * x + 1.0)
    # as the derivative of a polynomial reads each of its partial results
    derivative = functools.reduce(lambda total, step: total * x + step, steps, x)
    assert len(kernels(steps[-1], derivative)) == 2


def test_loops_convert_the_factors_of_a_product_once_and_a_grid_as_it_loads_them() -> None:
    a, b = (UOp.new_buffer("PYTHON", (512, 512), dtypes.float16).cast(dtypes.float32) for _ in range(2))
    full = (512, 512, 512)
    left, right = a.reshape((512, 1, 512)).expand(full), b.reshape((1, 512, 512)).expand(full)
    product = (left * right).reduce_axis(Ops.ADD, (2,))
    assert len(kernels(product)) == 3
    assert len(kernels(product, model=GRID)) == 1


def test_padding_is_a_gate_on_the_load() -> None:
    (kernel,) = kernels(buffer(4).pad(((1, 1),)) + 1)
    assert kernel.ast is not None
    (index,) = [u for u in kernel.ast.toposort() if u.op is Ops.INDEX and len(u.src) == 3]
    assert index.src[2].dtype is dtypes.bool
    assert not any(u.op is Ops.WHERE for u in kernel.ast.toposort())


def test_padding_of_a_computed_value_chooses_zero() -> None:
    (kernel,) = kernels((buffer(4) + 1).pad(((1, 1),)) + 1)
    assert kernel.ast is not None
    assert any(u.op is Ops.WHERE for u in kernel.ast.toposort())


def test_padding_of_a_number_is_asked_of_indices_and_never_stored() -> None:
    inside = UOp.const(dtypes.float32, 1.0).reshape((1,)).expand((4,)).pad(((1, 1),))
    shape = (9, 6)
    chosen = buffer(*shape) * inside.reshape((1, 6)).expand(shape)
    (kernel,) = kernels(chosen.reduce_axis(Ops.ADD, (1,)))
    assert kernel.ast is not None
    assert [u.op for u in kernel.ast.toposort() if u.op is Ops.STORE] == [Ops.STORE]


def test_a_value_that_is_read_in_two_ways_is_computed_in_both_if_it_is_cheap() -> None:
    x = buffer(64) * 2
    assert len(kernels(x + x.flip((0,)))) == 1


def test_a_number_that_one_operation_makes_is_not_loaded_instead() -> None:
    places = (UOp.iota(4096, dtypes.int32) + 1).reshape((1, 4096)).expand((1 << 14, 4096))
    assert len(kernels(buffer(1 << 14, 4096).cast(dtypes.int32) + places, model=GRID)) == 1


def test_a_dear_value_that_every_row_reads_gets_memory() -> None:
    x = buffer(1, 512).sin()
    assert len(kernels(buffer(512, 512) + x.expand((512, 512)))) == 2


def test_a_value_of_each_row_is_computed_in_the_row_where_loops_run() -> None:
    x = buffer(512, 1).sin()
    value = buffer(512, 512) + x.expand((512, 512))
    assert len(kernels(value)) == 1
    assert len(kernels(value, model=GRID)) == 2


def test_a_row_is_reduced_where_it_is_used_if_loops_run() -> None:
    x = buffer(64, 32)
    value = x - x.reduce_axis(Ops.MAX, (1,)).expand((64, 32))
    assert len(kernels(value)) == 1
    assert len(kernels(value, model=GRID)) == 2


def softmax(x: UOp) -> UOp:
    shape = x.shape
    powers = (x - x.reduce_axis(Ops.MAX, (1,)).expand(shape)).alu(Ops.EXP)
    return powers * powers.reduce_axis(Ops.ADD, (1,)).alu(Ops.RECIP).expand(shape)


def test_a_group_of_a_grid_has_all_loops_along_a_row() -> None:
    assert len(kernels(softmax(buffer(512, 1024)), model=SHARING)) == 1
    assert len(kernels(softmax(buffer(512, 1024)), model=GRID)) == 3


def test_rows_that_do_not_lie_in_memory_as_such_have_a_kernel_for_each_reduction() -> None:
    assert len(kernels(softmax(buffer(1024, 512).permute((1, 0))), model=SHARING)) == 3


def test_a_product_reads_the_sums_of_its_rows_from_memory() -> None:
    x = buffer(64, 64)
    scaled = x - x.reduce_axis(Ops.MAX, (1,)).expand((64, 64))
    left, right = scaled.reshape((64, 1, 64)).expand((64, 64, 64)), buffer(1, 64, 64).expand((64, 64, 64))
    assert len(kernels((left * right).reduce_axis(Ops.ADD, (2,)), model=SHARING)) == 2


def test_a_reduction_that_two_kernels_need_gets_memory() -> None:
    total = buffer(8, 8).reduce_axis(Ops.ADD, (0, 1)).reshape(())
    assert len(kernels(buffer(4) + total, buffer(5) + total)) == 3


def test_a_reduction_over_columns_and_its_use_are_two_kernels() -> None:
    x = buffer(64, 32)
    assert len(kernels(x - x.reduce_axis(Ops.MAX, (0,)).expand((64, 32)))) == 2


def product(rows: int, inner: int, columns: int) -> UOp:
    full = (rows, columns, inner)
    left, right = buffer(rows, 1, inner).expand(full), buffer(1, columns, inner).expand(full)
    return (left * right).reduce_axis(Ops.ADD, (2,)).reshape((rows, columns))


@pytest.mark.parametrize("model", [LOOPS, GRID])
def test_two_contractions_are_two_kernels(model: CostModel) -> None:
    assert len(kernels(product(64, 128, 64) + product(64, 256, 64), model=model)) == 2


def test_contractions_that_are_cheaper_than_memory_share_a_kernel() -> None:
    assert len(kernels(product(64, 16, 64) + product(64, 16, 64))) == 1


def test_sums_that_read_each_element_once_share_a_kernel() -> None:
    """Vectors times matrices have nothing that registers could reuse."""
    assert len(kernels(product(1, 1024, 64) + product(1, 1024, 64))) == 1
    sums = [buffer(64, 1024).reduce_axis(Ops.ADD, (1,)) for _ in range(2)]
    assert len(kernels(sums[0] + sums[1])) == 1


def test_memory_that_is_asked_for_is_given() -> None:
    assert len(kernels((buffer(4) + 1).contiguous() * 2)) == 2


def test_numbers_are_computed_in_the_kernel() -> None:
    (kernel,) = kernels(buffer(4) + UOp.iota(4).cast(dtypes.float32))
    assert kernel.ast is not None
    assert sum(u.op is Ops.PARAM for u in kernel.ast.toposort()) == 2


def test_symbolic_sizes_count_as_their_highest() -> None:
    assert max_shape((3, UOp.variable("n", 1, 8) * 2)) == (3, 16)


def test_a_run_is_gone_with_its_last_user() -> None:
    x = buffer(4, 8)
    with collector_paused():
        run = Rangeify(UOp.sink(x + 1), {"PYTHON": LOOPS}, "PYTHON", {x + 1})
        run.run()
        ended = weakref.ref(run)
        del run
        assert ended() is None
