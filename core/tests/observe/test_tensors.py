"""Tests of plugrad.observe.tensors."""

from plugrad import Tensor, events
from plugrad.events import TensorEvent


def test_a_tensor_says_which_line_made_it() -> None:
    seen: list[TensorEvent] = []
    x = Tensor([1.0, 2.0], device="PYTHON")
    with events.subscribe(TensorEvent, seen.append):
        y = x.exp()
    assert seen[-1].node is y.uop
    assert "test_tensors.py" in seen[-1].line
    assert seen[-1].line.endswith("in test_a_tensor_says_which_line_made_it")


def test_nobody_is_told_when_nobody_listens() -> None:
    Tensor([1.0], device="PYTHON")
    assert not events.listening(TensorEvent)
