"""Tests of plugrad.observe.fusion_report."""

from plugrad import Tensor, events
from plugrad.observe.fusion_report import DECIDED, KernelReport, fusion_report
from plugrad.schedule.create import ScheduleDraft


def reports_of(*tensors: Tensor) -> list[KernelReport]:
    found: list[KernelReport] = []

    def see(event: events.PassEvent) -> None:
        if (event.pipeline, event.name) == DECIDED:
            assert isinstance(event.after, ScheduleDraft)
            found.extend(fusion_report(event.after))

    with events.subscribe(events.PassEvent, see):
        Tensor.realize(*tensors)
    return found


def test_operations_of_one_kernel_are_listed() -> None:
    x = Tensor.empty(48, 3, device="PYTHON")
    (report,) = reports_of((x.exp() + 1).sum(1))
    assert [u.op.name for u in report.computed] == ["EXP", "ADD", "REDUCE_AXIS"]
    assert report.boundary.reason == "its value was asked for"


def test_a_boundary_says_what_was_weighed() -> None:
    x = Tensor.empty(50, 51, device="PYTHON")
    first, _ = reports_of(x.sin().exp().sin() @ Tensor.empty(51, 52, device="PYTHON"))
    assert first.boundary.reason == "computing it again costs more than its memory"
    assert "bytes written and read" in first.boundary.detail


def test_copies_and_memory_by_name_have_a_reason() -> None:
    x = Tensor.empty(53, device="PYTHON")
    reasons = [r.boundary.reason for r in reports_of((x + 1).contiguous() * 2, x.to("NULL"))]
    assert "contiguous() asks for memory" in reasons
    assert "it goes from one device to another" in reasons
