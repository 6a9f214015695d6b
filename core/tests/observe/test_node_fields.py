"""Tests of plugrad.observe.node_fields."""

from plugrad.dtype import dtypes
from plugrad.observe.node_fields import node_fields
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.uop import UOp

buffer = UOp.new_buffer("PYTHON", (2, 3), dtypes.float32)


def test_integers_have_bounds() -> None:
    fields = node_fields(UOp.variable("i", 0, 9) + 1)
    assert fields == {"op": "ADD", "dtype": "index", "bounds": "1..10"}


def test_values_have_a_shape_and_the_line_that_is_known() -> None:
    fields = node_fields(buffer.permute((1, 0)), "a.py:3")
    assert (fields["shape"], fields["arg"], fields["line"]) == ("3, 2", "(1, 0)", "a.py:3")


def test_a_range_says_its_axis_and_kind() -> None:
    loop = UOp.const(dtypes.index, 4)
    assert (
        node_fields(UOp(Ops.RANGE, dtypes.index, (loop,), Axis((1, 0), AxisType.LOOP)))["arg"] == "1.0 LOOP"
    )


def test_a_zero_is_an_argument_and_a_long_one_is_cut() -> None:
    assert node_fields(UOp.const(dtypes.int32, 0))["arg"] == "0"
    assert len(str(node_fields(UOp(Ops.CONST, dtypes.void, (), "x" * 1000))["arg"])) < 420
