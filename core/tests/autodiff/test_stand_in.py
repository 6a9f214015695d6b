from plugrad.autodiff import stand_in
from plugrad.dtype import dtypes
from plugrad.uop.uop import UOp


def test_no_two_stand_ins_are_one_node() -> None:
    assert stand_in((2,), dtypes.float32, "CPU") is not stand_in((2,), dtypes.float32, "CPU")


def test_a_stand_in_has_a_symbolic_shape() -> None:
    n = UOp.variable("n", 1, 9).bind(4)
    assert stand_in((n, 2), dtypes.int32, None).shape == (n, 2)
