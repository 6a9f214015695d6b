"""Tests of plugrad.uop.shape."""

import pytest

from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.shape import add_sizes, placement_of
from plugrad.uop.uop import UOp


def test_padding_a_bound_size_stays_symbolic() -> None:
    n = UOp.variable("n", 1, 40).bind(4)
    rows = UOp.new_buffer("X", (40,), dtypes.int32).shrink(((0, n),))
    assert rows.pad(((0, 2),)).shape == (n + 2,)


def test_a_size_whose_variables_cancel_is_an_int() -> None:
    n = UOp.variable("n", 1, 40).bind(4)
    x = UOp.new_buffer("X", (44,), dtypes.int32)
    assert x.shrink(((n, n + 4),)).shape == (4,)
    assert x.shrink(((0, n),)).pad(((0, n * -1 + 40),)).shape == (40,)


def test_equal_sums_of_sizes_are_one_node() -> None:
    n, m = UOp.variable("n", 1, 40).bind(4), UOp.variable("m", 1, 40).bind(2)
    assert add_sizes(n, 2, m) is add_sizes(m, n * 1, 1, 1)
    assert add_sizes(0, n) is n
    assert add_sizes(n, 3, n * -1) == 3


def test_a_sum_of_sizes_has_one_order_whatever_came_first() -> None:
    n, m = UOp.variable("first", 1, 40), UOp.variable("second", 1, 40)
    later, earlier = m.bind(2), n.bind(4)
    bound = add_sizes(earlier, later)
    assert isinstance(bound, UOp)
    # a graph is scheduled with bound values taken out: its shapes are added up again there
    assert bound.substitute({earlier: n, later: m}) is add_sizes(n, m)


def test_shapes_of_symbolic_sizes_are_printed_as_expressions() -> None:
    n = UOp.variable("n", 1, 8).bind(3)
    x = UOp.new_buffer("X", (20, 2), dtypes.int32).shrink(((0, n * 2 + 1), (0, 2)))
    views = x, x.permute((1, 0)), x.pad(((0, n), (1, 1))), x.reshape(((n * 2 + 1) * 2,)), x.flip((0,))
    shapes = ["(n*2+1, 2)", "(2, n*2+1)", "(n*3+1, 4)", "((n*2+1)*2,)", "(n*2+1, 2)"]
    assert [str(view.shape) for view in views] == shapes
    assert x.reduce_axis(Ops.ADD, (1,)).shape == (n * 2 + 1, 1)


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.index])
def test_placements_that_builders_know_are_those_of_the_rules(dtype: DType) -> None:
    x = UOp.new_buffer("X", (4, 6), dtype)
    n = UOp.variable("n", 1, 4).bind(3)
    views = x.reshape((24,)), x.reshape((1, 4, 6)).expand((3, 4, 6)), x.shrink(((1, 3), (0, 6)))
    moved = x.permute((1, 0)), x.reduce_axis(Ops.ADD, (0, 1)), x.shrink(((0, n), (0, 6))).permute((1, 0))
    number, mask = x.const_like(2), x < x
    computed = (
        x * number,
        number - x,
        number * 2,
        mask.where(number, x),
        x.eq(number),
        -x,
        x.cast(dtypes.index),
    )
    for node in (*views, *moved, *computed, x.cast(dtypes.float32), moved[2].reduce_axis(Ops.ADD, (1,))):
        assert (node.shape, node.device) == placement_of(node), node
        assert type(node.shape) is type(placement_of(node)[0])
    assert type(moved[2].reduce_axis(Ops.ADD, (1,)).shape) is tuple
