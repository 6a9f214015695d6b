"""Programs that were written for tinygrad do the same here, unchanged."""

import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad import GlobalCounters
from plugrad.tinygrad import mapped

PROGRAMS = sorted((Path(__file__).parent / "tinygrad_programs").glob("*.py"))


def results(path: Path) -> list[Any]:
    return runpy.run_path(str(path))["RESULT"]


@pytest.fixture(autouse=True)
def clang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring a clang, that of zig, where the machine has none: tinygrad compiles a copy between devices."""
    if shutil.which("clang") is None:
        pytest.importorskip("ziglang")
        script = tmp_path / "clang"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang clang "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")
def test_programs_run_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # tinygrad's interpreter, which needs no compiler
    monkeypatch.setenv("DEV", "PYTHON")
    pytest.importorskip("tinygrad")
    with mapped():
        ours = results(path)
    GlobalCounters.close()
    for got, want in zip(ours, results(path), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
