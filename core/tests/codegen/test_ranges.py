import numpy as np

from plugrad.codegen.ranges import fold_reduce, simplify_ranges
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, storage_of, values_of

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


def test_ranges_whose_value_is_used_stay() -> None:
    place = i * 8 + j
    ast = kernel(ints.index(place).store(j.cast(dtypes.int32), i, j))
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


def test_a_reduction_of_nothing_is_its_identity() -> None:
    none = UOp.range(0, 2, REDUCE)
    value = ints.index(none).load()
    assert fold_reduce(value.reduce(Ops.ADD, none)).arg == 0  # pyright: ignore
    assert fold_reduce(value.reduce(Ops.MUL, none)).arg == 1  # pyright: ignore
    assert fold_reduce(value.reduce(Ops.MAX, none)).arg == -(1 << 31)  # pyright: ignore


def lookup(wanted: UOp, counter: UOp) -> UOp:
    return counter.eq(wanted).where(table.index(k).load(), 0.0).reduce(Ops.ADD, k)


def test_a_sum_that_picks_one_element_is_a_gated_load() -> None:
    wanted = ints.index(i).load()
    ast = kernel(out.index(i).store(lookup(wanted, k.cast(dtypes.int32)), i))
    got = simplify_ranges(ast)
    assert not any(u.op is Ops.REDUCE for u in got.toposort())
    memory = [
        storage_of(np.zeros(32), dtypes.float32),
        storage_of(np.zeros(32), dtypes.float32),
        storage_of(np.arange(6) + 10, dtypes.float32),
        storage_of(np.array([5, -1, 6, 0] * 8), dtypes.int32),
    ]
    evaluate_kernel(got, memory)
    assert values_of(memory[0], dtypes.float32)[:4].tolist() == [15, 0, 0, 10]


def test_the_greatest_integers_are_outside_of_an_axis_of_any_size() -> None:
    n = UOp.variable("n", 1, 6)
    row = UOp.range(n, 2, REDUCE)
    for dtype in (dtypes.int64, dtypes.uint64):
        numbers = param(3, 4, dtype)
        wanted = numbers.index(i).load()
        value = row.cast(dtype).eq(wanted).where(table.index(row).load(), 0.0).reduce(Ops.ADD, row)
        got = simplify_ranges(kernel(out.index(i).store(value, i)))
        assert not any(u.op is Ops.REDUCE for u in got.toposort())
        memory = [
            storage_of(np.zeros(32), dtypes.float32),
            storage_of(np.zeros(32), dtypes.float32),
            storage_of(np.arange(6) + 10, dtypes.float32),
            storage_of(np.array([3, 4, 0, (1 << 63) - 1]), dtype),
        ]
        evaluate_kernel(got, memory, {"n": 4})
        assert values_of(memory[0], dtypes.float32)[:4].tolist() == [13, 0, 10, 0]


def test_a_lookup_by_a_fraction_is_no_lookup() -> None:
    wanted = x.index(i).load()
    assert fold_reduce(lookup(wanted, k.cast(dtypes.float32))) is None


def test_a_lookup_by_a_counter_that_wraps_is_no_lookup() -> None:
    long = UOp.range(300, 2, REDUCE)
    value = param(2, 300).index(long).load()
    wanted = param(3, 4, dtypes.uint8).index(i).load()
    picked = long.cast(dtypes.uint8).eq(wanted).where(value, 0.0).reduce(Ops.ADD, long)
    assert fold_reduce(picked) is None


def test_every_load_of_a_nested_lookup_is_gated() -> None:
    wanted = ints.index(i).load()
    inner = param(4, 6, dtypes.int32).index(k).load()
    value = x.index(inner.cast(dtypes.index)).load()
    total = k.cast(dtypes.int32).eq(wanted).where(value, 0.0).reduce(Ops.ADD, k)
    found = fold_reduce(total)
    assert found is not None
    loads = [u for u in found.toposort() if u.op is Ops.LOAD and u.src[0].src[0] is not ints]
    assert len(loads) == 2
    assert all(len(u.src[0].src) == 3 for u in loads)
