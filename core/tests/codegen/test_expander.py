from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.expander import expand
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

out, x, y = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(3))
i = UOp.range(4, 0)
k = UOp.range(8, 1, AxisType.REDUCE)


def expanded(sink: UOp) -> UOp:
    return expand(sink, CAPABILITIES)


def const(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


def test_each_step_of_an_upcast_axis_becomes_a_store() -> None:
    up = UOp.range(2, 1, AxisType.UPCAST)
    got = expanded(UOp.sink(out.index(i * 2 + up).store(x.index(up).load(), i, up)))
    first = out.index(i * 2).store(x.index(const(0)).load(), i)
    second = out.index(i * 2 + 1).store(x.index(const(1)).load(), i)
    assert got is UOp.sink(first, second)


def test_what_an_axis_does_not_change_is_computed_once() -> None:
    up = UOp.range(4, 1, AxisType.UPCAST)
    shared = x.index(i).load()
    got = expanded(UOp.sink(out.index(i * 4 + up).store(shared * y.index(up).load(), i, up)))
    assert sum(u.op is Ops.LOAD and u.src[0].src[0] is x for u in got.toposort()) == 1
    assert sum(u.op is Ops.LOAD for u in got.toposort()) == 5


def test_an_unrolled_reduction_takes_several_values_into_one_accumulator() -> None:
    un = UOp.range(2, 2, AxisType.UNROLL)
    total = x.index(k * 2 + un).load().reduce(Ops.ADD, k, un)
    got = expanded(UOp.sink(out.index(i).store(total, i)))
    values = (x.index(k * 2).load(), x.index(k * 2 + 1).load())
    want = UOp(Ops.REDUCE, dtypes.float32, (*values, k), (Ops.ADD, 2))
    assert got is UOp.sink(out.index(i).store(want, i))


def test_a_partial_reduction_combines_separate_accumulators() -> None:
    part = UOp.range(2, 2, AxisType.PARTIAL)
    total = x.index(k * 2 + part).load().reduce(Ops.MAX, k, part)
    got = expanded(UOp.sink(out.index(i).store(total, i)))
    first, second = (x.index(k * 2 + n if n else k * 2).load().reduce(Ops.MAX, k) for n in range(2))
    assert got is UOp.sink(out.index(i).store(first.maximum(second), i))


def test_a_reduction_that_is_all_unrolled_has_no_loop() -> None:
    un = UOp.range(3, 2, AxisType.UNROLL)
    got = expanded(UOp.sink(out.index(i).store(x.index(un).load().reduce(Ops.ADD, un), i)))
    a, b, c = (x.index(const(n)).load() for n in range(3))
    assert got is UOp.sink(out.index(i).store(a + c + b, i))


def test_unrolled_copies_write_local_memory_behind_one_barrier() -> None:
    up = UOp.range(2, 1, AxisType.UPCAST)
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 2))
    barrier = UOp(Ops.BARRIER, dtypes.void, (memory.index(up).store(x.index(up).load(), up),))
    value = memory.after(barrier).index(up).load()
    got = expanded(UOp.sink(out.index(up).store(value, up)))
    (barrier,) = [u for u in got.toposort() if u.op is Ops.BARRIER]
    assert barrier.src == tuple(memory.index(const(n)).store(x.index(const(n)).load()) for n in range(2))


def test_vectors_of_accumulators_combine_before_their_lanes() -> None:
    part, lane = UOp.range(2, 2, AxisType.PARTIAL), UOp.range(4, 3, AxisType.LANE)
    total = x.index(k * 8 + part * 4 + lane).load().reduce(Ops.ADD, k, part, lane)
    got = expanded(UOp.sink(out.index(i).store(total, i)))
    first, second = (
        x.index(k * 8 + lane + n * 4 if n else k * 8 + lane).load().reduce(Ops.ADD, k) for n in range(2)
    )
    assert got is UOp.sink(out.index(i).store((first + second).reduce(Ops.ADD, lane), i))


def test_products_of_a_reduction_without_loops_are_added_as_they_are_multiplied() -> None:
    un = UOp.range(3, 2, AxisType.UNROLL)
    total = (x.index(un).load() * y.index(un).load()).reduce(Ops.ADD, un)
    got = expanded(UOp.sink(out.index(i).store(total, i)))
    (a, p), (b, q), (c, r) = ((x.index(const(n)).load(), y.index(const(n)).load()) for n in range(3))
    assert got is UOp.sink(out.index(i).store(c.mulacc(r, b.mulacc(q, a * p)), i))
