"""Test the exchange of a factor in a sum of products."""

from plugrad.dtype import dtypes
from plugrad.schedule.prepare.factors import stored_in_order, with_factor
from plugrad.uop.ops import BufferArg, Ops
from plugrad.uop.uop import UOp


def _value(number: int, *shape: int) -> UOp:
    return UOp(Ops.BUFFER, dtypes.float32, (), BufferArg(number, "CPU", shape))


PRODUCT = _value(1, 4, 5) * _value(2, 4, 5)
SUM = PRODUCT.reduce_axis(Ops.ADD, (1,))


def test_the_first_factor_that_changes_is_exchanged() -> None:
    left, right = PRODUCT.src
    new = left.contiguous()
    assert with_factor(SUM, PRODUCT, lambda factor, other: new if factor is left else None) is (
        (new * right).reduce_axis(Ops.ADD, (1,))
    )
    assert with_factor(SUM, PRODUCT, lambda factor, other: new if other is left else None) is (
        (left * new).reduce_axis(Ops.ADD, (1,))
    )
    assert with_factor(SUM, PRODUCT, lambda factor, other: None) is None


def test_a_value_is_stored_in_another_order_and_keeps_its_shape() -> None:
    value = _value(3, 1, 5)
    assert stored_in_order(value, (1, 0), (4, 5)) is (
        value.permute((1, 0)).contiguous().permute((1, 0)).expand((4, 5))
    )
