"""What a loop only repeats is copied before it, once, in the order in which it is read."""

import re
from dataclasses import replace

import numpy as np
import pytest

from plugrad.codegen.lower import lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.staging import panels_of
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.strides import constant_size
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(
    _ALL,
    _ALL,
    vector_bits=256,
    threads=2,
    local_memory_bytes=1 << 20,
    native_ops=frozenset({"MULACC", "RECIP"}),
)
ROWS, STEPS, COLUMNS = 12, 6, 16
i, j = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
k = UOp.range(STEPS, 2, AxisType.REDUCE)
STAGE = Opt(OptOps.STAGE, (0,))


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def stored(value: UOp, *order: UOp) -> UOp:
    return UOp.sink(param(0, ROWS * COLUMNS).index(i * COLUMNS + j).store(value, *order), arg=KernelInfo())


a = param(1, ROWS * STEPS).index(i * STEPS + k).load()
b = param(2, STEPS * COLUMNS).index(k * COLUMNS + j).load()


def product(*order: UOp) -> UOp:
    return stored((a * b).reduce(Ops.ADD, k), *(order or (j, i)))


def large(n: int, *, transposed: bool = False) -> UOp:
    row, column, step = UOp.range(n, 0), UOp.range(n, 1), UOp.range(n, 2, AxisType.REDUCE)
    place = column * n + step if transposed else step * n + column
    value = param(1, n * n).index(row * n + step).load() * param(2, n * n).index(place).load()
    place = param(0, n * n).index(row * n + column)
    return UOp.sink(place.store(value.reduce(Ops.ADD, step), row, column), arg=KernelInfo())


def test_the_factor_that_a_loop_repeats_is_copied_with_the_axes_inside_of_the_loop() -> None:
    (panel,) = panels_of(product(j, i), i)
    assert panel.value is b
    assert panel.axes == (k,)
    (panel,) = panels_of(product(i, j), i)
    assert panel.axes == (j, k)
    assert panel.nbytes == STEPS * COLUMNS * 4


def test_a_copy_is_as_far_spread_as_its_first_and_last_element() -> None:
    (panel,) = panels_of(product(j, i), i)
    assert panel.span_bytes == ((STEPS - 1) * COLUMNS + 1) * 4


def test_what_may_become_lanes_is_contiguous_in_the_copy() -> None:
    kernel = KernelOpt(product(), LOOPS)
    kernel.apply_all([Opt(OptOps.UPCAST, (1,), COLUMNS), Opt(OptOps.UNROLL, (2,), STEPS)])
    (panel,) = panels_of(kernel.ast, i)
    assert [r.arg.kind for r in panel.axes] == [AxisType.UNROLL, AxisType.UPCAST]


def test_a_computed_factor_is_computed_once() -> None:
    ast = stored((a * (b + 1.0).maximum(0.0)).reduce(Ops.ADD, k), j, i)
    (panel,) = panels_of(ast, i)
    assert panel.value is (b + 1.0).maximum(0.0)


@pytest.mark.parametrize("order", [(i, j), (j, i)])
@pytest.mark.parametrize(
    "before",
    [
        [],
        [Opt(OptOps.UPCAST, (1,), 8)],
        [Opt(OptOps.UPCAST, (1,), 16), Opt(OptOps.SHIFTIN, (0,), 5), Opt(OptOps.UPCAST, (0, 1), 5)],
        [Opt(OptOps.UNROLL, (2,), 3), Opt(OptOps.THREAD, (1,), 2)],
        [Opt(OptOps.UPCAST, (2,), 2)],
        [Opt(OptOps.SPLIT_REMAINDER, (2,), 4), Opt(OptOps.UPCAST, (2, 0), 4)],
    ],
)
def test_a_kernel_with_copies_computes_the_same(order: tuple[UOp, ...], before: list[Opt]) -> None:
    ast = product(*order)
    loop = next(o.axis for o in [*before, STAGE] if o.axis[0] == 0)
    opts = [*before, Opt(OptOps.STAGE, (*loop, 0) if any(o.axis == loop for o in before) else loop)]
    numbers = np.random.default_rng(0).integers(-3, 4, (2, ROWS * COLUMNS)).astype(np.float32)
    sizes = (ROWS * COLUMNS, ROWS * STEPS, STEPS * COLUMNS)
    filled = (np.zeros(sizes[0], np.float32), numbers[0, : sizes[1]], numbers[1, : sizes[2]])
    want, got = ([storage_of(x, dtypes.float32) for x in filled] for _ in range(2))
    evaluate_kernel(ast, want, {})
    lowered = lower(ast, LOOPS, opts)
    assert any(u.op is Ops.DEFINE_LOCAL for u in lowered.program)
    run_lowered(lowered, got, {})
    assert np.array_equal(values_of(got[0], dtypes.float32), values_of(want[0], dtypes.float32))


def chosen(ast: UOp, capabilities: Capabilities) -> list[Opt]:
    return optimise(KernelOpt(ast, capabilities)).applied


def refused(ast: UOp, why: str, *opts: Opt, capabilities: Capabilities = LOOPS) -> None:
    kernel = KernelOpt(ast, capabilities).apply_all(opts[:-1])
    with pytest.raises(KernelOptError, match=re.escape(why)):
        kernel.apply(opts[-1])


def test_nothing_is_copied_that_is_not_repeated() -> None:
    n = UOp.range(UOp.variable("n", 1, STEPS), 2, AxisType.REDUCE)
    symbolic = (a * b).substitute({k: n}).reduce(Ops.ADD, n)
    for ast in (
        stored(a.reduce(Ops.ADD, k), j, i),
        stored(b.substitute({k: i}), j, i),
        stored(symbolic, j, i),
    ):
        refused(ast, "no reduction reads anything that axis (0,) only repeats", STAGE)


