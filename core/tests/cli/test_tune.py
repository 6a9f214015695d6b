"""Tests of plugrad.cli.tune."""

from pathlib import Path

import pytest

from plugrad.cli import main
from plugrad.engine.compile import clear_loaded
from plugrad.engine.search.results import search_results
from plugrad_conformance.testing import temporary_cache

PROGRAM = """
import sys
from plugrad import Tensor
x = Tensor.arange(48, dtype="float32", device="PYTHON").realize()
print(sys.argv[1:], (x * 2).sum().item())
"""


def test_a_program_runs_with_its_arguments_and_its_kernels_are_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    with temporary_cache():
        clear_loaded()
        assert main(["tune", "--beam", "1", str(script), "a", "--b"]) == 0
        assert len(search_results()) >= 1
    text = capsys.readouterr().out
    assert "['a', '--b'] 2256.0" in text
    assert "reduce_48" in text
    assert "Run the program with BEAM=1" in text


def test_what_cannot_be_tuned_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["tune", str(tmp_path / "none.py")]) == 1
    (tmp_path / "program.py").touch()
    assert main(["tune", "--beam", "0", str(tmp_path / "program.py")]) == 1
    text = capsys.readouterr().err
    assert "Give the path of a Python program" in text
    assert "--beam 0 would search for nothing" in text
