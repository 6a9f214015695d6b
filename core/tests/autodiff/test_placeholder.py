from plugrad.autodiff import placeholder
from plugrad.dtype import dtypes
from plugrad.uop.uop import UOp


def test_no_two_placeholders_are_one_node() -> None:
    assert placeholder((2,), dtypes.float32, "CPU") is not placeholder((2,), dtypes.float32, "CPU")


def test_a_placeholder_has_a_symbolic_shape() -> None:
    n = UOp.variable("n", 1, 9).bind(4)
    assert placeholder((n, 2), dtypes.int32, None).shape == (n, 2)
