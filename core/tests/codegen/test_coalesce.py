from dataclasses import replace

from plugrad.codegen.coalesce import coalesce, lanes_for, store_apart
from plugrad.dtype import DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import Axis, AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

WIDE = Capabilities(frozenset(), frozenset(), vector_bits=512, max_load_bits=512, local_memory_bytes=1 << 20)


def copy_of_bytes(axis: UOp, dtype: DType = dtypes.uint8) -> UOp:
    out, source = (UOp(Ops.PARAM, dtype, (), (slot, 256)).index(axis) for slot in range(2))
    return UOp.sink(out.store(source.load(), axis), arg=KernelInfo())


def test_lanes_fill_a_register_unless_the_language_has_fewer() -> None:
    axis = UOp.range(256, 0, AxisType.UPCAST)
    assert lanes_for(copy_of_bytes(axis), axis, WIDE) == 64
    assert lanes_for(copy_of_bytes(axis), axis, replace(WIDE, max_lanes=16)) == 16


def test_lanes_of_floats_that_are_only_stored_fit_their_arithmetic() -> None:
    axis = UOp.range(256, 0, AxisType.UPCAST)
    kernel = copy_of_bytes(axis, dtypes.float16)
    assert lanes_for(kernel, axis, WIDE) == 16
    assert lanes_for(kernel, axis, replace(WIDE, compute_dtypes=frozenset({dtypes.float16}))) == 32
    # where vectors are only for memory, they are as wide as its accesses
    assert lanes_for(kernel, axis, replace(WIDE, vector_bits=0, max_load_bits=128)) == 8


def test_what_is_compared_or_computed_in_floats_fits_a_register() -> None:
    axis = UOp.range(256, 0, AxisType.UPCAST)
    out, source = (UOp(Ops.PARAM, dtypes.uint8, (), (slot, 256)).index(axis) for slot in range(2))
    wide, limit = source.load().cast(dtypes.int64), UOp(Ops.PARAM, dtypes.int64, (), (2, 1))

    def lanes(value: UOp) -> int:
        return lanes_for(UOp.sink(out.store(value.cast(dtypes.uint8), axis), arg=KernelInfo()), axis, WIDE)

    assert lanes(source.load().cast(dtypes.float32) * 1.5) == 16
    assert lanes(source.load().cast(dtypes.float64) * 1.5) == 8
    assert lanes(source.load().cast(dtypes.int32) * 3) == 64
    assert lanes(axis < 100) == 16
    # comparisons with one number are narrowed
    number = limit.index(axis.const_like(0)).load()
    assert lanes(wide < number) == 16
    assert lanes(wide * number < number) == 8
    # what compares addresses is no vector
    gated = UOp(Ops.INDEX, dtypes.uint8, (*source.src, axis < 100))
    assert lanes(gated.load()) == 64


def test_lanes_of_a_sum_fit_its_accumulators() -> None:
    axis = UOp.range(64, 0, AxisType.PARTIAL)
    source = UOp(Ops.PARAM, dtypes.int32, (), (1, 64)).index(axis).load()
    out = UOp(Ops.PARAM, dtypes.int64, (), (0, 1)).index(axis.const_like(0))
    kernel = UOp.sink(out.store(source.cast(dtypes.int64).reduce(Ops.ADD, axis)), arg=KernelInfo())
    assert lanes_for(kernel, axis, WIDE) == 8


def test_lanes_are_picked_where_only_every_other_element_is_read() -> None:
    axis = UOp.range(64, 0, AxisType.PARTIAL)
    out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 128)) for slot in range(2))
    parts = (x.index(axis * 2 + part).load() for part in range(2))
    total = next(parts).alu(Ops.MAX, next(parts)).reduce(Ops.MAX, axis)
    kernel = UOp.sink(out.index(axis.const_like(0)).store(total), arg=KernelInfo())
    assert lanes_for(kernel, axis, WIDE) == 16
    # where vectors are only for memory, nothing is picked from them
    assert lanes_for(kernel, axis, replace(WIDE, vector_bits=0, max_load_bits=128)) == 1


