import re
from pathlib import Path

import pytest

import plugrad.uop.ops as ops_module
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import (
    ALU,
    BINARY,
    COMMUTATIVE,
    COMPARE,
    ELEMENTWISE,
    MOVEMENT,
    TERNARY,
    UNARY,
    Axis,
    AxisType,
    Ops,
    identity_of,
)
from plugrad.uop.uop import UOp


def test_every_op_has_a_line_of_documentation() -> None:
    source = Path(ops_module.__file__).read_text()
    documented = set(re.findall(r"^    (\w+) = auto\(\)  # \S", source, re.MULTILINE))
    assert {op.name for op in Ops} | {kind.name for kind in AxisType} <= documented


def test_groups_of_operations_do_not_overlap() -> None:
    assert not UNARY & BINARY
    assert not BINARY & TERNARY
    assert not ELEMENTWISE & MOVEMENT
    assert ALU == UNARY | BINARY | TERNARY
    assert COMPARE < BINARY
    assert COMMUTATIVE < BINARY


def test_ops_sort_and_print_by_their_place_and_name() -> None:
    assert sorted([Ops.MUL, Ops.CONST, Ops.ADD]) == [Ops.CONST, Ops.ADD, Ops.MUL]
    assert repr(Ops.ADD) == "Ops.ADD"
    assert repr(AxisType.LOOP) == "AxisType.LOOP"


def test_axes_compare_by_identity_and_kind() -> None:
    assert Axis((1, 0), AxisType.LOOP) == Axis((1, 0), AxisType.LOOP)
    assert Axis((1, 0), AxisType.LOOP) != Axis((1, 0), AxisType.REDUCE)


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
    assert UOp.const(dtype, identity_of(op, dtype)).arg == value
