"""Kernels that read rows where they write columns."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.transpose import exchange_in_registers
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
    return kernel.applied if exchange_in_registers(kernel) else None


@pytest.mark.parametrize("beside", [False, True])
def test_tiles_are_a_line_of_results_by_a_vector_of_a_row(beside: bool) -> None:
    kernel = optimise(KernelOpt(transposed(96, 64, beside=beside), LOOPS))
    assert kernel.applied == [
        Opt(OptOps.SWAP, (0,), (1,)),
        Opt(OptOps.UPCAST, (1,), 16),
        Opt(OptOps.UPCAST, (0,), 8),
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "dtype", "ident"),
    [
        (96, 64, dtypes.float32, 0),
        (1024, 64, dtypes.float32, 1),
        (64, 1024, dtypes.float32, 0),
        (1024, 1024, dtypes.float32, 0),
        (4096, 4096, dtypes.int8, 1),
    ],
    ids=["none", "written", "read", "whole ones are written", "parts are written"],
)
def test_lines_that_push_each_other_out_are_followed(
    rows: int, columns: int, dtype: DType, ident: int
) -> None:
    kernel = optimise(KernelOpt(transposed(columns, rows, dtype), LOOPS))
    loops = [r.arg for r in stores_of(kernel.ast)[0].src[2:] if r.arg.kind is AxisType.LOOP]
    assert loops[-1].ident[0] == ident


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
def test_tiles_are_exchanged_in_registers(vector_bits: int, beside: bool) -> None:
    loops = replace(LOOPS, vector_bits=vector_bits, max_load_bits=vector_bits)
    program = lower(transposed(96, 64, beside=beside), loops).program
    moved = [u for u in program if u.op in (Ops.LOAD, Ops.STORE)]
    assert {u.dtype.count for u in moved if u.op is Ops.LOAD} == {vector_bits // 32}
    assert {u.src[1].dtype.count for u in moved if u.op is Ops.STORE} == {vector_bits // 32}


@pytest.mark.parametrize(
    ("dtype", "tile"),
    [
        (dtypes.float64, [8, 4]),
        (dtypes.float32, [16, 8]),
        (dtypes.float16, [16, 16]),
        (dtypes.int8, [16, 16]),
    ],
)
def test_a_line_has_at_most_sixteen_rows(dtype: DType, tile: list[int]) -> None:
    opts = chosen(transposed(64, 128, dtype))
    assert opts is not None
    assert [opt.arg for opt in opts[-2:]] == tile


@pytest.mark.parametrize("ast", [transposed(4, 64), transposed(64, 12)], ids=["short rows", "short lines"])
def test_others_are_left_alone(ast: UOp) -> None:
    assert chosen(ast) is None


@pytest.mark.parametrize(("rows", "columns"), [(32, 48), (33, 35), (8, 16), (9, 17)])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int8])
@pytest.mark.parametrize("beside", [False, True])
def test_results_are_those_of_the_transpose(rows: int, columns: int, dtype: DType, beside: bool) -> None:
    x = (np.arange(rows * columns) % 30).reshape(columns, rows)
    y = np.arange(rows * columns).reshape(rows, columns) % 60
    out, *read = (storage_of(a.ravel(), dtype) for a in (np.zeros(rows * columns), x, y))
    run_lowered(lower(transposed(rows, columns, dtype, beside), LOOPS), [out, *read[: 1 + beside]])
    assert np.array_equal(values_of(out, dtype).reshape(rows, columns), x.T * 2 + y * beside)
