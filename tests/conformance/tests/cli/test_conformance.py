"""Tests of plugrad_conformance.cli.conformance."""

from pathlib import Path

import pytest

from plugrad_conformance.cli import conformance


def test_the_options_reach_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        calls.append(arguments)
        return 3

    monkeypatch.setattr(pytest, "main", run)
    words = ["--device", "X:1", "--profile", "full", "--report", "r.json", "-k", "jit", "-x"]
    assert conformance.main(words) == 3
    (given,) = calls
    options = ["--device", "X:1", "--profile", "full", "--report", str(Path("r.json").absolute())]
    assert given[given.index("--device") :] == [*options, "-k", "jit", "-x"]
