from plugrad.codegen.reduces import share_reduces
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1024)) for slot in range(2))
row = UOp.range(4, 0, AxisType.GLOBAL)
k = UOp.range(8, 1, AxisType.REDUCE)
group = UOp.range(16, 2, AxisType.GROUP_REDUCE)


def test_a_kernel_without_groups_stays() -> None:
    sink = UOp.sink(out.index(row).store(x.index(row * 8 + k).load().reduce(Ops.ADD, k), row))
    assert share_reduces(sink) is sink


def test_parts_meet_in_local_memory() -> None:
    value = x.index(row * 128 + k * 16 + group).load()
    got = share_reduces(UOp.sink(out.index(row).store(value.reduce(Ops.ADD, k, group), row)))
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 16))
    barrier = UOp(Ops.BARRIER, dtypes.void, (memory.index(group).store(value.reduce(Ops.ADD, k)),))
    part = UOp.range(16, 3, AxisType.PARTIAL)
    total = memory.after(barrier).index(part).load().reduce(Ops.ADD, part)
    # every work-item has the sum, the first one stores it
    assert got is UOp.sink(out.index(row, group.eq(0)).store(total, row))


def test_many_parts_meet_twice() -> None:
    many = UOp.range(256, 2, AxisType.GROUP_REDUCE)
    got = share_reduces(UOp.sink(out.index(row).store(x.index(many).load().reduce(Ops.ADD, many), row)))
    first, second = sorted((u for u in got.toposort() if u.op is Ops.DEFINE_LOCAL), key=lambda u: u.arg)
    assert (first.arg[1], second.arg[1]) == (256, 16)
    # the items of a slot read parts that lie side by side at each step
    part, slot = UOp.range(16, 3, AxisType.PARTIAL), many % 16
    (barrier,) = (u for u in got.toposort() if u.op is Ops.BARRIER and u.src[0].src[0].src[0] is first)
    few = first.after(barrier).index(part * 16 + slot).load().reduce(Ops.ADD, part)
    assert any(u is second.index(many, many < 16).store(few) for u in got.toposort())


def test_work_items_of_other_axes_have_places_of_their_own() -> None:
    local = UOp.range(2, 4, AxisType.LOCAL)
    total = x.index(local * 16 + group).load().reduce(Ops.ADD, group)
    got = share_reduces(UOp.sink(out.index(local).store(total, local)))
    (memory,) = [u for u in got.toposort() if u.op is Ops.DEFINE_LOCAL]
    assert memory.arg == (0, 32)


def test_unrolled_copies_have_places_of_their_own() -> None:
    up = UOp.range(4, 4, AxisType.UPCAST)
    total = x.index(up * 16 + group).load().reduce(Ops.ADD, group)
    got = share_reduces(UOp.sink(out.index(up).store(total, up)))
    (barrier,) = [u for u in got.toposort() if u.op is Ops.BARRIER]
    place, _, *ended = barrier.src[0].src
    assert place.src[0].arg == (0, 64)
    assert place.src[1] is group * 4 + up
    assert ended == [up]


def test_two_shared_reductions_use_two_memories() -> None:
    other = UOp.range(16, 5, AxisType.GROUP_REDUCE)
    greatest = x.index(group).load().reduce(Ops.MAX, group)
    total = (x.index(other).load() - greatest).reduce(Ops.ADD, other)
    got = share_reduces(UOp.sink(out.index(row).store(total, row)))
    memories = [u.arg[0] for u in got.toposort() if u.op is Ops.DEFINE_LOCAL]
    assert sorted(memories) == [0, 1]
    gate = got.src[0].src[0].src[2]
    assert set(gate.src) == {group.eq(0), other.eq(0)}


def test_work_items_store_the_steps_that_a_store_has_of_them() -> None:
    total = x.index(row * 16 + group).load().reduce(Ops.ADD, group)
    got = share_reduces(UOp.sink(out.index(row * 16 + group).store(total, row, group)))
    assert got.src[0].src[0] is out.index(row * 16 + group)
    assert got.src[0].src[2:] == (row, group)
