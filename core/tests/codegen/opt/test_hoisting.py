"""A reduced axis moves outside of output loops, whose sums wait in fast memory."""

import re
from dataclasses import replace

import numpy as np
import pytest

from plugrad.codegen.lower import lower
from plugrad.codegen.opt.hoisting import hoist_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered, storage_of, values_of

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(
    _ALL,
    _ALL,
    vector_bits=256,
    threads=2,
    local_memory_bytes=1 << 12,
    native_ops=frozenset({"MULACC", "RECIP"}),
)
ROWS, COLUMNS, IMAGES, STEPS = 6, 20, 5, 7
HOIST = Opt(OptOps.HOIST, (2,), (0,))
i, j = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
n, k = UOp.range(IMAGES, 2, AxisType.REDUCE), UOp.range(STEPS, 3, AxisType.REDUCE)


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def product() -> UOp:
    """Return one term of the sum over `n` and `k`."""
    a = param(1, IMAGES * ROWS * STEPS).index((n * ROWS + i) * STEPS + k).load()
    return a * param(2, IMAGES * STEPS * COLUMNS).index((n * STEPS + k) * COLUMNS + j).load()


def stored(value: UOp) -> UOp:
    return UOp.sink(param(0, ROWS * COLUMNS).index(i * COLUMNS + j).store(value, i, j), arg=KernelInfo())


def products(op: Ops = Ops.ADD) -> UOp:
    """Return the kernel of products of matrices, summed over images, and one more."""
    return stored(product().reduce(op, n, k) + 1)


def run(ast: UOp, opts: list[Opt]) -> np.ndarray:
    rng = np.random.default_rng(0)
    sizes = (ROWS * COLUMNS, IMAGES * ROWS * STEPS, IMAGES * STEPS * COLUMNS)
    memory = [storage_of(rng.integers(-8, 8, size).astype(np.float32), dtypes.float32) for size in sizes]
    run_lowered(lower(ast, LOOPS, opts), memory, {})
    return values_of(memory[0], dtypes.float32)


def refused(ast: UOp, why: str, *opts: Opt, capabilities: Capabilities = LOOPS) -> None:
    kernel = KernelOpt(ast, capabilities).apply_all(opts[:-1])
    with pytest.raises(KernelOptError, match=re.escape(why)):
        kernel.apply(opts[-1])


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX])
@pytest.mark.parametrize(
    "opts",
    [
        [HOIST],
        [Opt(OptOps.HOIST, (2,), (1,))],
        [Opt(OptOps.HOIST, (3,), (0,))],
        [Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.UPCAST, (0,), 3), Opt(OptOps.HOIST, (2,), (1, 0))],
        [Opt(OptOps.SHIFTIN, (1,), 8), Opt(OptOps.UPCAST, (1, 1), 8), HOIST],
        [Opt(OptOps.UNROLL, (3,), 7), HOIST],
        [Opt(OptOps.UNROLL, (3,), 7), Opt(OptOps.UPCAST, (1,), 20), HOIST],
        [
            Opt(OptOps.SPLIT_REMAINDER, (3,), 4),
            Opt(OptOps.UPCAST, (3, 0), 4),
            Opt(OptOps.HOIST, (3, 1), (0,)),
        ],
        [Opt(OptOps.THREAD, (0,), 2), Opt(OptOps.HOIST, (2,), (1,))],
        [Opt(OptOps.BLOCK, (3,), 7), Opt(OptOps.HOIST, (2,), (0,))],
        [
            Opt(OptOps.SPLIT_REMAINDER, (3,), 6),
            Opt(OptOps.BLOCK, (3, 0), 3),
            Opt(OptOps.HOIST, (3, 0, 0), (0,)),
        ],
        [Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.STAGE, (0,)), Opt(OptOps.HOIST, (2,), (0,))],
        [Opt(OptOps.STAGE, (0,)), Opt(OptOps.BLOCK, (2,), 5), Opt(OptOps.HOIST, (3,), (1,))],
    ],
)
def test_a_kernel_with_a_hoisted_axis_computes_the_same(op: Ops, opts: list[Opt]) -> None:
    np.testing.assert_array_equal(run(products(op), opts), run(products(op), []))


