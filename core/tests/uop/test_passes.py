from typing import Any

import pytest

from plugrad import events
from plugrad.dtype import dtypes
from plugrad.errors import VerifyError
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad.uop.passes import Pipeline, Stage
from plugrad.uop.spec import Spec, tensor_spec
from plugrad.uop.uop import UOp

b = UOp.new_buffer("CPU", (4,), dtypes.float32)


def double(graph: UOp, ctx: Any) -> UOp:
    """Double the graph.

    More text.
    """
    return graph + graph


def spoil(graph: UOp, ctx: Any) -> UOp:
    """Return what no stage allows."""
    return UOp(Ops.ADD, dtypes.int32, (graph,))


PIPELINE = Pipeline("test", (Stage(double, tensor_spec, "first"), Stage(double, tensor_spec, "again")))


def test_pipeline_runs_its_stages_in_order() -> None:
    assert PIPELINE.run(b) is (b + b) + (b + b)


def test_stage_is_named_and_summarised_by_its_function() -> None:
    assert PIPELINE.stages[0].name == "double"
    assert PIPELINE.stages[0].summary == "Double the graph."


def test_pass_that_breaks_its_spec_is_named_when_checking() -> None:
    pipeline = Pipeline("test", (Stage(double, tensor_spec, "first"), Stage(spoil, tensor_spec, "spoils")))
    with context(SPEC=1), pytest.raises(VerifyError, match="after pass spoil of test"):
        pipeline.run(b)
    with context(SPEC=0):
        assert pipeline.run(b).dtype is dtypes.int32


def test_what_a_pass_leaves_as_it_was_is_checked_once() -> None:
    looked_at: list[UOp] = []

    def look(node: UOp) -> bool:
        looked_at.append(node)
        return True

    checks = {Ops.BUFFER: look, Ops.ADD: look}
    one, other = Spec("one", checks), Spec("other", checks)
    pipeline = Pipeline("test", tuple(Stage(double, spec, "doubles") for spec in (one, one, other)))
    with context(SPEC=1):
        pipeline.run(b)
    twice = b + b
    four = twice + twice
    assert looked_at == [b, twice, four, b, twice, four, four + four]


def test_each_pass_is_an_event() -> None:
    seen: list[Any] = []
    with events.subscribe(events.PassEvent, seen.append):
        PIPELINE.run(b)
    assert [(e.pipeline, e.name, e.before, e.after) for e in seen] == [
        ("test", "double", b, b + b),
        ("test", "double", b + b, (b + b) + (b + b)),
    ]
