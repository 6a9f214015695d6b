import math

import pytest

from plugrad.codegen.gpudims import add_launch_dims
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
out = UOp(Ops.PARAM, dtypes.int32, (), (0, 1 << 30))


def grid(dims: int, *limits: int) -> Capabilities:
    return Capabilities(
        _ALL, _ALL, grid_dims=dims, max_grid=limits, max_workgroup=1024, max_workgroup_dims=limits
    )


def special(name: str, size: int | UOp) -> UOp:
    return UOp(
        Ops.SPECIAL, dtypes.index, (UOp.const(dtypes.index, size) if isinstance(size, int) else size,), name
    )


def places(capabilities: Capabilities, *ranges: UOp) -> list[UOp]:
    """Return what becomes of each range."""
    stores = [out.index(r + n * 4096).store(UOp.const(dtypes.int32, 1), r) for n, r in enumerate(ranges)]
    got = add_launch_dims(UOp.sink(*stores), capabilities)
    assert all(len(s.src) == 2 for s in got.src)
    return [s.src[0].src[1] - n * 4096 if n else s.src[0].src[1] for n, s in enumerate(got.src)]


def axes(*sizes: int, kind: AxisType = AxisType.GLOBAL) -> list[UOp]:
    return [UOp.range(size, n, kind) for n, size in enumerate(sizes)]


def values(u: UOp, **at: int) -> int:
    found = {s: s.const_like(at[s.arg]) for s in u.toposort() if s.op is Ops.SPECIAL}
    return u.substitute(found).vmin


def test_the_last_axis_is_on_the_fastest_dimension() -> None:
    first, second = places(grid(3), *axes(4, 8))
    assert first is special("gidx1", 4)
    assert values(second, gidx0=5) == 5


def test_axes_share_a_dimension_where_there_are_too_few() -> None:
    first, second = places(grid(1), *axes(4, 8))
    for n in range(32):
        assert (values(first, gidx0=n), values(second, gidx0=n)) == (n // 8, n % 8)


def test_the_smallest_neighbours_are_merged() -> None:
    got = add_launch_dims(
        UOp.sink(*(out.index(r).store(UOp.const(dtypes.int32, 1), r) for r in axes(100, 2, 3, 100))), grid(3)
    )
    sizes = {u.arg: u.src[0].arg for u in got.toposort() if u.op is Ops.SPECIAL}
    assert sizes == {"gidx0": 100, "gidx1": 6, "gidx2": 100}


def test_dimensions_keep_to_their_limits() -> None:
    got = add_launch_dims(
        UOp.sink(*(out.index(r).store(UOp.const(dtypes.int32, 1), r) for r in axes(8, 64, 8))),
        grid(2, 512, 8),
    )
    sizes = {u.arg: u.src[0].arg for u in got.toposort() if u.op is Ops.SPECIAL}
    assert sizes == {"gidx0": 512, "gidx1": 8}


def test_an_axis_that_the_first_dimension_cannot_hold_goes_on_the_next() -> None:
    (only,) = places(grid(2, 4, 64), *axes(32))
    assert only is special("gidx1", 32)


def test_axes_that_fit_no_dimension_are_refused() -> None:
    with pytest.raises(
        KernelOptError, match=r"axes of 1000, 1000 steps do not fit a launch limited to \(100, 100\)"
    ):
        places(grid(2, 100, 100), *axes(1000, 1000))


def test_local_and_shared_axes_are_on_the_workgroup() -> None:
    local, group = UOp.range(4, 0, AxisType.LOCAL), UOp.range(8, 1, AxisType.GROUP_REDUCE)
    assert {u.arg for r in places(grid(3), local, group) for u in r.toposort() if u.op is Ops.SPECIAL} == {
        "lidx0",
        "lidx1",
    }


def test_thread_axes_share_the_one_thread_index() -> None:
    first, second = places(Capabilities(_ALL, _ALL, threads=8), *axes(2, 4, kind=AxisType.THREAD))
    for n in range(8):
        assert (values(first, thread=n), values(second, thread=n)) == (n // 4, n % 4)


def test_symbolic_axes_make_symbolic_dimensions() -> None:
    n = UOp.variable("n", 1, 10)
    ranges = [UOp.range(n, 0, AxisType.GLOBAL), UOp.range(4, 1, AxisType.GLOBAL)]
    first, _ = places(grid(1), *ranges)
    (index,) = [u for u in first.toposort() if u.op is Ops.SPECIAL]
    assert index.src[0] is n * 4


def test_loops_stay() -> None:
    sink = UOp.sink(out.index(UOp.range(4, 0)).store(UOp.const(dtypes.int32, 1), UOp.range(4, 0)))
    assert add_launch_dims(sink, grid(3)) is sink


def test_an_axis_beyond_every_limit_is_cut() -> None:
    (only,) = places(grid(3, 16, 16, 16), *axes(1000))
    sizes = {u.arg: u.src[0].arg for u in only.toposort() if u.op is Ops.SPECIAL}
    assert math.prod(sizes.values()) == 1000
    assert max(sizes.values()) <= 16
    found = {
        values(only, gidx0=i, gidx1=j, gidx2=k)
        for i in range(sizes["gidx0"])
        for j in range(sizes["gidx1"])
        for k in range(sizes["gidx2"])
    }
    assert found == set(range(1000))


def test_what_lies_nearest_in_memory_is_on_the_fastest_dimension_of_a_group() -> None:
    column = UOp.range(32, 0, AxisType.LOCAL)
    step = UOp.range(8, 1, AxisType.GROUP_REDUCE)
    for place, fastest in ((step * 1024 + column, column), (column * 1024 + step, step)):
        load = UOp(Ops.PARAM, dtypes.int32, (), (1, 1 << 20)).index(place).load()
        got = add_launch_dims(UOp.sink(out.index(column).store(load, column, step)), grid(3, 64, 64, 64))
        sizes = {u.arg: u.src[0].arg for u in got.toposort() if u.op is Ops.SPECIAL}
        assert sizes["lidx0"] == fastest.src[0].arg


@pytest.mark.parametrize("kind", [AxisType.UNROLL, AxisType.LANE])
def test_a_place_counts_as_often_as_it_will_be_read(kind: AxisType) -> None:
    row, column = UOp.range(32, 0, AxisType.LOCAL), UOp.range(8, 1, AxisType.LOCAL)
    step = UOp.range(4, 2, kind)
    load = UOp(Ops.PARAM, dtypes.int32, (), (1, 1 << 20)).index(row + column * 64 + step * 512).load()
    total = UOp(Ops.REDUCE, dtypes.int32, (load, step), (Ops.ADD, 1))
    got = add_launch_dims(
        UOp.sink(out.index(row * 64 + column).store(total, row, column)), grid(3, 64, 64, 64)
    )
    sizes = {u.arg: u.src[0].arg for u in got.toposort() if u.op is Ops.SPECIAL}
    assert sizes == {"lidx0": 32, "lidx1": 8}
