"""Tests of plugrad.observe.explain."""

from plugrad import Tensor, events
from plugrad.observe.explain import EXPLAINED_EVENTS, Explainer


def test_a_schedule_is_explained_with_reasons_costs_and_lines() -> None:
    explainer = Explainer()
    with events.subscribe(EXPLAINED_EVENTS, explainer):
        x = Tensor.empty(60, 61, device="PYTHON").sin().exp().sin()
        (x @ Tensor.empty(61, 62, device="PYTHON")).realize()
    (text,) = explainer.texts
    lines = text.splitlines()
    assert lines[0] == "schedule 1: 2 kernels, 0 copies"
    assert lines[2] == "  1. map_60_61 on PYTHON, makes float32(60, 61)"
    assert lines[3] == "     fuses  3 operations: SIN EXP SIN"
    assert lines[5].startswith("     why    computing it again costs more than its memory: ")
    assert "test_explain.py" in lines[6]
    assert "     reads  the value of 1, memory float32(61, 62)" in lines


def test_what_was_scheduled_before_is_not_explained_again() -> None:
    explainer = Explainer()
    with events.subscribe(EXPLAINED_EVENTS, explainer):
        for _ in range(2):
            (Tensor.empty(63, device="PYTHON") + 1).realize()
    assert len(explainer.texts) == 1


def test_layers_that_were_scheduled_before_are_explained_among_others() -> None:
    def deep(layers: int) -> Tensor:
        x = Tensor.empty(65, device="PYTHON")
        for _ in range(layers):
            x = (x.sin() * x).contiguous()
        return x

    deep(2).realize()
    explainer = Explainer()
    with events.subscribe(EXPLAINED_EVENTS, explainer):
        deep(4).realize()
    (text,) = explainer.texts
    assert text.count("     why    contiguous() asks for memory") == 4
    assert "     reads  the value of 3" in text
