"""Tests of plugrad.cli.conformance, .report and .kit."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plugrad.cli import kit, main


def test_without_the_kit_the_install_line_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit.importlib.util, "find_spec", lambda name: None)
    assert main(["conformance", "--device", "PYTHON"]) == 1
    assert "pip install plugrad-conformance" in capsys.readouterr().err


def test_the_options_reach_the_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def run_suite(*arguments: Any) -> int:
        calls.append(arguments)
        return 3

    monkeypatch.setattr("plugrad.cli.conformance.load_kit", lambda: SimpleNamespace(run_suite=run_suite))
    assert (
        main(["conformance", "--device", "X:1", "--profile", "full", "--report", "r.json", "-k", "jit", "-x"])
        == 3
    )
    assert calls == [("X:1", "full", Path("r.json"), None, ["-k", "jit", "-x"])]


def test_a_file_that_is_no_report_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compare_reports(paths: list[Path]) -> str:
        return str(json.loads(paths[0].read_text()))

    monkeypatch.setattr(
        "plugrad.cli.report.load_kit", lambda: SimpleNamespace(compare_reports=compare_reports)
    )
    path = tmp_path / "no.json"
    path.write_text("{")
    assert main(["report", str(path)]) == 1
    assert "plugrad:" in capsys.readouterr().err


def test_the_matrix_goes_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "plugrad.cli.report.load_kit",
        lambda: SimpleNamespace(compare_reports=lambda paths: f"{len(paths)} reports\n"),
    )
    assert main(["report", "a.json", "b.json", "--output", str(tmp_path / "m.md")]) == 0
    assert (tmp_path / "m.md").read_text() == "2 reports\n"
