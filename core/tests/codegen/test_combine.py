import pytest

from plugrad.codegen.combine import combine, identity_of
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

a, b, c, d = (UOp.variable(name, 0, 9, dtypes.int32) for name in "abcd")


def test_four_values_combine_in_two_steps() -> None:
    assert combine(Ops.ADD, [a, b, c, d]) is (a + c) + (b + d)


def test_three_values_leave_one_over() -> None:
    assert combine(Ops.MAX, [a, b, c]) is a.maximum(c).maximum(b)


@pytest.mark.parametrize(
    ("op", "dtype", "value"),
    [
        (Ops.ADD, dtypes.float32, 0.0),
        (Ops.ADD, dtypes.bool, False),
        (Ops.MUL, dtypes.bool, True),
        (Ops.MUL, dtypes.uint8, 1),
        (Ops.MAX, dtypes.bool, False),
        (Ops.MAX, dtypes.uint8, 0),
        (Ops.MAX, dtypes.int8, -128),
        (Ops.MAX, dtypes.float16, float("-inf")),
    ],
)
def test_the_identity_changes_nothing(op: Ops, dtype: DType, value: object) -> None:
    assert identity_of(op, dtype).arg == value
