"""Loops are split where addresses divide them, and only where that leaves less to divide."""

import numpy as np
import pytest

from plugrad.codegen.lower import lower
from plugrad.codegen.prepare.split_at_divisors import split_at_divisors
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered, storage_of, values_of

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(_ALL, _ALL, vector_bits=256, threads=2, native_ops=frozenset({"RECIP"}))
GRID = Capabilities(_ALL, _ALL, grid_dims=3, max_grid=(1 << 20,) * 3, max_workgroup=64)

i, j = UOp.range(3, 0), UOp.range(240, 1)


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def copy(numel: int, address: UOp, *loops: UOp) -> UOp:
    """Return the kernel that reads `address` of memory for `numel` elements, row by row."""
    loops = loops or (i, j)
    place = i * 240 + j if len(loops) == 2 else loops[0]
    steps = 240 * (3 if len(loops) == 2 else 1)
    store = param(0, steps).index(place).store(param(1, numel).index(address).load(), *loops)
    return UOp.sink(store, arg=KernelInfo())


def parts(*sizes: int) -> list[UOp]:
    return [UOp.range(size, (1, at)) for at, size in enumerate(sizes)]


TILED = copy(180, i * 60 + j % 60)
REPEATED = copy(12, i * 4 + j // 60)
TURNED = copy(720, i * 240 + j % 60 * 4 + j // 60)
NESTED = copy(180, i * 60 + j // 120 * 30 + j % 30)


def total(divisor: int) -> UOp:
    """Return the kernel of three sums of products with elements that stand for `divisor` steps each."""
    k = UOp.range(240, 1, AxisType.REDUCE)
    product = param(1, 720).index(i * 240 + k).load() * param(2, 720).index(i * 240 + k // divisor).load()
    return UOp.sink(param(0, 3).index(i).store(product.reduce(Ops.ADD, k), i), arg=KernelInfo())


REDUCED = total(2)


def test_a_repeated_row_is_a_loop_over_its_copies() -> None:
    a, b = parts(4, 60)
    store = param(0, 720).index(i * 240 + (a * 60 + b)).store(param(1, 180).index(i * 60 + b).load(), i, a, b)
    assert split_at_divisors(TILED, LOOPS) is simplify(UOp.sink(store, arg=KernelInfo()))


def dividing(sink: UOp) -> list[UOp]:
    return [u for u in sink.toposort() if u.op in (Ops.FLOORDIV, Ops.FLOORMOD)]


@pytest.mark.parametrize("ast", [TILED, REPEATED, TURNED, NESTED, REDUCED])
def test_nothing_is_left_to_divide(ast: UOp) -> None:
    assert dividing(ast)
    assert not dividing(split_at_divisors(ast, LOOPS))


def test_each_divisor_splits_what_the_one_before_has_left() -> None:
    got = split_at_divisors(NESTED, LOOPS)
    assert [r.src[0].arg for r in got.src[0].src[2:]] == [3, 2, 4, 30]


def test_a_reduction_has_a_short_loop_over_what_shares_an_element() -> None:
    (store,) = split_at_divisors(REDUCED, LOOPS).src
    outer, inner = store.src[1].src[1:]
    assert [(r.src[0].arg, r.arg.kind) for r in (outer, inner)] == [
        (120, AxisType.REDUCE),
        (2, AxisType.REDUCE),
    ]
    long = total(16)
    assert split_at_divisors(long, LOOPS) is long


def test_what_gains_nothing_stays() -> None:
    short = copy(18, i * 6 + j % 6)
    uneven = copy(303, i * 101 + j % 101)
    shifted = copy(180, i * 60 + (j + 7) % 60)
    total = param(1, 60).index(UOp.range(9, 2, AxisType.REDUCE) + j % 30).load()
    total = total.reduce(Ops.ADD, UOp.range(9, 2, AxisType.REDUCE))
    reduced = UOp.sink(param(0, 240).index(j).store(total, j), arg=KernelInfo())
    for ast in (short, uneven, shifted, reduced):
        assert split_at_divisors(ast, LOOPS) is ast


def test_a_grid_keeps_its_axes() -> None:
    assert split_at_divisors(TILED, GRID) is TILED


@pytest.mark.parametrize("ast", [TILED, REPEATED, TURNED, NESTED, REDUCED, copy(60, j % 60, j)])
def test_split_loops_write_the_same(ast: UOp) -> None:
    params = sorted({u for u in ast.toposort() if u.op is Ops.PARAM}, key=lambda u: u.arg[0])
    rng = np.random.default_rng(0)
    got = [storage_of(rng.integers(1, 99, u.arg[1]), u.dtype) for u in params]
    want = [buffer.copy() for buffer in got]
    run_lowered(lower(ast, LOOPS), got)
    evaluate_kernel(ast, want)
    np.testing.assert_array_equal(values_of(got[0], dtypes.float32), values_of(want[0], dtypes.float32))


def test_vectors_read_a_repeated_row() -> None:
    program = lower(TILED, LOOPS).program
    assert all(u.dtype.count > 1 for u in program if u.op is Ops.LOAD)
