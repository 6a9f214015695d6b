"""Tests of plugrad.cli.bench."""

import json
from pathlib import Path

import pytest

from plugrad.cli import bench, main
from plugrad.observe.machine_limits import known_limits
from plugrad_conformance.testing import temporary_cache


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_COPIED_FLOATS", (1 << 8,))
    monkeypatch.setattr(bench, "_MATRICES", (8, 16))


def test_the_limits_of_a_device_are_measured_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_cache():
        assert main(["bench", "--device", "PYTHON", "--json"]) == 0
        limits = known_limits("PYTHON")
    report = json.loads(capsys.readouterr().out)
    assert limits is not None
    assert report == {
        "device": "PYTHON",
        "flops": limits.flops,
        "bandwidth": limits.bandwidth,
        "launch_seconds": limits.launch_seconds,
    }
    assert min(limits.flops, limits.bandwidth, limits.launch_seconds) > 0


def test_a_program_runs_afterwards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import sys; print('ran', sys.argv[1:])")
    with temporary_cache():
        assert main(["bench", "--device", "PYTHON", str(script), "word"]) == 0
    text = capsys.readouterr().out
    assert "limits of PYTHON" in text
    assert "GFLOP/s" in text
    assert text.index("smallest kernel") < text.index("ran ['word']")