def test_sums_lie_in_the_order_of_loops_with_lanes_side_by_side() -> None:
    kernel = KernelOpt(products(), LOOPS).apply_all(
        [Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.UPCAST, (0,), 3)]
    )
    hoist = hoist_of(kernel.ast, n, kernel.axis((0, 0)))
    assert hoist is not None
    assert [r.arg.ident for r in hoist.inner] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (hoist.numel, hoist.nbytes) == (ROWS * COLUMNS, ROWS * COLUMNS * 4)


def test_loops_around_the_axis_share_the_memory_of_the_sums() -> None:
    lowered = lower(products(), LOOPS, [Opt(OptOps.HOIST, (2,), (1,))])
    assert [u.arg[1] for u in lowered.program if u.op is Ops.DEFINE_LOCAL] == [COLUMNS]


@pytest.mark.parametrize("size", [600, 16 * 1024])
@pytest.mark.parametrize(
    "opts", [[Opt(OptOps.HOIST, (1,), (0,))], [Opt(OptOps.UPCAST, (0,), 4), Opt(OptOps.HOIST, (1,), (0,))]]
)
def test_sums_of_a_long_axis_are_those_of_pieces(size: int, opts: list[Opt]) -> None:
    column, row = UOp.range(4, 0), UOp.range(size, 1, AxisType.REDUCE)
    value = param(1, size * 4).index(row * 4 + column).load()
    ast = UOp.sink(param(0, 4).index(column).store(value.reduce(Ops.ADD, row), column), arg=KernelInfo())
    out, numbers = np.zeros(4, np.float32), np.full(size * 4, 0.1, np.float32)
    memory = [storage_of(x, dtypes.float32) for x in (out, numbers)]
    run_lowered(lower(ast, LOOPS, opts), memory, {})
    np.testing.assert_allclose(
        values_of(memory[0], dtypes.float32), size * np.float64(np.float32(0.1)), rtol=3e-6
    )


def test_what_is_no_axis_of_one_reduction_in_the_loop_is_refused() -> None:
    why = "takes an axis of one reduction in a loop"
    refused(products(), why, Opt(OptOps.HOIST, (0,), (1,)))
    refused(products(), why, Opt(OptOps.HOIST, (2,), (3,)))
    refused(products(), why, Opt(OptOps.UNROLL, (2,), 5), HOIST)
    total = product().reduce(Ops.ADD, n, k)
    refused(stored(total + product().exp().reduce(Ops.ADD, n, k)), why, HOIST)
    # another reduction has it as a step
    refused(
        stored((product().reduce(Ops.ADD, k) * n.cast(dtypes.float32)).reduce(Ops.ADD, n)),
        why,
        Opt(OptOps.HOIST, (3,), (0,)),
    )


def test_a_long_axis_that_no_piece_divides_is_refused() -> None:
    column, row = UOp.range(4, 0), UOp.range(257, 1, AxisType.REDUCE)
    total = param(1, 257 * 4).index(row * 4 + column).load().reduce(Ops.ADD, row)
    ast = UOp.sink(param(0, 4).index(column).store(total, column), arg=KernelInfo())
    refused(ast, "and steps that pieces divide", Opt(OptOps.HOIST, (1,), (0,)))


def test_sums_that_do_not_fit_fast_memory_are_refused() -> None:
    small = replace(LOOPS, local_memory_bytes=256)
    refused(products(), "its sums have 480 bytes, and fast memory has 256", HOIST, capabilities=small)


def test_nothing_comes_after_a_hoisted_axis() -> None:
    refused(products(), "after HOIST", HOIST, Opt(OptOps.UPCAST, (1,), 4))
