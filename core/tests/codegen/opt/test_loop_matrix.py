"""Products of matrices by instructions of one thread, whose columns are lanes."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from plugrad.codegen.lower import Lowered, lower
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities, Fragment, TensorCore
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of

LANES = ("n0", "n1", "n2", "n3")
FOUR_BYTES = TensorCore(
    "four_bytes",
    (16, 1, 4),
    1,
    dtypes.int8,
    dtypes.int32,
    a=Fragment((), ("k0", "k1")),
    b=Fragment((), ("k0", "k1", *LANES)),
    c=Fragment((), LANES),
)
PAIRS = replace(
    FOUR_BYTES,
    name="pairs",
    dims=(16, 1, 2),
    dtype_in=dtypes.bfloat16,
    dtype_out=dtypes.float32,
    a=Fragment((), ("k0",)),
    b=Fragment((), ("k0", *LANES)),
)
ABOVE = replace(FOUR_BYTES, name="above", offset=128)
_ALL = frozenset(STORABLE)
LOOPS = Capabilities(
    _ALL,
    _ALL,
    vector_bits=512,
    vector_registers=32,
    max_load_bits=512,
    local_memory_bytes=1 << 20,
    native_ops=frozenset({"MULACC", "RECIP", "MAX"}),
    tensor_cores=(FOUR_BYTES, PAIRS),
)


def matmul(
    rows: int, columns: int, inner: int, core: TensorCore = FOUR_BYTES, transposed: bool = False
) -> UOp:
    """Return the kernel of A @ B * 3 + bias; `transposed` stores A by columns."""
    m, n = UOp.range(rows, 0), UOp.range(columns, 1)
    k = UOp.range(inner, 2, AxisType.REDUCE)
    sizes = (rows * columns, rows * inner, inner * columns, columns)
    kinds = (core.dtype_out, core.dtype_in, core.dtype_in, core.dtype_out)
    out, a, b, bias = (
        UOp(Ops.PARAM, dtype, (), (slot, size))
        for slot, (dtype, size) in enumerate(zip(kinds, sizes, strict=True))
    )
    x = a.index(k * rows + m if transposed else m * inner + k).load().cast(core.dtype_out)
    y = b.index(k * columns + n).load().cast(core.dtype_out)
    total = (x * y).reduce(Ops.ADD, k)
    value = total * total.const_like(3) + bias.index(n).load()
    return UOp.sink(out.index(m * columns + n).store(value, m, n), arg=KernelInfo("matmul"))


def check(ast: UOp, capabilities: Capabilities = LOOPS) -> Lowered:
    """Run a kernel as the heuristic chooses, and return it."""
    lowered = lower(ast, capabilities)
    rng = np.random.default_rng(0)
    params = sorted((u for u in ast.toposort() if u.op is Ops.PARAM), key=lambda u: u.arg[0])
    filled = [rng.integers(-8, 8, u.arg[1]) for u in params]
    got, want = ([storage_of(x, u.dtype) for x, u in zip(filled, params, strict=True)] for _ in range(2))
    run_lowered(lowered, got)
    evaluate_kernel(ast, want)
    dtype = params[0].dtype
    np.testing.assert_array_equal(values_of(got[0], dtype), values_of(want[0], dtype))
    return lowered


def uses_core(lowered: Lowered) -> bool:
    return any(u.op is Ops.WMMA for u in lowered.program)


@pytest.mark.parametrize("core", [FOUR_BYTES, PAIRS], ids=lambda core: core.name)
@pytest.mark.parametrize(
    ("rows", "columns", "inner"),
    [(64, 64, 8), (66, 48, 8), (70, 130, 8), (64, 16, 12), (65, 35, 8), (64, 16, 4)],
)
def test_tiles_of_rows_and_vectors_make_the_product(
    rows: int, columns: int, inner: int, core: TensorCore
) -> None:
    lowered = check(matmul(rows, columns, inner, core))
    assert uses_core(lowered) is core.suits_loops(rows, columns, inner)


def test_what_an_instruction_adds_to_rows_is_taken_off_once_for_all_of_them() -> None:
    lowered = check(matmul(72, 64, 8, ABOVE), replace(LOOPS, tensor_cores=(ABOVE,)))
    ranges = [u for u in lowered.program if u.op in (Ops.RANGE, Ops.WMMA)]
    loops = [number for number, u in enumerate(ranges) if u.op is Ops.RANGE]
    steps = [last - first - 1 for first, last in zip(loops, [*loops[1:], len(ranges)], strict=True)]
    # sums of the columns, then the loop over tiles of rows, and their products
    assert steps[-3:] == [4, 0, 24]


def test_rows_may_lie_across_memory() -> None:
    assert uses_core(check(matmul(64, 16, 8, transposed=True)))


def test_columns_are_copied_once_for_all_rows_and_results_are_stored_as_vectors() -> None:
    lowered = check(matmul(72, 64, 8))
    assert lowered.opts[-1].op is OptOps.STAGE
    stores = [u.src[1].dtype for u in lowered.program if u.op is Ops.STORE]
    assert Counter(stores) == {dtypes.int8.vec(64): 4, dtypes.int32.vec(16): 24}
    # a row's four factors are one load
    assert sum(u.op is Ops.LOAD and u.dtype is dtypes.int8.vec(4) for u in lowered.program) == 6


def test_threads_share_the_columns() -> None:
    lowered = check(matmul(256, 128, 64), replace(LOOPS, threads=2))
    assert uses_core(lowered)
    assert lowered.threads > 1


@pytest.mark.parametrize(
    "ast",
    [matmul(32, 64, 8), matmul(64, 64, 6), matmul(64, 17, 8), matmul(64, 64, 8, PAIRS)],
    ids=["few rows", "part of a step", "part of a vector", "another dtype"],
)
def test_other_products_are_left_to_vectors(ast: UOp) -> None:
    assert not uses_core(check(ast, replace(LOOPS, tensor_cores=(FOUR_BYTES,))))


def test_a_copy_that_does_not_fit_is_made_of_fewer_columns() -> None:
    small = replace(LOOPS, local_memory_bytes=1024)
    lowered = check(matmul(64, 64, 32), small)
    assert {o.arg for o in lowered.opts if o.axis == (1, 0)} == {2}
    assert not uses_core(check(matmul(64, 64, 32), replace(LOOPS, local_memory_bytes=256)))
