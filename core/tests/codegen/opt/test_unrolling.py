from dataclasses import replace

import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.dtype import DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

NARROW = replace(
    CAPABILITIES,
    grid_dims=0,
    max_grid=(),
    max_workgroup=0,
    vector_bits=256,
    vector_registers=16,
    threads=1,
    cache_bytes=(32 << 10, 512 << 10),
)
WIDE = replace(NARROW, vector_bits=512, vector_unit_bits=256, vector_registers=32)


def param(slot: int, dtype: DType) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, 1 << 22))


def product(inner: int, row_step: int, dtype: DType = dtypes.float32) -> UOp:
    """Return a matrix product whose left rows begin `row_step` elements apart."""
    i, j = UOp.range(64, 0), UOp.range(64, 1)
    k = UOp.range(inner, 2, AxisType.REDUCE)
    left = param(1, dtype).index(i * row_step + k).load()
    total = (left * param(2, dtype).index(k * 64 + j).load()).reduce(Ops.ADD, k)
    return UOp.sink(param(0, dtype).index(i * 64 + j).store(total, i, j), arg=KernelInfo())


def written_out(ast: UOp, capabilities: Capabilities) -> list[tuple[tuple[int, ...], object]]:
    applied = optimise(KernelOpt(ast, capabilities)).applied
    return [(opt.axis, opt.arg) for opt in applied if opt.op is OptOps.UNROLL]


@pytest.mark.parametrize(
    ("capabilities", "most"), [(NARROW, 8), (replace(WIDE, vector_unit_bits=512), 8), (WIDE, 4)]
)
def test_short_steps_of_a_tile_are_written_out_as_far_as_code_is_short(
    capabilities: Capabilities, most: int
) -> None:
    # vectors that a unit takes in halves leave room for the loop
    assert written_out(product(128, 128), capabilities) == [((2,), most)]
    assert written_out(product(100, 100), capabilities) == [((2,), min(most, 4))]
    assert written_out(product(99, 99), capabilities) == []


def test_what_rows_read_again_at_later_steps_stays_a_loop() -> None:
    assert written_out(product(128, 3), NARROW) == []


@pytest.mark.parametrize("capabilities", [NARROW, WIDE])
def test_a_short_reduction_is_whole_where_registers_hold_what_columns_repeat(
    capabilities: Capabilities,
) -> None:
    # 10 elements of each row of a tile would wait for the next columns
    assert written_out(product(10, 10), capabilities) == [((2,), 2)]
    assert written_out(product(3, 1000), capabilities) == [((2,), 3)]


def test_rows_of_many_vectors_are_added_up_in_a_loop() -> None:
    def total(length: int) -> UOp:
        i, k = UOp.range(8, 0), UOp.range(length, 1, AxisType.REDUCE)
        value = param(1, dtypes.float32).index(i * length + k).load().reduce(Ops.ADD, k)
        return UOp.sink(param(0, dtypes.float32).index(i).store(value, i), arg=KernelInfo())

    assert written_out(total(64 * 32), WIDE) == [((1, 0), 8)]
    assert written_out(total(64 * 6), WIDE) == [((1, 0), 6)]


def test_products_of_integers_stay_a_loop() -> None:
    assert written_out(product(128, 128, dtypes.int32), NARROW) == []


def test_short_rows_are_written_out_and_several_of_them_where_values_are_computed() -> None:
    def scaled(length: int, terms: int) -> list[tuple[tuple[int, ...], object]]:
        """Return what is written out of rows that are multiplied by themselves some times."""
        i, j = UOp.range(32, 0), UOp.range(length, 1)
        value = loaded = param(1, dtypes.float32).index((i * 2 + 1) * length + j).load()
        for _ in range(terms):
            value = value * loaded + 1.0
        ast = UOp.sink(param(0, dtypes.float32).index(i * length + j).store(value, i, j), arg=KernelInfo())
        applied = optimise(KernelOpt(ast, WIDE)).applied
        return [(opt.axis, opt.arg) for opt in applied if opt.op is OptOps.UPCAST]

    assert scaled(20, 8) == [((1, 1), 16), ((1, 0), 2), ((0,), 4)]
    assert scaled(20, 0) == [((1, 1), 16), ((1, 0), 2)]
    assert scaled(32, 0)[1:] == []
    assert scaled(16 * 5, 8)[1:] == []


def test_one_axis_of_a_window_is_written_out_where_vectors_take_two_cycles() -> None:
    n, y, x = (UOp.range(size, axis) for axis, size in enumerate((64, 16, 64)))
    c, v, w = (UOp.range(size, 3 + axis, AxisType.REDUCE) for axis, size in enumerate((32, 3, 3)))
    image = param(1, dtypes.float32).index(((c * 18) + y + v) * 66 + x + w).load()
    weight = param(2, dtypes.float32).index(((n * 32 + c) * 3 + v) * 3 + w).load()
    place = param(0, dtypes.float32).index((n * 16 + y) * 64 + x)
    ast = UOp.sink(place.store((image * weight).reduce(Ops.ADD, c, v, w), n, y, x), arg=KernelInfo())
    assert written_out(ast, replace(WIDE, vector_unit_bits=512)) == [((5,), 3), ((4,), 3)]
    assert written_out(ast, WIDE) == [((5,), 3)]


def test_long_rows_of_several_vectors_stay_a_loop() -> None:
    i, k = UOp.range(2048, 0), UOp.range(384, 1, AxisType.REDUCE)
    value = param(1, dtypes.float32).index(i * 384 + k).load()
    ast = UOp.sink(param(0, dtypes.float32).index(i).store(value.reduce(Ops.ADD, k), i), arg=KernelInfo())
    assert written_out(ast, WIDE) == []
