from plugrad.codegen.opt.analysis import LoopBody, bodies_of
from plugrad.codegen.opt.tile import Tile
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

i, j, k = UOp.range(100, 0), UOp.range(70, 1), UOp.range(50, 2, AxisType.REDUCE)
out, x, y, scale = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 7000)) for slot in range(4))


def product() -> LoopBody:
    value = x.index(i * 50 + k).load() * y.index(k * 70 + j).load() * scale.index(j).load()
    return bodies_of(UOp.sink(out.index(i * 70 + j).store(value.reduce(Ops.ADD, k), i, j), arg=KernelInfo()))[
        1
    ]


def tile() -> Tile:
    return Tile(j, 16, 2, ()).with_rows(i, 6)


def test_what_the_reduction_does_not_move_is_loaded_once_before_it() -> None:
    assert {p.index.src[0] for p in product().moving} == {x, y}


def test_a_tile_loads_its_columns_and_its_rows_for_all_products() -> None:
    assert tile().products == 12
    assert tile().loads(product()) == 2 + 6
    assert tile().loads(product(), lambda p: 3 if p.index.src[0] is y else 1) == 3 * 2 + 6


def test_a_tile_keeps_its_panels_over_all_steps() -> None:
    assert tile().nbytes(product()) == 4 * 50 * (32 + 6)


def test_products_beyond_the_end_of_an_axis_are_not_wanted() -> None:
    assert tile().rest == (96 / 70) * (102 / 100)
    assert tile().steps(product(), lambda _: 0) == 350_000 / 16 * tile().rest


def test_loads_take_time_where_there_are_more_of_them_than_products() -> None:
    few, many = (tile().steps(product(), lambda _, w=weight: w) for weight in (1, 3))
    assert few == 350_000 * ((12 + 8 / 8) / (12 * 16)) * tile().rest
    assert many == 350_000 * ((24 + 24 / 8) / (12 * 16)) * tile().rest


def test_a_load_for_all_lanes_takes_longer_where_its_lines_are_far() -> None:
    along, across = x.index(i * 50 + k), x.index(k * 100 + i)
    for index, time in ((along, 1 + 4 * 4 / 64), (across, 1 + 4)):
        value = index.load() * y.index(k * 70 + j).load()
        sink = UOp.sink(out.index(i * 70 + j).store(value.reduce(Ops.ADD, k), i, j), arg=KernelInfo())
        (place,) = (p for p in bodies_of(sink)[1].moving if p.index is index)
        # six rows of 50 floats, or the lines of 50 rows that six neighbours share
        nbytes = 6 * 50 * 4 if index is along else 50 * 64
        assert tile().shared_load(place, nbytes) == 1
        assert tile().shared_load(place, nbytes - 1) == time


def test_neighbours_are_the_rows_that_memory_has_side_by_side() -> None:
    written = next(
        p
        for p in bodies_of(UOp.sink(out.index(j * 100 + i).store(x.index(i).load(), i, j)))[0].places
        if p.is_store
    )
    assert tile().neighbours(written) == 6
    assert Tile(i, 16, 2, ()).with_rows(j, 6).neighbours(written) == 1


def test_registers_hold_the_factors_of_a_step_beside_the_products() -> None:
    assert tile().fits(16, 0)
    assert not tile().fits(16, 1)
    assert Tile(j, 8, 3, ()).with_rows(i, 4).fits(16, 0)
    assert not Tile(j, 8, 4, ()).with_rows(i, 3).fits(16, 0)
    assert Tile(j, 8, 4, ()).with_rows(i, 3).fits(32, 0)
    assert Tile(j, 8, 12, ()).fits(16, 0)


def test_the_opts_of_a_tile_take_the_columns_first() -> None:
    assert tile().opts() == [((1,), 32), ((0,), 6)]


def window(size: int) -> tuple[LoopBody, UOp, UOp]:
    """Return sums over square windows of an image 64 wide, its rows, and its columns."""
    r, c = UOp.range(32, 0), UOp.range(32, 1)
    v, u = (UOp.range(size, axis, AxisType.REDUCE) for axis in (2, 3))
    value = x.index((r + v) * 64 + c + u).load() * y.index(v * size + u).load()
    store = out.index(r * 32 + c).store(value.reduce(Ops.ADD, v, u), r, c)
    return bodies_of(UOp.sink(store, arg=KernelInfo()))[1], r, c


def test_windows_of_neighbouring_rows_share_what_they_load() -> None:
    body, rows, columns = window(5)
    assert Tile(columns, 16, 1, ()).with_rows(rows, 6).loads(body) == (6 + 4) / 5 + 1


def test_windows_share_nothing_where_a_loop_runs_over_them() -> None:
    body, rows, columns = window(6)
    # one over their columns shares nothing of theirs
    assert Tile(columns, 16, 1, ()).with_rows(rows, 6).loads(body) == 1 + 5 / 6 + 1
    assert Tile(columns, 16, 2, ()).with_rows(rows, 6).loads(body) == 2 * 6 + 1


def test_a_window_is_written_out_where_its_code_is_short_and_one_axis_of_rows_shares_it() -> None:
    body, rows, columns = window(5)
    few = Tile(columns, 16, 1, ()).with_rows(rows, 8)
    assert few.is_written_out(body)
    assert not Tile(columns, 16, 2, ()).with_rows(rows, 8).is_written_out(body)
    assert not few.with_rows(i, 1).is_written_out(body)
