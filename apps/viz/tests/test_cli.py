"""Tests of plugrad_viz.cli."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from plugrad_viz.cli import main


def test_a_page_and_a_trace_are_written(
    matmul: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    assert main([str(matmul), "--export", str(page), "--perfetto", str(trace)]) == 0
    assert page.is_file()
    assert json.loads(trace.read_text())["traceEvents"]
    assert capsys.readouterr().out.startswith(f"wrote {page}\nwrote {trace}")


def test_it_serves_until_it_is_interrupted(matmul: Path) -> None:
    command = [sys.executable, "-m", "plugrad_viz", str(matmul), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        url = lines[1].removeprefix("served at ").partition(",")[0]
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert answer.status == 200
        process.terminate()


def test_the_package_runs_as_a_program_and_says_what_is_wrong(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plugrad_viz", str(tmp_path / "none.jsonl"), "--export", "page.html"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert failed.returncode == 1
    assert failed.stderr.startswith("plugrad viz: cannot read ")
