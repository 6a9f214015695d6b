"""Tests of plugrad.cli.explain."""

from pathlib import Path

import pytest

from plugrad.cli.main import main


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str) -> str:
    script = tmp_path / "program.py"
    script.write_text(program)
    assert main(["explain", str(script), "--size", "65"]) == 0
    return capsys.readouterr().out


def test_a_program_runs_with_its_arguments_and_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    program = """
import sys
from plugrad import Tensor
(Tensor.empty(int(sys.argv[2]), device="PYTHON") * 2).realize()
print("done")
sys.exit(0)
"""
    out = run(tmp_path, capsys, program)
    assert out.startswith("done\nschedule 1: 1 kernel, 0 copies\n")
    assert "program.py:4 in <module>" in out


def test_lines_are_folded_between_words_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    program = """
from plugrad import Tensor
x = Tensor.empty(16, 16, device="PYTHON")
(x @ x).softmax().realize()
"""
    lines = run(tmp_path, capsys, program).splitlines()
    assert max(map(len, lines)) <= 60 + len(str(tmp_path))
    why = next(i for i, line in enumerate(lines) if line.startswith("     why "))
    assert lines[why + 1].startswith(" " * 12)


def test_a_program_that_computes_nothing_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "computed nothing" in run(tmp_path, capsys, "pass")


def test_a_program_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(tmp_path / "none.py")]) == 1
    assert "there is no program" in capsys.readouterr().err
