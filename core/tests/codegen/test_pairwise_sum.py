import math
from dataclasses import replace

import pytest

from plugrad.codegen.pairwise_sum import split_long_sums
from plugrad.dtype import DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 20)) for slot in range(2))
i = UOp.range(4, 0)
LOOPS = Capabilities(frozenset({dtypes.float32}), frozenset({dtypes.float32}))
GRID = replace(LOOPS, grid_dims=3)


def loop(size: "int | UOp", *ident: int) -> UOp:
    return UOp.range(size, ident, AxisType.REDUCE)


def stored(value: UOp) -> UOp:
    return UOp.sink(out.index(i).store(value, i))


def longest(sink: UOp) -> int:
    """Return how many values one register takes in at most."""
    sums = [u for u in sink.toposort() if u.op is Ops.REDUCE]
    sizes = [[int(r.src[0].vmax) for r in u.src[u.arg[1] :]] for u in sums]
    return max(u.arg[1] * math.prod(s) for u, s in zip(sums, sizes, strict=True))


def test_a_long_sum_becomes_a_sum_of_sums() -> None:
    k, o, s = loop(4096, 1), loop(64, 1, 0), loop(64, 1, 1)
    got = split_long_sums(stored(x.index(k).load().reduce(Ops.ADD, k)), LOOPS)
    assert got is stored(x.index(o * 64 + s).load().reduce(Ops.ADD, s).reduce(Ops.ADD, o))


def test_what_is_left_behind_whole_pieces_is_added_too() -> None:
    k, o, s, t = loop(1031, 1), loop(16, 1, 0), loop(64, 1, 1), loop(7, 1, 2)
    got = split_long_sums(stored(x.index(k).load().reduce(Ops.ADD, k)), LOOPS)
    whole = x.index(o * 64 + s).load().reduce(Ops.ADD, s).reduce(Ops.ADD, o)
    assert got is stored(whole + x.index(t + 1024).load().reduce(Ops.ADD, t))


def test_several_loops_are_added_up_from_the_inside() -> None:
    outer, inner = loop(100, 1), loop(50, 2)
    place = outer * 64 + inner
    got = split_long_sums(stored(x.index(place).load().reduce(Ops.ADD, outer, inner)), LOOPS)
    assert got is stored(x.index(place).load().reduce(Ops.ADD, inner).reduce(Ops.ADD, outer))


@pytest.mark.parametrize("size", [1 << 20, 999_983, 3 * 65537])
def test_no_register_takes_in_more_than_some_hundreds(size: int) -> None:
    k = loop(size, 1)
    assert longest(split_long_sums(stored(x.index(k).load().reduce(Ops.ADD, k)), LOOPS)) <= 128


def test_lanes_are_added_last() -> None:
    k, lane = loop(4096, 1), UOp.range(4, 2, AxisType.LANE)
    o, s = loop(64, 1, 0), loop(64, 1, 1)
    got = split_long_sums(stored(x.index(k * 4 + lane).load().reduce(Ops.ADD, k, lane)), LOOPS)
    pieces = x.index(o * 256 + s * 4 + lane).load().reduce(Ops.ADD, s).reduce(Ops.ADD, o)
    assert got is simplify(stored(pieces.reduce(Ops.ADD, lane)))


def test_a_symbolic_sum_is_split_by_its_greatest_length() -> None:
    k = loop(UOp.variable("n", 1, 5000), 1)
    got = split_long_sums(stored(x.index(k).load().reduce(Ops.ADD, k)), LOOPS)
    assert longest(got) <= 128


@pytest.mark.parametrize(
    "short",
    [
        x.index(loop(256, 1)).load().reduce(Ops.ADD, loop(256, 1)),
        x.index(loop(4096, 1)).load().reduce(Ops.MAX, loop(4096, 1)),
        x.index(loop(4096, 1)).load().cast(dtypes.int32).reduce(Ops.ADD, loop(4096, 1)).cast(dtypes.float32),
    ],
    ids=["short", "no sum", "integers"],
)
def test_what_rounding_does_not_spoil_stays(short: UOp) -> None:
    assert split_long_sums(stored(short), LOOPS) is stored(short)


def test_steps_that_are_unrolled_stay_in_the_innermost_sum() -> None:
    k, part = loop(4096, 1), UOp.range(2, 2, AxisType.PARTIAL)
    o, s = loop(64, 1, 0), loop(64, 1, 1)
    got = split_long_sums(stored(x.index(k * 2 + part).load().reduce(Ops.ADD, k, part)), LOOPS)
    pieces = x.index(o * 128 + s * 2 + part).load().reduce(Ops.ADD, s, part).reduce(Ops.ADD, o)
    assert got is simplify(stored(pieces))


