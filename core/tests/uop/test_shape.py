"""Tests of plugrad.uop.shape."""

from plugrad.dtype import dtypes
from plugrad.uop.shape import add_sizes
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
