"""Tests of plugrad_cpu_clang.prefetching."""

from collections.abc import Callable

import pytest

from plugrad.codegen.linearizer import linearize, remove_unused
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.prefetching import Prefetch, innermost_loops, prefetches
from plugrad_cpu_clang.renderer import CpuRenderer, cpu_capabilities

CAPABILITIES = cpu_capabilities(this_machine())
i32 = dtypes.int32
out, x, y = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 20)) for slot in range(3))
ROW = 1000  # elements from row to row: nearly a page
CACHED = 1 << 20


def down_the_rows(size: int = 1024) -> UOp:
    like = UOp.range(size, 0, AxisType.REDUCE)
    return UOp(Ops.RANGE, i32, (UOp.const(i32, size),), like.arg)


def program_of(*values: UOp, r: UOp) -> list[UOp]:
    stores = (out.index(UOp.const(i32, i)).store(value.reduce(Ops.ADD, r)) for i, value in enumerate(values))
    return remove_unused(linearize(UOp.sink(*stores), CAPABILITIES))


def at(memory: UOp, index: UOp) -> UOp:
    return memory.index(index).load()


def tile(r: UOp, columns: int = 20) -> list[UOp]:
    """Return the products of a step: one of each column of `x` with an element of `y`."""
    return [at(x, r * ROW + i) * at(y, r) for i in range(columns)]


def test_each_line_of_a_far_row_is_fetched_ahead_once() -> None:
    r = down_the_rows()
    found = prefetches(innermost_loops(program_of(*tile(r), r=r)), CACHED)
    # 21 loads and 20 additions a step: 14 steps ahead. Elements 0 to 15 are one line, and 16 to 19 another
    assert sorted(map(offset_of, found)) == [0, 16]
    assert set(found.values()) == {Prefetch(14 * ROW, is_near=True)}


def offset_of(load: UOp) -> int:
    index = load.src[0].src[1]
    return index.src[1].arg if index.op is Ops.ADD else 0


def test_rows_that_the_processor_follows_by_itself_are_left_to_it() -> None:
    r = down_the_rows()
    near = [at(x, r * 32 + i) * at(y, r) for i in range(20)]
    assert prefetches(innermost_loops(program_of(*near, r=r)), CACHED) == {}


def test_rows_that_are_written_out_are_as_near_as_in_a_loop() -> None:
    r = down_the_rows()
    rows = [at(x, r * 1024 + (row * 128 + i)) * at(y, r) for row in range(8) for i in range(4)]
    assert prefetches(innermost_loops(program_of(*rows, r=r)), CACHED) == {}
    rows = [at(x, r * (4 * ROW) + (row * ROW + i)) * at(y, r) for row in range(4) for i in range(4)]
    assert len(prefetches(innermost_loops(program_of(*rows, r=r)), CACHED)) == 4


def test_what_the_caches_hold_is_not_fetched() -> None:
    r = down_the_rows()
    assert prefetches(innermost_loops(program_of(*tile(r), r=r)), 4 << 20) == {}


def test_short_steps_and_short_loops_gain_nothing() -> None:
    r = down_the_rows()
    assert prefetches(innermost_loops(program_of(at(x, r * ROW), r=r)), CACHED) == {}
    r = down_the_rows(16)
    assert prefetches(innermost_loops(program_of(*tile(r), r=r)), CACHED) == {}


def test_many_lines_wait_in_the_second_cache() -> None:
    r = down_the_rows()
    found = prefetches(innermost_loops(program_of(*tile(r, 80), r=r)), CACHED)
    assert {ahead.is_near for ahead in found.values()} == {True}
    apart = [at(x, r * (20 * ROW) + i * ROW) * at(y, r) for i in range(20)]
    found = prefetches(innermost_loops(program_of(*apart, r=r)), CACHED)
    assert len(found) == 20
    assert not any(ahead.is_near for ahead in found.values())


