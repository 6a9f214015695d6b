"""Tests of the graphs of passes."""

from plugrad.dtype import dtypes
from plugrad.schedule.create import ScheduleDraft
from plugrad.uop.passes import graph_of
from plugrad.uop.uop import UOp

one = UOp.const(dtypes.int32, 1)


def test_a_graph_is_its_root_and_a_draft_a_sink() -> None:
    assert graph_of(one) is one
    assert graph_of(ScheduleDraft(UOp.sink(one), 1)) is UOp.sink(UOp.sink(one))
