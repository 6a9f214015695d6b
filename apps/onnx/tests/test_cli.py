"""Tests of plugrad_onnx.cli."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pytest
from models import model, node, value

from plugrad_onnx import compare as compare_module
from plugrad_onnx.cli import main
from plugrad_onnx.errors import InputError

PROTO = model(
    [node("Relu", ["x"], ["r"]), node("Mul", ["r", "w"], ["y"])],
    [value("x", ["n", 2])],
    [value("y", ["n", 2])],
    w=np.float32([2, 3]),
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "model.onnx"
    file.write_bytes(PROTO.SerializeToString())
    return str(file)


def test_run_prints_and_keeps_outputs(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.float32([[1, -1]]))
    assert main(["run", path, "--input", f"x={tmp_path / 'x.npy'}", "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == "y: float32[1, 2] [[2. 0.]]\n"
    assert np.load(tmp_path / "out" / "y.npy").tolist() == [[2.0, 0.0]]


def test_check_finds_no_difference(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", path]) == 0
    assert "2 values compared with reference; largest difference 0" in capsys.readouterr().out


def test_check_names_the_first_node_that_differs(
    path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(onnx.reference.ReferenceEvaluator):
        def run(self, names: list[str], feeds: dict[str, object]) -> list[object]:
            return [
                array + (name == "y") for name, array in zip(names, super().run(names, feeds), strict=True)
            ]

    monkeypatch.setattr(compare_module, "ReferenceEvaluator", Wrong)
    assert main(["check", path]) == 1
    assert "first that differs: 'y' of node 'y' (Mul, opset 20), by 1" in capsys.readouterr().out


def test_check_beside_onnxruntime(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    assert main(["check", path, "--judge", "onnxruntime"]) == 0
    assert "2 values compared with onnxruntime" in capsys.readouterr().out


def test_show_says_what_a_model_is_made_of(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", path]) == 0
    out = capsys.readouterr().out
    assert "opsets: ai.onnx 20" in out
    assert "inputs: x: FLOAT[n, 2]\n" in out
    assert "initializers: 1, with 2 elements\noperators: Relu 1, Mul 1\n" in out


def test_bench_prints_times(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", path, "--calls", "3"]) == 0
    out = capsys.readouterr().out
    assert "eager: first call" in out
    assert "jit: first call" in out
    assert re.search(r"memory of all buffers: [1-9]", out)


def test_conformance_counts_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert main(["conformance", "-k", "test_regex_full_match", "--page", str(page)]) == 0
    assert "0 passed, 3 refused, 0 failed" in capsys.readouterr().out
    text = page.read_text()
    assert "| RegexFullMatch | none | 0 | 3 | 0 |" in text
    assert "| Abs | 1- | 0 | 0 | 0 |" in text


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"/not/there.onnx: No such file or directory"):
        main(["show", "/not/there.onnx"])


def test_the_package_runs_as_a_program(path: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plugrad_onnx", "show"]
    done = subprocess.run([*command, path], capture_output=True, text=True, check=True, timeout=60)
    assert "operators: Relu 1, Mul 1" in done.stdout
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    failed = subprocess.run(
        [*command, str(tmp_path / "bad.onnx")], capture_output=True, text=True, check=False, timeout=60
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith("plugrad onnx: ")
    assert "no ONNX model" in failed.stderr
