"""Tests of plugrad_conformance.cli.report."""

from pathlib import Path

import pytest

from plugrad.errors import FileFormatError
from plugrad_conformance.cli import report


def test_a_file_that_is_no_report_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_text("{")
    with pytest.raises(FileFormatError, match="is no report"):
        report.main([str(path)])


def test_the_matrix_goes_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "read_report", str)
    monkeypatch.setattr(report, "support_matrix", lambda reports: f"{len(reports)} reports\n")
    assert report.main(["a.json", "b.json", "--output", str(tmp_path / "m.md")]) == 0
    assert (tmp_path / "m.md").read_text() == "2 reports\n"
