from plugrad.codegen.loops import separate_loops
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

x, y, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(3))
i, k = UOp.range(4, 0), UOp.range(8, 1, AxisType.REDUCE)
m = UOp.range(8, 2, AxisType.REDUCE)


def sink(value: UOp) -> UOp:
    return UOp.sink(out.index(i).store(value, i))


def test_reductions_that_share_a_loop_keep_sharing_it() -> None:
    row = i * 8 + k
    total = x.index(row).load().reduce(Ops.ADD, k)
    greatest = y.index(row).load().reduce(Ops.MAX, k)
    assert separate_loops(sink(total + greatest)) is sink(total + greatest)


def test_a_reduction_over_another_ones_result_gets_its_own_loop() -> None:
    greatest = x.index(i * 8 + k).load().reduce(Ops.MAX, k)
    total = (x.index(i * 8 + k).load() - greatest).reduce(Ops.ADD, k)
    apart_greatest = x.index(i * 8 + m).load().reduce(Ops.MAX, m)
    apart = (x.index(i * 8 + k).load() - apart_greatest).reduce(Ops.ADD, k)
    assert separate_loops(sink(total)) is sink(apart)


def test_a_reduction_that_other_loops_do_not_change_is_not_repeated_in_them() -> None:
    inner = x.index(i * 8 + k).load().reduce(Ops.ADD, k)
    hoisted = y.index(k).load().reduce(Ops.ADD, k)
    got = separate_loops(sink(inner + hoisted))
    ended = [u.src[1:] for u in got.toposort() if u.op is Ops.REDUCE]
    assert sorted(r.arg.ident for (r,) in ended) == [(1,), (2,)]


def test_copies_of_an_outer_reduction_take_inner_ones_along() -> None:
    j = UOp.range(3, 5, AxisType.REDUCE)
    inner = x.index(k * 3 + j).load().reduce(Ops.ADD, j)
    first = inner.reduce(Ops.MAX, k)
    second = (inner * first).reduce(Ops.ADD, k)
    got = separate_loops(sink(second))
    loops = {}
    for u in got.toposort():
        if u.op is Ops.REDUCE:
            loops.setdefault(u.src[-1], set()).add(u.ranges)
    assert len(loops) == 4
    assert all(len(around) == 1 for around in loops.values())


def test_a_store_does_not_stand_in_loops_that_it_does_not_end() -> None:
    j = UOp.range(3, 7)
    place = y.index(i)
    often = out.index(j * 4 + i).store(x.index(j).load(), j, i)
    once = place.store(place.load() + 1.0, i)
    got = separate_loops(UOp.sink(often, once))
    own = UOp.range(4, 8)
    place = y.index(own)
    assert got is UOp.sink(often, place.store(place.load() + 1.0, own))


def test_a_store_outside_of_an_inner_loop_shares_the_outer_one() -> None:
    j = UOp.range(3, 7)
    stores = (out.index(i * 3 + j).store(x.index(j).load(), i, j), y.index(i).store(x.index(i).load(), i))
    assert separate_loops(UOp.sink(*stores)) is UOp.sink(*stores)
