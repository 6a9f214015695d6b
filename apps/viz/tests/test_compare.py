"""Tests of plugrad_viz.compare."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from plugrad_viz import compare_kernels, read_recording


def test_a_recording_has_the_kernels_of_itself(matmul: Path) -> None:
    recording = read_recording(matmul)
    (summary,) = compare_kernels(recording, recording)
    assert "0 differ, 0 gone, 0 new" in summary
    assert "0 equal" not in summary


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
    assert report[-1].startswith("kernels: 0 equal")


def test_kernels_of_other_graphs_are_counted(matmul: Path, training_step: Path) -> None:
    *_, summary = compare_kernels(read_recording(matmul), read_recording(training_step))
    assert " 0 gone" not in summary
    assert " 0 new" not in summary


def test_replay_compares_a_program_with_its_recording_before(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "from plugrad import Tensor\n(Tensor([1.0, 2.0]) * Tensor([3.0, 4.0])).sum().realize()\n"
    )
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "PLUGRAD_CACHE": str(tmp_path)}
    environment = {**os.environ, **paths, "DEVICE": "PYTHON", "REPLAY": "1"}

    def run() -> str:
        command = [sys.executable, str(script)]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=300
        ).stdout

    assert "first recording" in run()
    assert run() == "kernels: 1 equal, 0 differ, 0 gone, 0 new\n"
    for recording in (tmp_path / "viz").glob("*.jsonl"):
        recording.write_text(recording.read_text().replace('"source":"', '"source":"another line\\n'))
    assert "-another line" in (report := run())
    assert report.endswith("kernels: 0 equal, 1 differ, 0 gone, 0 new\n")
