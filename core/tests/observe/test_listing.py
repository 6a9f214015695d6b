"""Tests of plugrad.observe.listing."""

from plugrad.dtype import dtypes
from plugrad.observe.listing import linear_listing
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def test_sources_are_line_numbers_and_loops_indent() -> None:
    size = UOp.const(dtypes.int32, 4)
    loop = UOp(Ops.RANGE, dtypes.int32, (size,))
    double = UOp(Ops.ADD, dtypes.int32, (loop, loop))
    end = UOp(Ops.END, dtypes.void, (loop,))
    lines = linear_listing([size, loop, double, end]).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["0", "CONST"],
        ["1", "RANGE"],
        ["2", "ADD"],
        ["3", "END"],
    ]
    assert lines[0].endswith("[] 4")
    assert lines[2].startswith("   2   ADD ")
    assert "[1, 1]" in lines[2]
    assert lines[3].startswith("   3 END ")


def test_a_source_that_is_not_listed_is_shown_itself() -> None:
    size = UOp.const(dtypes.int32, 4)
    loop = UOp(Ops.RANGE, dtypes.int32, (size,))
    assert "[CONST(4)]" in linear_listing([loop])
