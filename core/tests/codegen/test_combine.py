from dataclasses import replace

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.combine import combine, fuses_products, sum_products
from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

a, b, c, d = (UOp.variable(name, 0, 9, dtypes.int32) for name in "abcd")


def test_four_values_combine_in_two_steps() -> None:
    assert combine(Ops.ADD, [a, b, c, d]) is (a + c) + (b + d)


def test_three_values_leave_one_over() -> None:
    assert combine(Ops.MAX, [a, b, c]) is a.maximum(c).maximum(b)


def test_chains_of_products_are_added_up_at_the_end() -> None:
    x, y = (UOp.variable(name, 0, 9, dtypes.float32) for name in "xy")
    products = [x * (y + n) for n in range(10)]
    first, second = sum_products(products[:8]), sum_products(products[8:])
    assert sum_products(products) is first + second
    assert second is x.mulacc(y + 9, x * (y + 8))
    assert sum(u.op is Ops.MULACC for u in first.toposort()) == 7


def test_only_sums_of_floats_that_the_target_adds_itself_are_made_of_products() -> None:
    assert fuses_products(Ops.ADD, dtypes.float32, CAPABILITIES)
    assert not fuses_products(Ops.MAX, dtypes.float32, CAPABILITIES)
    assert not fuses_products(Ops.ADD, dtypes.int32, CAPABILITIES)
    without = replace(CAPABILITIES, native_ops=CAPABILITIES.native_ops - {"MULACC"})
    assert not fuses_products(Ops.ADD, dtypes.float32, without)
