"""Sums by position get kernels of their own where loops run, and what they compare gets no memory."""

import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
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


def stored_values(value: UOp, runs_loops: bool) -> list[Ops]:
    """Return what each kernel of a schedule stores last."""
    cost = CostModel(cores=2, runs_loops=runs_loops, row_bytes=1 << 20)
    calls = create_schedule(UOp.sink(value), {"PYTHON": cost}, "PYTHON").calls
    return [call.ast.src[0].src[1].op for call in calls]


@pytest.mark.parametrize("runs_loops", [True, False])
def test_the_comparisons_get_no_memory(runs_loops: bool) -> None:
    assert stored_values(scattered(), runs_loops) == [Ops.REDUCE]


def test_what_is_done_with_the_sum_is_another_kernel_where_loops_run() -> None:
    old = UOp.new_buffer("PYTHON", (SIZE, WIDTH), dtypes.float32)
    assert stored_values(old + scattered(), True) == [Ops.REDUCE, Ops.ADD]
    assert stored_values(old + scattered(), False) == [Ops.ADD]
