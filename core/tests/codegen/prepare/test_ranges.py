from plugrad.codegen.prepare.ranges import fold_reduce, simplify_ranges
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

REDUCE = AxisType.REDUCE


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def const(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


i, j, k = UOp.range(4, 0), UOp.range(8, 1), UOp.range(6, 2, REDUCE)
out, x, table = param(0, 32), param(1, 32), param(2, 6)
ints = param(3, 32, dtypes.int32)


def kernel(*stores: UOp) -> UOp:
    return UOp.sink(*stores, arg=KernelInfo())


def test_neighbouring_ranges_that_memory_cannot_tell_apart_become_one() -> None:
    place = i * 8 + j
    merged = UOp.range(32, 0)
    got = simplify_ranges(kernel(out.index(place).store(x.index(place).load(), i, j)))
    assert got is kernel(out.index(merged).store(x.index(merged).load(), merged))


def test_ranges_that_one_access_takes_apart_stay() -> None:
    ast = kernel(out.index(i * 8 + j).store(x.index(j * 4 + i).load(), i, j))
    assert simplify_ranges(ast) is simplify(ast)


def test_ranges_stay_that_stores_take_apart_which_a_load_waits_for() -> None:
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 32))
    first = memory.index(j * 4 + i).store(x.index(i * 8 + j).load(), i, j)
    there = memory.after(UOp(Ops.BARRIER, dtypes.void, (first,)))
    ast = kernel(out.index(i * 8 + j).store(there.index(i * 8 + j).load(), i, j))
    assert simplify_ranges(ast) is simplify(ast)


def test_ranges_whose_value_is_used_stay() -> None:
    place = i * 8 + j
    ast = kernel(ints.index(place).store(j.cast(dtypes.int32), i, j))
    assert simplify_ranges(ast) is simplify(ast)


def test_ranges_whose_flat_position_is_used_become_one() -> None:
    place = i * 8 + j
    merged = UOp.range(32, 0)
    got = simplify_ranges(kernel(ints.index(place).store(place.cast(dtypes.int32) % 5, i, j)))
    assert got is kernel(ints.index(merged).store(merged.cast(dtypes.int32) % 5, merged))


def test_ranges_whose_values_are_used_in_another_order_stay() -> None:
    value = (j * 4 + i).cast(dtypes.int32)
    ast = kernel(ints.index(i * 8 + j).store(value, i, j))
    assert simplify_ranges(ast) is simplify(ast)


def test_ranges_of_a_reduction_merge() -> None:
    a, b = UOp.range(4, 1, REDUCE), UOp.range(8, 2, REDUCE)
    total = x.index(a * 8 + b).load().reduce(Ops.ADD, a, b)
    got = simplify_ranges(kernel(out.index(const(0)).store(total)))
    both = UOp.range(32, 1, REDUCE)
    assert got is kernel(out.index(const(0)).store(x.index(both).load().reduce(Ops.ADD, both)))


def test_symbolic_ranges_stay() -> None:
    n = UOp.range(UOp.variable("n", 1, 8), 1)
    ast = kernel(out.index(i * 8 + n).store(x.index(i * 8 + n).load(), i, n))
    assert simplify_ranges(ast) is simplify(ast)


def test_a_sum_of_the_same_value_is_a_product() -> None:
    value = x.index(i).load()
    assert fold_reduce(value.reduce(Ops.ADD, k)) is value * 6.0


def test_a_count_that_a_half_cannot_hold_is_added_up() -> None:
    value = param(1, 4, dtypes.float16).index(i).load()
    long = UOp.range(2049, 2, REDUCE)
    assert fold_reduce(value.reduce(Ops.ADD, long)) is None


def test_the_greatest_of_equal_values_is_the_value() -> None:
    value = x.index(i).load()
    assert fold_reduce(value.reduce(Ops.MAX, k)) is value


def test_the_greatest_of_perhaps_no_values_is_searched() -> None:
    value = x.index(i).load()
    maybe = UOp.range(UOp.variable("n", 0, 4), 2, REDUCE)
    assert fold_reduce(value.reduce(Ops.MAX, maybe)) is None


def test_a_product_of_zeros_or_ones_is_one_of_them_but_for_negative_zero() -> None:
    for value in (UOp.const(dtypes.uint64, 0), UOp.const(dtypes.float32, 1.0)):
        assert fold_reduce(value.reduce(Ops.MUL, k)) is value
    assert fold_reduce(UOp.const(dtypes.float32, -0.0).reduce(Ops.MUL, k)) is None


def test_a_reduction_of_nothing_is_its_identity() -> None:
    none = UOp.range(0, 2, REDUCE)
    value = ints.index(none).load()
    assert fold_reduce(value.reduce(Ops.ADD, none)).arg == 0  # pyright: ignore
    assert fold_reduce(value.reduce(Ops.MUL, none)).arg == 1  # pyright: ignore
    assert fold_reduce(value.reduce(Ops.MAX, none)).arg == -(1 << 31)  # pyright: ignore
