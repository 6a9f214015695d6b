import pytest

from plugrad.codegen.control_flow import find_loops
from plugrad.dtype import dtypes
from plugrad.errors import VerifyError
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 4096)) for slot in range(2))
i, j = UOp.range(4, 0), UOp.range(8, 1)
k, m = (UOp.range(16, ident, AxisType.REDUCE) for ident in (2, 3))


def test_loops_of_a_store_nest_in_the_order_it_names_them() -> None:
    store = out.index(i * 8 + j).store(x.index(j).load(), i, j)
    assert find_loops(UOp.sink(store)).around == {i: (), j: (i,)}
    swapped = out.index(i * 8 + j).store(x.index(j).load(), j, i)
    assert find_loops(UOp.sink(swapped)).around == {j: (), i: (j,)}


def test_a_reduction_stands_in_the_loops_that_its_result_depends_on() -> None:
    total = x.index(i * 16 + k).load().reduce(Ops.ADD, k)
    nest = find_loops(UOp.sink(out.index(i * 8 + j).store(total, i, j)))
    assert nest.around[k] == (i,)
    assert nest.blocks_of([total])[total] is i
    assert nest.blocks_of(total.src)[total.src[0]] is k


def test_loops_of_a_reduction_nest_in_order() -> None:
    total = x.index(k * 16 + m).load().reduce(Ops.ADD, k, m)
    assert find_loops(UOp.sink(out.index(i).store(total, i))).around == {i: (), k: (), m: (k,)}


def test_a_reduction_inside_of_another_stands_in_its_loop() -> None:
    inner = x.index(k * 16 + m).load().reduce(Ops.ADD, m)
    outer = inner.reduce(Ops.MAX, k)
    nest = find_loops(UOp.sink(out.index(i).store(outer, i)))
    assert nest.around[m] == (k,)
    assert nest.path(m) == (None, k, m)


def test_what_changes_with_no_loop_is_computed_before_all_of_them() -> None:
    nest = find_loops(UOp.sink(out.index(i).store(x.index(UOp.const(dtypes.index, 3)).load(), i)))
    three = UOp.const(dtypes.index, 3)
    assert nest.blocks_of([three])[three] is None


def test_a_store_stands_in_its_innermost_loop() -> None:
    store = out.index(i).store(x.index(i).load(), i, j)
    assert find_loops(UOp.sink(store)).blocks_of([store])[store] is j


def test_loops_that_do_not_nest_are_an_error() -> None:
    beside = x.index(i + j).load().reduce(Ops.ADD, k)
    stores = (out.index(i).store(beside, i), out.index(j).store(beside, j))
    with pytest.raises(VerifyError, match=r"inside of axes that are not in each other: \(0,\), \(1,\)"):
        find_loops(UOp.sink(*stores))