def test_copies_have_to_fit() -> None:
    small = replace(LOOPS, local_memory_bytes=23)
    refused(product(), "its copies have 24 bytes, and fast memory has 23", STAGE, capabilities=small)


def test_a_copy_belongs_to_one_loop_nest_of_one_thread() -> None:
    refused(product(), "axis (2,) is REDUCE; STAGE takes a loop", Opt(OptOps.STAGE, (2,)))
    grid = replace(LOOPS, grid_dims=3, max_workgroup=64)
    first, second = UOp.range(8, 7), UOp.range(8, 8)
    two = UOp.sink(*product().src, param(3, 8).index(first).store(a.const_like(1), first), arg=KernelInfo())
    refused(two, "several stores would have to share a copy", STAGE)
    refused(
        UOp.sink(*product().src, param(3, 8).index(second).store(a.const_like(1), second), arg=KernelInfo()),
        "a group's work-items would have to share a copy",
        STAGE,
        capabilities=grid,
    )
    place = param(0, ROWS * COLUMNS).index(i * COLUMNS + j)
    in_place = UOp.sink(place.store(place.load() + (a * b).reduce(Ops.ADD, k), j, i), arg=KernelInfo())
    refused(in_place, "reads memory that it writes", STAGE)


def test_no_optimisation_changes_loops_that_copies_are_made_for() -> None:
    refused(product(), "after STAGE: copies are laid out", STAGE, Opt(OptOps.UPCAST, (1,), 4))


def test_steps_of_a_reduction_are_written_out_beside_its_copies() -> None:
    written_out = KernelOpt(product(), LOOPS).apply_all([STAGE, Opt(OptOps.UNROLL, (2,), 2)])
    assert [r.arg.ident for r in written_out.axes(AxisType.UNROLL)] == [(2, 1)]


def test_a_copy_of_rows_is_gathered_for_lanes_along_the_columns_where_it_is_used_often() -> None:
    cached = replace(LOOPS, vector_registers=32, cache_bytes=(32 << 10, 1 << 20))
    *opts, unrolled = chosen(large(1024, transposed=True), cached)
    assert (opts[-1].op, unrolled.op) == (OptOps.STAGE, OptOps.UNROLL)
    assert next(o.axis for o in opts if o.op is OptOps.UPCAST) == (1,)
    kernel = KernelOpt(large(1024, transposed=True), cached).apply_all(opts[:-1])
    (panel,) = panels_of(kernel.ast, kernel.axis(opts[-1].axis))
    assert panel.is_gathered
    assert all(o.axis != (1,) for o in chosen(large(96, transposed=True), cached)[:1])


def test_a_gathered_copy_reads_few_rows_side_by_side() -> None:
    def loops_of_copy(columns: int, *, transposed: bool) -> list[tuple[AxisType, int | None]]:
        opts = [Opt(OptOps.UPCAST, (1,), columns), Opt(OptOps.SWAP, (0,), (1, 0)), STAGE]
        staged = KernelOpt(large(96, transposed=transposed), LOOPS).apply_all(opts).ast
        copy = next(u.src[0] for u in staged.toposort() if u.op is Ops.BARRIER)
        return [(r.arg.kind, constant_size(r)) for r in copy.src[2:]]

    in_rows = [(AxisType.LOOP, 4), (AxisType.LOOP, 96), (AxisType.UPCAST, 8)]
    assert loops_of_copy(32, transposed=True) == in_rows
    assert loops_of_copy(8, transposed=True) == in_rows[1:]
    assert loops_of_copy(32, transposed=False) == [(AxisType.LOOP, 96), (AxisType.UPCAST, 32)]


def test_only_what_is_spread_beyond_the_cache_and_fits_is_copied_unasked() -> None:
    def is_staged(n: int, capabilities: Capabilities) -> bool:
        return any(o.op is OptOps.STAGE for o in chosen(large(n), capabilities))

    cached = replace(LOOPS, vector_registers=32, cache_bytes=(32 << 10, 1 << 20))
    assert is_staged(1024, cached)
    assert not is_staged(256, cached)
    assert not is_staged(1024, replace(cached, local_memory_bytes=64 << 10))


def test_all_that_a_loop_repeats_is_copied_for_wide_vectors_where_elements_are_apart() -> None:
    """Filters, copied before the rows of images that they are outside of."""
    wide = replace(LOOPS, vector_bits=512, vector_registers=32, threads=1, cache_bytes=(32 << 10, 1 << 20))

    def staged(images: int) -> list[tuple[int, ...]]:
        n, o, x = UOp.range(images, 0), UOp.range(64, 1), UOp.range(32, 2)
        c, v = UOp.range(64, 3, AxisType.REDUCE), UOp.range(3, 4, AxisType.REDUCE)
        image = param(1, images * 64 * 34).index((n * 64 + c) * 34 + x + v).load()
        weight = param(2, 64 * 64 * 3).index((o * 64 + c) * 3 + v).load()
        place = param(0, images * 64 * 32).index((n * 64 + o) * 32 + x)
        ast = UOp.sink(place.store((image * weight).reduce(Ops.ADD, c, v), n, o, x), arg=KernelInfo())
        return [opt.axis for opt in chosen(ast, wide) if opt.op is OptOps.STAGE]

    assert staged(16) == [(0,)]
    assert staged(8) == []
