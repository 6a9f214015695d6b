"""Loads before loops that a variable makes empty are not done."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.prepare.guard_empty_loops import guard_empty_loops
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered

N = UOp.variable("n", 1, 2)
OUT, X = (UOp(Ops.PARAM, dtypes.int32, (), (slot, 2)) for slot in range(2))
LEFT = 2 - N


def last_row(is_gated: bool) -> UOp:
    """Return the kernel of `x[n:].sum()`, as folding leaves it: the loop has one step at most."""
    k = UOp.range(LEFT, (0,), AxisType.REDUCE)
    row = X.index(N, LEFT > 0) if is_gated else X.index(N)
    total = UOp(Ops.REDUCE, dtypes.int32, (row.load(), k), (Ops.ADD, 1))
    return UOp.sink(OUT.index(UOp.const(dtypes.index, 0)).store(total), arg=KernelInfo("last"))


def test_a_load_that_may_miss_is_gated() -> None:
    assert guard_empty_loops(last_row(is_gated=False)) is last_row(is_gated=True)
    assert guard_empty_loops(last_row(is_gated=True)) is last_row(is_gated=True)


def test_loads_that_cannot_miss_or_move_along_stay() -> None:
    k = UOp.range(LEFT, (0,), AxisType.REDUCE)
    inside = X.index(N - 1).load().reduce(Ops.MAX, k)
    along = X.index(N + k).load().cast(dtypes.int32).reduce(Ops.MAX, UOp.range(3 - N, (1,), AxisType.REDUCE))
    sink = UOp.sink(OUT.index(UOp.const(dtypes.index, 0)).store(inside + along), arg=KernelInfo("stay"))
    assert guard_empty_loops(sink) is sink


@pytest.mark.parametrize(("n", "expected"), [(1, 7), (2, 0)])
def test_the_sum_of_no_rows_is_zero(n: int, expected: int) -> None:
    out, x = np.full(2, -1, np.int32).view(np.uint8), np.array([5, 7], np.int32).view(np.uint8)
    for opts in ((), None):
        run_lowered(lower(last_row(is_gated=False), CAPABILITIES, opts), [out, x], {"n": n})
        assert out.view(np.int32).tolist() == [expected, -1]


@pytest.mark.parametrize("n", [1, 2])
def test_a_store_in_a_loop_of_no_steps_loads_nothing(n: int) -> None:
    i = UOp.range(LEFT, (0,), AxisType.LOOP)
    place = OUT.index(UOp.const(dtypes.index, 0))
    ast = UOp.sink(place.store(X.index(N).load(), i), arg=KernelInfo("copy"))
    loops = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=())
    out, x = np.full(2, -1, np.int32).view(np.uint8), np.array([5, 7], np.int32).view(np.uint8)
    run_lowered(lower(ast, loops, ()), [out, x], {"n": n})
    assert out.view(np.int32).tolist() == [7 if n == 1 else -1, -1]


def test_a_load_from_memory_that_may_be_too_short_is_gated() -> None:
    k = UOp.range(LEFT, (0,), AxisType.REDUCE)
    long, short = UOp.variable("m", 3, 9), UOp.variable("m", 2, 9)
    for size, is_long_enough in ((3, True), (long, True), (short, False)):
        x = UOp(Ops.PARAM, dtypes.int32, (), (1, size))
        total = UOp(Ops.REDUCE, dtypes.int32, (x.index(N).load(), k), (Ops.ADD, 1))
        sink = UOp.sink(OUT.index(UOp.const(dtypes.index, 0)).store(total), arg=KernelInfo("last"))
        assert (guard_empty_loops(sink) is sink) == is_long_enough
