"""Kernels that read rows where they write columns."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.transpose import write_lines
from plugrad.codegen.rebuild import stores_of
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered, storage_of, values_of

LOOPS = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, vector_bits=256, threads=1)


def transposed(rows: int, columns: int, dtype: DType = dtypes.float32, beside: bool = False) -> UOp:
    """Return the kernel of `x.T * 2`, of `rows` x `columns` results; `beside` adds a matrix that is not."""
    i, j, numel = UOp.range(rows, 0), UOp.range(columns, 1), rows * columns
    out, x, y = (UOp(Ops.PARAM, dtype, (), (slot, numel)) for slot in range(3))
    value = x.index(j * rows + i).load() * 2
    if beside:
        value += y.index(i * columns + j).load()
    return UOp.sink(out.index(i * columns + j).store(value, i, j), arg=KernelInfo())


def chosen(ast: UOp) -> list[Opt] | None:
    """Return the optimisations where the kernel is a transposing copy."""
    kernel = KernelOpt(ast, LOOPS)
    return kernel.applied if write_lines(kernel) else None


def test_lanes_are_a_line_of_results_and_the_innermost_loop_reads_a_row() -> None:
    kernel = optimise(KernelOpt(transposed(96, 64), LOOPS))
    assert kernel.applied == [Opt(OptOps.SWAP, (0,), (1,)), Opt(OptOps.UPCAST, (1,), 16)]
    loops = [r.arg for r in stores_of(kernel.ast)[0].src[2:]]
    assert [r.ident for r in loops if r.kind is AxisType.LOOP] == [(1, 0), (0,)]


@pytest.mark.parametrize(
    ("dtype", "lanes"), [(dtypes.float64, 8), (dtypes.float32, 16), (dtypes.float16, 16), (dtypes.int8, 16)]
)
def test_a_line_has_at_most_sixteen_rows(dtype: DType, lanes: int) -> None:
    opts = chosen(transposed(64, 128, dtype))
    assert opts is not None
    assert opts[-1].arg == lanes


@pytest.mark.parametrize(
    "ast", [transposed(96, 64, beside=True), transposed(4, 64), transposed(64, 12)], ids=str
)
def test_others_are_left_alone(ast: UOp) -> None:
    """What is read beside would be read line by line; short rows and lines are read again and again."""
    assert chosen(ast) is None


@pytest.mark.parametrize(("rows", "columns"), [(32, 48), (33, 35), (8, 16), (9, 17)])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int8])
def test_results_are_those_of_the_transpose(rows: int, columns: int, dtype: DType) -> None:
    x = (np.arange(rows * columns) % 60).reshape(columns, rows)
    out, read = storage_of(np.zeros(rows * columns), dtype), storage_of(x.ravel(), dtype)
    run_lowered(lower(transposed(rows, columns, dtype), LOOPS), [out, read])
    assert np.array_equal(values_of(out, dtype).reshape(rows, columns), x.T * 2)


def exchanged(rows: int, columns: int, size: int) -> UOp:
    """Return the kernel that exchanges two axes around rows of `size` elements."""
    (i, j, k), numel = (
        (UOp.range(n, axis) for axis, n in enumerate((rows, columns, size))),
        rows * columns * size,
    )
    out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, numel)) for slot in range(2))
    value = x.index((j * rows + i) * size + k).load()
    return UOp.sink(out.index((i * columns + j) * size + k).store(value, i, j, k), arg=KernelInfo())


def test_short_rows_that_lie_beside_each_other_are_read_side_by_side() -> None:
    assert optimise(KernelOpt(exchanged(64, 32, 8), LOOPS)).applied[1:] == [Opt(OptOps.UPCAST, (0,), 8)]
    # rows of several lines fill them; near ones stay in the first cache; and some count must be whole
    for near in (exchanged(64, 32, 64), exchanged(16, 32, 8), exchanged(65, 32, 8)):
        assert all(opt.axis[0] == 2 for opt in optimise(KernelOpt(near, LOOPS)).applied)
    x = np.arange(64 * 8 * 4)
    out, read = storage_of(np.zeros(x.size), dtypes.float32), storage_of(x, dtypes.float32)
    run_lowered(lower(exchanged(64, 8, 4), LOOPS), [out, read])
    assert np.array_equal(
        values_of(out, dtypes.float32).reshape(64, 8, 4), x.reshape(8, 64, 4).swapaxes(0, 1)
    )


def test_the_axis_of_the_lanes_is_not_written_out_again() -> None:
    kernel = optimise(KernelOpt(transposed(8192, 3), LOOPS))
    assert [opt.op for opt in kernel.applied] == [OptOps.UPCAST]
