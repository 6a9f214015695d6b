"""Products of matrices by matrix instructions: what they compute and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.codegen.lower import lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import GroupTile, MatrixTile, Opt, OptOps
from plugrad.codegen.prepare.ranges import simplify_ranges
from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities, Fragment, FragmentLoad, TensorCore
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of

# the layout of warps of 32 with eight results a row, and one that shares no line with it
WIDE = TensorCore(
    "wide",
    (8, 16, 16),
    32,
    dtypes.float16,
    dtypes.float32,
    a=Fragment(("k1", "k2", "m0", "m1", "m2"), ("k0", "m3", "k3")),
    b=Fragment(("k1", "k2", "n0", "n1", "n2"), ("k0", "k3")),
    c=Fragment(("n1", "n2", "m0", "m1", "m2"), ("n0", "m3")),
)
SQUARE = TensorCore(
    "square",
    (8, 8, 8),
    32,
    dtypes.float32,
    dtypes.float32,
    a=Fragment(("k1", "m0", "m1", "k2", "m2"), ("k0",)),
    b=Fragment(("n1", "k0", "k1", "n2", "k2"), ("n0",)),
    c=Fragment(("n1", "m0", "m1", "n2", "m2"), ("n0",)),
)
BYTES = TensorCore(
    "bytes",
    (8, 8, 16),
    32,
    dtypes.int8,
    dtypes.int32,
    a=Fragment(("k2", "k3", "m0", "m1", "m2"), ("k0", "k1")),
    b=Fragment(("k2", "k3", "n0", "n1", "n2"), ("k0", "k1")),
    c=Fragment(("n1", "n2", "m0", "m1", "m2"), ("n0",)),
)
# each thread holds one element of everything
ONE = TensorCore(
    "one",
    (2, 2, 2),
    4,
    dtypes.float32,
    dtypes.float32,
    a=Fragment(("m0", "k0"), ()),
    b=Fragment(("k0", "n0"), ()),
    c=Fragment(("n0", "m0"), ()),
)
GPU = Capabilities(
    storage_dtypes=frozenset(STORABLE),
    compute_dtypes=frozenset(STORABLE) - {dtypes.float16, dtypes.bfloat16},
    grid_dims=3,
    max_grid=(1 << 20, 1 << 16, 1 << 16),
    max_workgroup=1024,
    max_workgroup_dims=(1024, 1024, 64),
    local_memory_bytes=1 << 15,
    native_ops=frozenset({"RECIP"}),
    tensor_cores=(WIDE, SQUARE, BYTES),
)


def matmul(rows: int, columns: int, inner: int, core: TensorCore, transposed: bool = False) -> UOp:
    """Return the kernel of max(A @ B, 0) + 1; `transposed` stores B by columns."""
    m, n = (UOp.range(size, (i,), AxisType.LOOP) for i, size in enumerate((rows, columns)))
    k = UOp.range(inner, (2,), AxisType.REDUCE)
    out, a, b = (
        UOp(Ops.PARAM, dtype, (), (slot, size))
        for slot, (dtype, size) in enumerate(
            (
                (core.dtype_out, rows * columns),
                (core.dtype_in, rows * inner),
                (core.dtype_in, inner * columns),
            )
        )
    )
    x = a.index(m * inner + k).load().cast(core.dtype_out)
    y = b.index(n * inner + k if transposed else k * columns + n).load().cast(core.dtype_out)
    total = (x * y).reduce(Ops.ADD, k)
    value = total.maximum(total.const_like(0)) + total.const_like(1)
    return UOp.sink(out.index(m * columns + n).store(value, m, n), arg=KernelInfo("matmul"))


def buffers(ast: UOp, seed: int = 0) -> list[np.ndarray]:
    """Return random small integers for the factors, and zeros for the result."""
    rng = np.random.default_rng(seed)
    params = sorted((u for u in ast.toposort() if u.op is Ops.PARAM), key=lambda u: u.arg[0])
    return [
        storage_of(rng.integers(-8, 8, u.arg[1]) if u.arg[0] else np.zeros(u.arg[1]), u.dtype) for u in params
    ]


def check(ast: UOp, *opts: Opt, capabilities: Capabilities = GPU) -> tuple[Opt, ...]:
    """Run a kernel with optimisations (none: those that the heuristic chooses); return them."""
    lowered = lower(ast, capabilities, opts or None)
    got, want = buffers(ast), buffers(ast)
    run_lowered(lowered, got)
    evaluate_kernel(ast, want)
    dtype: DType = ast.src[0].src[0].dtype
    np.testing.assert_array_equal(values_of(got[0], dtype), values_of(want[0], dtype))
    return lowered.opts


def tile(core: TensorCore) -> Opt:
    return Opt(OptOps.TC, (1,), MatrixTile(core.name, rows=(0,), inner=(2,)))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("core", GPU.tensor_cores, ids=lambda core: core.name)
def test_tiles_make_the_product(core: TensorCore, transposed: bool) -> None:
    check(matmul(32, 48, 64, core, transposed), tile(core))


@pytest.mark.parametrize("core", GPU.tensor_cores, ids=lambda core: core.name)
def test_one_tile_needs_no_loop(core: TensorCore) -> None:
    columns, rows, inner = core.dims
    check(matmul(rows, columns, inner, core), tile(core))


@pytest.mark.parametrize("inner", [2, 8])
def test_fragments_of_one_element_are_no_vectors(inner: int) -> None:
    only = replace(GPU, tensor_cores=(ONE,))
    check(matmul(4, 6, inner, ONE), tile(ONE), capabilities=only)
    check(matmul(4, 6, inner, ONE), tile(ONE), Opt(OptOps.UPCAST, (1, 0), 3), capabilities=only)


def test_axes_side_by_side_in_memory_are_no_lanes_of_fragments() -> None:
    m, n, batch = (UOp.range(size, (i,), AxisType.LOOP) for i, size in enumerate((8, 8, 4)))
    k, inner = (UOp.range(size, (i,), AxisType.REDUCE) for i, size in ((3, 16), (4, 2)))
    out = UOp(Ops.PARAM, dtypes.int32, (), (0, 256)).index((m * 8 + n) * 4 + batch)
    a = UOp(Ops.PARAM, dtypes.int8, (), (1, 1024)).index(((m * 16 + k) * 4 + batch) * 2 + inner)
    b = UOp(Ops.PARAM, dtypes.int8, (), (2, 1024)).index(((k * 8 + n) * 2 + inner) * 4 + batch)
    product = a.load().cast(dtypes.int32) * b.load().cast(dtypes.int32)
    store = out.store(product.reduce(Ops.ADD, k, inner), m, n, batch)
    ast = UOp.sink(store, arg=KernelInfo("batches"))
    tiles = Opt(OptOps.TC, (1,), MatrixTile(BYTES.name, rows=(0,), inner=(3,)))
    check(ast, tiles, Opt(OptOps.UPCAST, (2,), 2))
    check(ast, tiles, Opt(OptOps.UPCAST, (4,), 2))


def test_warps_share_groups_and_take_tiles_side_by_side() -> None:
    opts = (
        tile(WIDE),
        Opt(OptOps.UPCAST, (1, 0), 2),
        Opt(OptOps.UPCAST, (0, 0), 2),
        Opt(OptOps.LOCAL, (0, 0, 0), 2),
        Opt(OptOps.UNROLL, (2, 0), 2),
    )
    ast = matmul(64, 48, 64, WIDE)
    check(ast, *opts)
    lowered = lower(ast, GPU, opts)
    assert lowered.local_size == (32, 2)
    products = [u for u in lowered.program if u.op is Ops.WMMA]
    assert len(products) == 2 * 2 * 2
    # the accumulator goes in and comes out: no addition is left
    assert all(u.src[2].op in (Ops.DEFINE_ACC, Ops.WMMA) for u in products)


def test_neighbours_in_memory_are_loaded_together() -> None:
    program = lower(matmul(32, 48, 64, BYTES, transposed=True), GPU, (tile(BYTES),)).program
    assert {u.dtype for u in program if u.op is Ops.LOAD} == {dtypes.int8.vec(4)}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("ahead", [0, 2])
def test_a_warp_loads_rows_of_copies_together(ahead: int, transposed: bool) -> None:
    rows = replace(WIDE, loads_rows=True)
    capabilities = replace(GPU, tensor_cores=(rows,))
    share = Opt(OptOps.SHARE, (2,), GroupTile(32, ((0,), (1,)), in_memory_order=True, ahead=ahead))
    tiled = Opt(OptOps.TC, (1,), MatrixTile(rows.name, rows=(0,), inner=(2, 1)))
    opts = (share, tiled, Opt(OptOps.LOCAL, (0, 0), 2), Opt(OptOps.UNROLL, (2, 1, 0), 2))
    ast = matmul(32, 24, 96, rows, transposed)
    check(ast, *opts, capabilities=capabilities)
    loads = {u.arg for u in lower(ast, capabilities, opts).program if u.op is Ops.LOAD_MATRIX}
    assert loads == {FragmentLoad(4), FragmentLoad(2, is_transposed=not transposed)}


def test_rows_that_are_not_in_local_memory_are_loaded_by_each_thread() -> None:
    rows = replace(WIDE, loads_rows=True)
    program = lower(matmul(32, 48, 64, rows), replace(GPU, tensor_cores=(rows,)), (tile(rows),)).program
    assert not any(u.op is Ops.LOAD_MATRIX for u in program)


@pytest.mark.parametrize("sizes", [(64, 64, 64), (100, 100, 100), (1000, 1000, 48), (250, 260, 32)])
def test_the_heuristic_takes_matrix_instructions(sizes: tuple[int, int, int]) -> None:
    opts = check(matmul(*sizes, WIDE))
    assert any(o.op is OptOps.TC for o in opts)


def test_warps_of_a_group_share_copies_of_both_factors() -> None:
    capabilities = replace(GPU, compute_units=2, unit_memory_bytes=1 << 16)
    opts = check(matmul(64, 190, 90, WIDE), capabilities=capabilities)
    (share,) = (o for o in opts if o.op is OptOps.SHARE)
    assert isinstance(share.arg, GroupTile)
    assert share.arg == GroupTile(32, ((0,), (1, 1)), in_memory_order=True)
    assert not any(o.op is OptOps.SHARE for o in check(matmul(64, 64, 90, WIDE), capabilities=capabilities))


@pytest.mark.parametrize("sizes", [(1, 4096, 64), (8, 4096, 64), (512, 512, 9)])
def test_the_heuristic_leaves_what_fits_no_tile(sizes: tuple[int, int, int]) -> None:
    opts = check(matmul(*sizes, WIDE), capabilities=replace(GPU, tensor_cores=(WIDE,)))
    assert opts
    assert all(o.op is not OptOps.TC for o in opts)


def test_other_dtypes_are_left_alone() -> None:
    ast = matmul(64, 64, 64, replace(WIDE, dtype_in=dtypes.float64, dtype_out=dtypes.float64))
    assert all(o.op is not OptOps.TC for o in check(ast))


def refused(ast: UOp, message: str, *opts: Opt, capabilities: Capabilities = GPU) -> None:
    kernel = KernelOpt(simplify_ranges(ast), capabilities)
    kernel.apply_all(opts[:-1])
    before = kernel.ast
    with pytest.raises(KernelOptError, match=message):
        kernel.apply(opts[-1])
    assert kernel.ast is before


def test_what_cannot_be_done_is_refused_and_changes_nothing() -> None:
    ast = matmul(32, 32, 32, WIDE)
    refused(
        ast,
        "has no huge; it has wide, square, bytes",
        replace(tile(WIDE), arg=MatrixTile("huge", (0,), (2,))),
    )
    refused(ast, "takes a MatrixTile", Opt(OptOps.TC, (1,), 2))
    refused(ast, "int8 in int32.*has 0 of them", tile(BYTES))
    refused(ast, "already share", Opt(OptOps.GROUP, (2,), 4), tile(WIDE))
    refused(ast, "has at most 16", tile(WIDE), capabilities=replace(GPU, max_workgroup=16))
    refused(matmul(32, 36, 32, WIDE), r"8 steps of axis \(1,\), which do not divide its 36", tile(WIDE))
    refused(ast, "TC takes GLOBAL axes", Opt(OptOps.LOCAL, (0,), 32), tile(WIDE))
    refused(ast, "GROUP.* after TC", tile(WIDE), Opt(OptOps.GROUP, (2, 0), 2))
    refused(matmul(32, 32, 48, WIDE), "pad it before TC", tile(WIDE), Opt(OptOps.PADTO, (2, 0), 4))


def test_a_second_reduction_over_the_inner_axis_is_refused() -> None:
    ast = matmul(32, 32, 32, WIDE)
    (store,) = ast.src
    total = next(u for u in ast.toposort() if u.op is Ops.REDUCE)
    (k,) = total.src[1:]
    norm = total.src[0].src[0].reduce(Ops.ADD, k)
    both = store.replace(src=(store.src[0], store.src[1] + norm, *store.src[2:]))
    refused(ast.replace(src=(both,)), "another reduction runs over axis", tile(WIDE))


def test_a_factor_that_is_reduced_itself_is_left() -> None:
    ast = matmul(32, 32, 32, WIDE)
    total = next(u for u in ast.toposort() if u.op is Ops.REDUCE)
    x = total.src[0].src[0]
    inner = UOp.range(4, (3,), AxisType.REDUCE)
    place = x.src[0].src[0]
    row = place.replace(src=(place.src[0], inner)).load()
    reduced = (x.src[0] * row).reduce(Ops.ADD, inner).cast(dtypes.float32)
    refused(ast.substitute({x: reduced}), "has 0 of them", tile(WIDE))
