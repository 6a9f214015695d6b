"""Tests of plugrad_viz.trace."""

from pathlib import Path

from plugrad_viz import make_trace, read_recording


def test_kernels_passes_and_memory_are_on_lanes(matmul: Path) -> None:
    recording = read_recording(matmul)
    events = make_trace(recording)["traceEvents"]
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert {"PYTHON", "thread MainThread"} <= set(lanes.values())
    kernels = [e for e in events if e.get("cat") == "launch"]
    assert len(kernels) == len(list(recording.of_kind("launch")))
    assert all(lanes[e["tid"]] == "PYTHON" and e["dur"] >= 0 for e in kernels)
    assert {"pass", "lower", "compile", "realize"} <= {e.get("cat") for e in events}


def test_spans_lie_inside_of_the_realize_that_asked_for_them(matmul: Path) -> None:
    events = make_trace(read_recording(matmul))["traceEvents"]
    (realize, *_) = (e for e in events if e.get("cat") == "realize")
    first = next(e for e in events if e.get("cat") == "lower")
    assert realize["ts"] <= first["ts"]
    assert first["ts"] + first["dur"] <= realize["ts"] + realize["dur"] + 1


def test_memory_is_counted_by_device(matmul: Path) -> None:
    events = make_trace(read_recording(matmul))["traceEvents"]
    used = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"] == "memory PYTHON"]
    assert used
    assert min(used) >= 0
