"""Tests of plugrad_viz.compare."""

from dataclasses import replace
from pathlib import Path

from plugrad_viz import compare_kernels, read_recording


def test_a_recording_has_the_kernels_of_itself(matmul: Path) -> None:
    recording = read_recording(matmul)
    (summary,) = compare_kernels(recording, recording)
    assert "0 differ, 0 are gone, 0 are new" in summary
    assert not summary.startswith("0 ")


def test_a_kernel_that_is_made_otherwise_is_shown_as_a_diff(matmul: Path) -> None:
    recording = read_recording(matmul)
    changed = replace(
        recording,
        records=tuple(
            {**r, "source": r["source"] + "\nanother line"} if r["kind"] == "compile" else r
            for r in recording.records
        ),
    )
    report = list(compare_kernels(recording, changed))
    assert "+another line" in report
    assert report[-1].startswith("0 kernels are equal")


def test_kernels_of_other_graphs_are_counted(matmul: Path, training_step: Path) -> None:
    *_, summary = compare_kernels(read_recording(matmul), read_recording(training_step))
    assert "are gone" in summary
    assert "0 are new" not in summary
