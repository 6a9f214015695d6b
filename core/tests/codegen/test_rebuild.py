from plugrad.codegen.rebuild import (
    all_ranges,
    at,
    at_each,
    ended_by,
    exchange_range,
    ranges_of_reduce,
    rebuild,
    stores_of,
)
from plugrad.dtype import dtypes
from plugrad.uop import simplify
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(2))
i, j, k = UOp.range(4, 0), UOp.range(8, 1), UOp.range(16, 2, AxisType.REDUCE)


def test_rebuild_changes_sources_first() -> None:
    seen: list[UOp] = []
    rebuild(i + j, lambda u: seen.append(u))
    assert seen[-1] is i + j
    assert rebuild(i + j, lambda u: i if u is j else None) is i + i


def test_a_range_can_be_fixed() -> None:
    assert at(i * 8 + j, i, 3) is i.const_like(3) * 8 + j
    assert at(j, i, 3) is j
    assert at(i * 8, i, j) is j * 8


def test_values_are_written_at_each_step_as_simplify_would_write_them() -> None:
    load = x.index(j + i * 8 + 3).load()
    steps = [x.index(j + 3).load(), x.index(j + 11).load(), x.index(j + 19).load(), x.index(j + 27).load()]
    assert at_each([load, i, x.index(j)], i, 4) == [*steps, *map(i.const_like, range(4)), *[x.index(j)] * 4]
    assert all(simplify(step) is step for step in steps)


def test_what_is_no_multiple_of_a_range_is_written_node_by_node() -> None:
    few = (i * 3).minimum(j) + i
    assert list(map(simplify, at_each([few], i, 2))) == [simplify(at(few, i, step)) for step in range(2)]


def test_a_range_that_a_reduction_has_ended_is_not_fixed() -> None:
    total = x.index(k).load().reduce(Ops.ADD, k)
    assert at(total, k, 0) is total


def test_parts_of_a_kernel_are_found() -> None:
    total = x.index(k).load().reduce(Ops.ADD, k)
    store = out.index(j).store(total, j)
    assert stores_of(UOp.sink(store)) == [store]
    assert ranges_of_reduce(total) == (k,)
    assert all_ranges(UOp.sink(store)) == [j, k]


def test_a_range_is_exchanged_in_addresses_and_where_its_loop_ends() -> None:
    outer, inner = UOp.range(2, (1, 0)), UOp.range(4, (1, 1))
    value = outer * 4 + inner
    sink = UOp.sink(out.index(j).store(x.index(j).load(), j))
    after = UOp.sink(out.index(value).store(x.index(value).load(), outer, inner))
    assert exchange_range(sink, j, value, (outer, inner)) is after


def test_stores_and_reductions_end_ranges_and_other_nodes_none() -> None:
    value = x.index(k).load()
    assert ended_by(value.reduce(Ops.ADD, k)) == (k,)
    assert ended_by(out.index(j).store(value, j)) == (j,)
    assert ended_by(value) == ()