def rows_twice(length: int, again: Callable[[UOp], UOp]) -> list[UOp]:
    """Return a program over rows: the sum of each, and then of what `again` makes of its elements."""
    rows, first, second = (
        UOp(Ops.RANGE, i32, (UOp.const(i32, size),), UOp.range(size, n, kind).arg)
        for n, (size, kind) in enumerate(
            [(64, AxisType.GLOBAL), (length // 16, AxisType.REDUCE), (length // 16, AxisType.REDUCE)]
        )
    )
    total = at(x, rows * length + first * 16).reduce(Ops.ADD, first)
    value = again(at(x, rows * length + second * 16) - total).reduce(Ops.ADD, second)
    return remove_unused(linearize(UOp.sink(out.index(rows).store(value, rows)), CAPABILITIES))


def busy(value: UOp) -> UOp:
    for _ in range(12):
        value = value * value + value
    return value


def test_a_loop_that_computes_asks_for_the_row_that_comes_next() -> None:
    found = prefetches(innermost_loops(rows_twice(4096, busy)), CACHED)
    assert list(found.values()) == [Prefetch(4096, is_near=False)]


def test_rows_that_are_short_or_long_and_loops_without_time_leave_it() -> None:
    assert prefetches(innermost_loops(rows_twice(1024, busy)), CACHED) == {}
    assert prefetches(innermost_loops(rows_twice(1 << 15, busy)), CACHED) == {}
    assert prefetches(innermost_loops(rows_twice(4096, lambda value: value * value)), CACHED) == {}


def tiles_of_rows(columns: int, apart: int = 8 * 384, lanes: int = 1) -> list[UOp]:
    """Return a program of products of eight rows of `x` with columns of `y`, tile after tile.

    `apart` are the elements from tile to tile. Of `lanes` tiles, one row of `y` is another's.
    """
    tiles, others, k = (
        UOp(Ops.RANGE, i32, (UOp.const(i32, size),), UOp.range(size, n, kind).arg)
        for n, (size, kind) in enumerate(
            [(64, AxisType.LOOP), (lanes, AxisType.LOOP), (384, AxisType.REDUCE)]
        )
    )
    stores = [
        out.index(tiles * 8 + (row * 512 + column)).store(
            (at(x, tiles * apart + k + row * 384) * at(y, others * 8 + k * columns + column)).reduce(
                Ops.ADD, k
            ),
            tiles,
            *((others,) if lanes > 1 else ()),
        )
        for row in range(8)
        for column in range(columns)
    ]
    return remove_unused(linearize(UOp.sink(*stores), CAPABILITIES))


@pytest.mark.parametrize("lanes", [1, 2])
def test_products_ask_for_the_rows_of_the_next_tile(lanes: int) -> None:
    found = prefetches(innermost_loops(tiles_of_rows(4, lanes=lanes)), CACHED)
    ahead = {offset_of(load): fetch for load, fetch in found.items() if load.src[0].src[0] is x}
    assert ahead == {row * 384: Prefetch(8 * 384, is_near=False) for row in range(8)}


def test_rows_that_this_tile_reads_itself_are_not_fetched_for_the_next() -> None:
    # each tile begins two rows after the one before
    found = prefetches(innermost_loops(tiles_of_rows(4, apart=2 * 384)), CACHED)
    assert sorted(map(offset_of, found)) == [6 * 384, 7 * 384]


def test_few_products_of_a_line_ask_for_none() -> None:
    assert prefetches(innermost_loops(tiles_of_rows(3)), CACHED) == {}
    # nor do tiles that the second cache has no room for
    assert prefetches(innermost_loops(tiles_of_rows(4)), CACHED // 8) == {}


def test_the_source_asks_before_it_loads() -> None:
    r = down_the_rows()
    source = CpuRenderer(CAPABILITIES).render(program_of(*tile(r), r=r), "kernel")
    asks, loads = source.index("__builtin_prefetch("), source.index("= *(data1+")
    assert asks < loads
    assert f"+{14 * ROW}, 0, 3);" in source


def test_the_compiler_writes_out_innermost_steps_that_keep_their_order() -> None:
    # no loop around an unrolled one, and no sum
    outer, inner = (
        UOp(Ops.RANGE, i32, (UOp.const(i32, 64),), UOp.range(64, n, AxisType.ORDERED).arg) for n in range(2)
    )
    step = out.index(at(x, outer * 64 + inner).cast(i32)).store(at(y, inner), outer, inner)
    source = CpuRenderer(CAPABILITIES).render(
        remove_unused(linearize(UOp.sink(step), CAPABILITIES)), "kernel"
    )
    lines = [line.strip() for line in source.splitlines()]
    loops = [number for number, line in enumerate(lines) if line.startswith("for (")]
    assert [lines[number - 1] == "#pragma GCC unroll 4" for number in loops] == [False, True]
