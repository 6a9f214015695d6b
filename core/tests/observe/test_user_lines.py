"""Tests of plugrad.observe.user_lines."""

from plugrad.dtype import dtypes
from plugrad.events import PassEvent, RenameEvent, RewriteEvent, TensorEvent
from plugrad.observe.user_lines import UserLines
from plugrad.uop.uop import UOp

buffer = UOp.new_buffer("PYTHON", (2, 3), dtypes.float32)
other = UOp.new_buffer("PYTHON", (2, 3), dtypes.float32)


def test_a_line_follows_its_node_through_names_rules_and_passes() -> None:
    lines = UserLines()
    asked = buffer.exp()
    lines(TensorEvent(asked, "a.py:3"))
    renamed = other.exp()
    lines(RenameEvent([{asked: renamed}]))
    assert lines.of(renamed) == "a.py:3"
    rewritten = other.sqrt()
    lines(RewriteEvent("r", "rule", renamed, rewritten))
    assert lines.of(rewritten) == "a.py:3"
    rebuilt = buffer.sqrt()
    lines(PassEvent("schedule", "p", UOp.sink(rewritten), UOp.sink(rebuilt), 0.0))
    assert lines.of(rebuilt) == "a.py:3"


def test_what_a_tensor_is_made_of_has_its_line_down_to_other_tensors() -> None:
    lines = UserLines()
    first = buffer.exp()
    inner = first + 1
    second = inner.sqrt()
    lines(TensorEvent(first, "a.py:1"))
    lines(TensorEvent(second, "a.py:2"))
    assert [lines.of(u) for u in (first, inner, second)] == ["a.py:1", "a.py:2", "a.py:2"]
    assert lines.of(inner.src[1]) == ""


def test_a_node_of_nobody_has_no_line() -> None:
    assert UserLines().of(buffer) == ""
