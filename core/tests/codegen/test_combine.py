from plugrad.codegen.combine import combine
from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

a, b, c, d = (UOp.variable(name, 0, 9, dtypes.int32) for name in "abcd")


def test_four_values_combine_in_two_steps() -> None:
    assert combine(Ops.ADD, [a, b, c, d]) is (a + c) + (b + d)


def test_three_values_leave_one_over() -> None:
    assert combine(Ops.MAX, [a, b, c]) is a.maximum(c).maximum(b)