def test_a_piece_has_a_loop_beside_steps_that_are_unrolled() -> None:
    """Without one, eighteen products were computed before any was added, for eight results."""
    k, part = loop(32, 1), UOp.range(18, 2, AxisType.UNROLL)
    got = split_long_sums(stored(x.index(k * 18 + part).load().reduce(Ops.ADD, k, part)), LOOPS)
    pieces = [u for u in got.toposort() if u.op is Ops.REDUCE and part in u.src]
    assert [r.arg.kind for r in pieces[0].src[1:]] == [AxisType.REDUCE, AxisType.UNROLL]


def tile_of(size: int) -> UOp:
    k, row = loop(size, 1), UOp.range(9, 2, AxisType.UPCAST)
    return UOp.sink(out.index(row).store(x.index(k * 9 + row).load().reduce(Ops.ADD, k), row))


def test_a_tile_is_added_up_in_long_pieces() -> None:
    row = UOp.range(9, 2, AxisType.UPCAST)
    o, s = loop(16, 1, 0), loop(256, 1, 1)
    got = split_long_sums(tile_of(4096), LOOPS)
    pieces = x.index((o * 256 + s) * 9 + row).load().reduce(Ops.ADD, s).reduce(Ops.ADD, o)
    assert got is simplify(UOp.sink(out.index(row).store(pieces, row)))
    assert longest(split_long_sums(tile_of(1 << 18), LOOPS)) <= 512


def test_a_tile_of_a_grid_stays_in_its_registers() -> None:
    assert split_long_sums(tile_of(4096), GRID) is tile_of(4096)


def test_lanes_are_registers_of_a_grid_and_part_of_one_on_vectors() -> None:
    k, up, lane = loop(4096, 1), UOp.range(4, 2, AxisType.UPCAST), UOp.range(4, 3, AxisType.LANE)
    value = x.index((k * 4 + up) * 4 + lane).load().reduce(Ops.ADD, k)
    sink = UOp.sink(out.index(up * 4 + lane).store(value, up, lane))
    assert split_long_sums(sink, GRID) is sink
    assert longest(split_long_sums(sink, LOOPS)) == 64


def narrow(dtype: DType, steps: int, wide: DType = dtypes.int32) -> tuple[UOp, UOp, UOp]:
    """Return a sum over `steps` vectors of 32 lanes, what it loads, and the lane."""
    k, lane = loop(steps, 1), UOp.range(32, (2,), AxisType.LANE)
    memory = UOp(Ops.PARAM, dtype, (), (1, 1 << 20))
    value = memory.index(k * 32 + lane).load()
    total = UOp(Ops.PARAM, wide, (), (0, 4)).index(i).store(value.cast(wide).reduce(Ops.ADD, k, lane), i)
    return UOp.sink(total), memory, lane


def test_truths_are_counted_in_bytes_of_which_each_holds_127() -> None:
    sink, memory, lane = narrow(dtypes.bool, 4064)
    o, s = loop(32, 1, 0), loop(127, 1, 1)
    ones = memory.index(o * 4064 + s * 32 + lane).load().cast(dtypes.int8).reduce(Ops.ADD, s)
    (store,) = split_long_sums(sink, LOOPS).src
    assert store.src[1] is simplify(ones.cast(dtypes.int32).reduce(Ops.ADD, o).reduce(Ops.ADD, lane))


@pytest.mark.parametrize(
    ("dtype", "wide", "between"),
    [
        (dtypes.int8, dtypes.int64, {dtypes.int8, dtypes.int16, dtypes.int64}),
        (dtypes.uint8, dtypes.int32, {dtypes.uint8, dtypes.int16, dtypes.int32}),
        (dtypes.int16, dtypes.int64, {dtypes.int16, dtypes.int32, dtypes.int64}),
        (dtypes.int16, dtypes.int32, {dtypes.int16, dtypes.int32}),
        (dtypes.int32, dtypes.int64, {dtypes.int32, dtypes.int64}),
    ],
)
def test_integers_are_added_in_a_dtype_that_holds_a_piece(
    dtype: DType, wide: DType, between: set[DType]
) -> None:
    sink, _, _ = narrow(dtype, 100_000, wide)
    split = split_long_sums(sink, LOOPS)
    assert {u.dtype for u in split.toposort() if u.op in (Ops.LOAD, Ops.CAST, Ops.REDUCE)} == between
    assert split_long_sums(sink, GRID) is sink


def test_what_is_left_behind_whole_pieces_of_truths_is_counted_too() -> None:
    sink, _, _ = narrow(dtypes.bool, 300)
    sizes = [r.src[0].arg for r in split_long_sums(sink, LOOPS).toposort() if r.op is Ops.RANGE]
    assert sorted(sizes) == [2, 4, 32, 46, 127]