def test_lanes_follow_what_a_reduction_reads_rather_than_what_is_done_with_its_result() -> None:
    rows, columns = UOp.range(4, 0, AxisType.UPCAST), UOp.range(16, 1, AxisType.UPCAST)
    k = UOp.range(100, 2, AxisType.REDUCE)
    out, x, w, *scales = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1600)) for slot in range(6))
    value = (x.index(k * 16 + columns).load() * w.index(rows * 100 + k).load()).reduce(Ops.ADD, k)
    for scale in scales:
        value = value * scale.index(rows).load()
    kernel = UOp.sink(out.index(rows * 16 + columns).store(value, rows, columns), arg=KernelInfo())
    (lane,) = [
        u for u in coalesce(kernel, WIDE).toposort() if u.op is Ops.RANGE and u.arg.kind is AxisType.LANE
    ]
    assert lane.src[0].arg == 16


def test_two_lanes_are_not_worth_sixteen() -> None:
    # a tile of an input's gradient: images and pairs of columns, times filters whose copy is contiguous
    image, pair, filters = (UOp.range(n, i, AxisType.UPCAST) for i, n in enumerate((8, 2, 16)))
    k = UOp.range(100, 3, AxisType.REDUCE)
    out, x, w = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 16)) for slot in range(3))
    value = x.index(image * 200 + k * 2 + pair).load() * w.index(k * 16 + filters).load()
    place = out.index(image * 32 + filters * 2 + pair)
    kernel = UOp.sink(place.store(value.reduce(Ops.ADD, k), image, pair, filters), arg=KernelInfo())
    (lane,) = [
        u for u in coalesce(kernel, WIDE).toposort() if u.op is Ops.RANGE and u.arg.kind is AxisType.LANE
    ]
    assert lane.src[0].arg == 16


def test_lanes_of_a_panel_store_their_elements_apart() -> None:
    """What a reduction reads along the channels is worth a store, and one more load, of each lane."""
    rows, channels = UOp.range(5, 0, AxisType.UPCAST), UOp.range(16, 1, AxisType.UPCAST)
    k = UOp.range(100, 2, AxisType.REDUCE)
    out, x, panel, residual = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1600)) for slot in range(4))
    value = (x.index(k * 5 + rows).load() * panel.index(k * 16 + channels).load()).reduce(Ops.ADD, k)
    place = channels * 5 + rows
    store = out.index(place).store(value + residual.index(place).load(), rows, channels)
    order = coalesce(UOp.sink(store, arg=KernelInfo()), WIDE).toposort()
    assert [u.src[0].arg for u in order if u.op is Ops.RANGE and u.arg.kind is AxisType.LANE] == [16]


def columns_as_lanes(columns: int) -> UOp:
    rows, k = UOp.range(6, 0, AxisType.UPCAST), UOp.range(100, 2, AxisType.REDUCE)
    outer, lane = UOp.range(columns // 16, (1, 0), AxisType.UPCAST), UOp.range(16, (1, 1), AxisType.LANE)
    out, x, w = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 16)) for slot in range(3))
    column = outer * 16 + lane
    value = x.index(rows * 100 + k).load() * w.index(k * columns + column).load()
    store = out.index(column * 6 + rows).store(value.reduce(Ops.ADD, k), rows, outer, lane)
    return UOp.sink(store, arg=KernelInfo())


