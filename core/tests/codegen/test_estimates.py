from plugrad.codegen.estimates import estimate
from plugrad.dtype import DType, dtypes
from plugrad.uop.op_cost import Estimates
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


i, j, k = UOp.range(4, 0), UOp.range(8, 1), UOp.range(16, 2, AxisType.REDUCE)


def test_elementwise_work_is_counted_once_an_element() -> None:
    place = i * 8 + j
    value = param(1, 32).index(place).load() * 2.0 + 1.0
    cost = estimate(UOp.sink(param(0, 32).index(place).store(value, i, j)))
    assert cost == Estimates(flops=64, bytes_accessed=256, bytes_loaded=256)


def test_a_matrix_product_counts_two_operations_a_step() -> None:
    a, b = param(1, 64).index(i * 16 + k).load(), param(2, 128).index(k * 8 + j).load()
    cost = estimate(UOp.sink(param(0, 32).index(i * 8 + j).store((a * b).reduce(Ops.ADD, k), i, j)))
    assert cost.flops == 2 * 4 * 8 * 16
    assert cost.bytes_accessed == (64 + 128 + 32) * 4


def test_what_a_loop_does_not_change_is_counted_outside_of_it() -> None:
    row = param(1, 4).index(i).load() * 2.0
    cost = estimate(UOp.sink(param(0, 32).index(i * 8 + j).store(row, i, j)))
    assert cost.flops == 4
    assert cost.bytes_loaded == (4 + 32) * 4


def test_addresses_and_conditions_are_free() -> None:
    value = param(1, 8, dtypes.uint8).index(j * 3 // 2, j < 5).load()
    cost = estimate(UOp.sink(param(0, 8, dtypes.uint8).index(j).store(value, j)))
    assert cost == Estimates(flops=0, bytes_accessed=16, bytes_loaded=16)


def test_memory_read_and_written_counts_once() -> None:
    place = param(0, 8).index(j)
    assert estimate(UOp.sink(place.store(place.load() + 1.0, j))).bytes_accessed == 32


def test_symbolic_sizes_give_symbolic_costs() -> None:
    n = UOp.variable("n", 1, 10)
    r = UOp.range(n, 0)
    cost = estimate(UOp.sink(param(0, 10).index(r).store(param(1, 10).index(r).load() + 1.0, r)))
    assert cost.flops is n
    assert cost.bytes_loaded is n * 8


def test_of_a_slice_no_more_is_touched_than_is_moved() -> None:
    start = UOp.variable("start", 0, 999)
    row = param(1, 16000).index(start * 16 + k).load().reduce(Ops.ADD, k)
    cost = estimate(UOp.sink(param(0, 1).index(UOp.const(dtypes.index, 0)).store(row)))
    assert cost.bytes_accessed == 16 * 4 + 4
