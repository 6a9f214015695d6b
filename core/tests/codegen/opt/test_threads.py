"""Tests of plugrad.codegen.opt.threads."""

from dataclasses import replace

import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.codegen.opt.threads import add_threads
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

LOOPS = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, vector_bits=512, threads=2)


@pytest.mark.parametrize(("size", "pieces"), [(64, []), (1 << 16, [2]), (1 << 24, [16]), (1_000_003, [2])])
def test_cores_share_what_is_worth_waking_them(size: int, pieces: list[int]) -> None:
    """Long kernels have pieces to give to a core that is free; sizes that nothing divides have one a core."""
    i = UOp.range(size, 0)
    x, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, size)) for slot in (1, 0))
    kernel = KernelOpt(UOp.sink(out.index(i).store(x.index(i).load() + 1.0, i), arg=KernelInfo()), LOOPS)
    add_threads(kernel)
    assert [o.arg for o in kernel.applied if o.op is OptOps.THREAD] == pieces


@pytest.mark.parametrize(("steps", "threads"), [(16, 1), (1 << 16, 0)])
def test_each_thread_repeats_a_short_reduction_in_front_of_a_long_loop(steps: int, threads: int) -> None:
    i, k = UOp.range(1 << 16, 0), UOp.range(steps, 1, AxisType.REDUCE)
    x, y, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 16)) for slot in (1, 2, 0))
    total = UOp(Ops.REDUCE, dtypes.float32, (y.index(k).load(), k), (Ops.ADD, 1))
    store = out.index(i).store(x.index(i).load() + total, i)
    kernel = KernelOpt(UOp.sink(store, arg=KernelInfo()), LOOPS)
    add_threads(kernel)
    assert sum(o.op is OptOps.THREAD for o in kernel.applied) == threads