def test_many_lanes_that_memory_holds_apart_are_stored_in_loops() -> None:
    (store,) = store_apart(columns_as_lanes(64), WIDE).src
    loops, (memory,) = store.src[2:], [u for u in store.toposort() if u.op is Ops.DEFINE_LOCAL]
    assert [(r.arg.kind, r.src[0].arg) for r in loops] == [(AxisType.LOOP, size) for size in (4, 16, 6)]
    assert memory.arg == (0, 384)
    outer, lane, row = loops
    assert store.src[0].src[1] is (outer * 16 + lane) * 6 + row
    assert simplify(store.src[1].src[0].src[1]) is simplify((row * 4 + outer) * 16 + lane)
    (written,) = store.src[1].src[0].src[0].src[1].src
    assert [r.arg.kind for r in written.src[2:]] == [AxisType.UPCAST, AxisType.UPCAST, AxisType.LANE]


def test_sums_in_fast_memory_are_stored_from_there() -> None:
    (store,) = store_apart(columns_as_lanes(64), WIDE).src
    kinds = (AxisType.UPCAST, AxisType.LANE, AxisType.UPCAST)
    tile = {r: r.replace(arg=Axis(r.arg.ident, kind)) for r, kind in zip(store.src[2:], kinds, strict=True)}
    again = store_apart(UOp.sink(store.replace(src=tuple(s.substitute(tile) for s in store.src))), WIDE)
    assert [r.arg.kind for r in again.src[0].src[2:]] == [AxisType.LOOP] * 3
    assert sum(u.op is Ops.DEFINE_LOCAL for u in again.toposort()) == 1


def test_few_lanes_and_lanes_in_a_row_are_stored_as_they_are() -> None:
    many = columns_as_lanes(64)
    few = UOp.sink(many.src[0].replace(src=(*many.src[0].src[:2], many.src[0].src[4])), arg=KernelInfo())
    assert store_apart(few, WIDE) is few
    assert store_apart(many, replace(WIDE, grid_dims=3)) is many
    assert store_apart(many, replace(WIDE, local_memory_bytes=1000)) is many
    assert store_apart(many, replace(WIDE, vector_bits=0)) is many
    place, value, *ranges = many.src[0].src
    row, outer, lane = ranges
    line = place.replace(src=(place.src[0], row * 64 + outer * 16 + lane))
    lines = UOp.sink(line.store(value, *ranges), arg=KernelInfo())
    assert store_apart(lines, WIDE) is lines


def test_accesses_of_sums_in_fast_memory_count_as_those_of_results_do() -> None:
    row, column = (UOp.range(size, axis, AxisType.UPCAST) for axis, size in enumerate((6, 64)))
    factors = (UOp(Ops.PARAM, dtypes.float32, (), (n + 1, 64)).index(r) for n, r in enumerate((row, column)))
    left, right = (factor.load() for factor in factors)
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 384))
    summed = memory.index(row * 64 + column).store(left * right, row, column)
    after = memory.after(UOp(Ops.BARRIER, dtypes.void, (summed,)))
    i = UOp.range(384, 2)
    out = UOp(Ops.PARAM, dtypes.float32, (), (0, 384)).index(i)
    chosen = coalesce(UOp.sink(out.store(after.index(i).load(), i), arg=KernelInfo()), WIDE)
    lanes = [u for u in chosen.toposort() if u.op is Ops.RANGE and u.arg.kind is AxisType.LANE]
    assert [(r.arg.ident[0], r.src[0].arg) for r in lanes] == [(1, 16)]


def test_elements_that_are_looked_up_do_not_keep_an_axis_from_having_lanes() -> None:
    axis = UOp.range(64, 0, AxisType.UPCAST)
    out, values, rows = (UOp(Ops.PARAM, dtypes.int32, (), (slot, 64)) for slot in range(3))
    wanted = values.index(axis).load()
    found = axis.const_like(0)
    for half in (32, 16, 8, 4, 2, 1):
        found = (rows.index(found + (half - 1)).load() < wanted).where(found + half, found)
    kernel = UOp.sink(out.index(axis).store(found.cast(dtypes.int32), axis), arg=KernelInfo())
    assert any(u.op is Ops.RANGE and u.arg.kind is AxisType.LANE for u in coalesce(kernel, WIDE).toposort())
