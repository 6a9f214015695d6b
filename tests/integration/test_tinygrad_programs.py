"""Programs that were written for tinygrad do the same here, with another import."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad import GlobalCounters

PROGRAMS = sorted((Path(__file__).parent / "tinygrad_programs").glob("*.py"))
#: What docs/migrating.md says to write instead.
CHANGES = (("tinygrad", "plugrad"), ("Context(TRAINING=1)", "Tensor.train()"))


def results(path: Path, text: str) -> list[Any]:
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, path, "exec"), names)
    return names["RESULT"]


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
def test_another_import_is_enough(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # tinygrad's interpreter, which needs no compiler
    monkeypatch.setenv("DEV", "PYTHON")
    pytest.importorskip("tinygrad")
    theirs = text = path.read_text(encoding="utf-8")
    for old, new in CHANGES:
        text = text.replace(old, new)
    ours = results(path, text)
    GlobalCounters.close()
    for got, want in zip(ours, results(path, theirs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
