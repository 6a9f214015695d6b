"""The benchmark runner runs; what it measures is not judged here."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = Path(__file__).parents[2] / "benchmarks" / "run.py"


def run(*arguments: str) -> str:
    command = [sys.executable, str(RUN), "--quick", "--libraries", "plugrad", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_cases_are_measured_in_their_own_processes() -> None:
    report: dict[str, Any] = json.loads(
        run("--no-machine", "--json", "--only", "jit_call", "--only", "import")
    )
    assert {(found["case"], found["library"]) for found in report["results"]} == {
        ("import", "plugrad"),
        ("jit_call", "plugrad"),
    }
    assert all(found["samples"][0]["best"] > 0 for found in report["results"])
    assert report["errors"] == []


def test_the_page_shows_rates_beside_the_limits_of_the_machine() -> None:
    pytest.importorskip("plugrad_cpu_clang")
    page = run("--markdown", "--only", "matmul_256")
    assert "GFLOP/s of float32 multiply-adds" in page
    assert "of the limit" in page


def test_all_libraries_compute_the_same_and_the_fastest_is_told() -> None:
    for name in ("jax", "tinygrad", "torch", "plugrad_cpu_clang"):
        pytest.importorskip(name)
    names = ["--libraries", "plugrad,tinygrad,torch,jax,numpy"]
    page = run("--markdown", "--no-machine", "--only", "attention", "--only", "mlp_step", *names)
    assert "| best / plugrad |" in page
    assert "fails" not in page
    assert "geometric mean of 2 workloads" in page


def test_an_unknown_case_is_refused_with_the_names_of_all() -> None:
    done = subprocess.run([sys.executable, str(RUN), "--only", "nothing"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "there is no case 'nothing'; there are import," in done.stderr


def test_operations_are_measured_beside_torch_and_jax() -> None:
    for name in ("jax", "torch", "plugrad_cpu_clang"):
        pytest.importorskip(name)
    command = [sys.executable, str(RUN.with_name("operations.py")), "--seconds", "0", "--only", "x > 0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| x > 0 (1000 x 1000)"))
    assert "| - " not in row


@pytest.mark.wide  # a minute, for a table of our own; the runner that it shares with others is tested above
def test_whole_models_are_measured_beside_torch() -> None:
    for name in ("torch", "plugrad_cpu_clang"):
        pytest.importorskip(name)
    command = [sys.executable, str(RUN.with_name("models.py")), "--quick", "--calls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()]
    (found,) = (row for row in rows if row[1:2] == ["language model, 2 x 8 characters"])
    assert [cell.split()[-1] for cell in found[5:7]] == ["MB", "MB"]


def test_exported_models_are_measured_beside_onnxruntime() -> None:
    for name in ("torch", "onnxruntime", "plugrad_onnx", "plugrad_cpu_clang"):
        pytest.importorskip(name)
    command = [sys.executable, str(RUN.with_name("onnx_models.py")), "--quick", "--calls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| ResNet-18, 1 image of 32 x 32" in done.stdout


def test_a_section_is_exchanged_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RUN.parent))
    sections = importlib.import_module("suite.sections")
    page = "# Page\n\ntable\n\n## One\n\nold\n\n## Two\n\nkept\n"
    changed = sections.with_section(page, "One", "new")
    assert changed == "# Page\n\ntable\n\n## One\n\nnew\n\n## Two\n\nkept\n"
    assert sections.with_section("# Page\n", "One", "new") == "# Page\n\n## One\n\nnew\n"
    assert sections.sections_behind(page).startswith("## One")


def test_first_calls_are_measured_part_by_part() -> None:
    pytest.importorskip("plugrad_cpu_clang")
    command = [sys.executable, str(RUN.with_name("first_calls.py")), "--quick", "--count", "1", "--passes"]
    done = subprocess.run([*command, "--only", "small"], capture_output=True, text=True, check=True)
    assert "simplify_gates 0." in done.stdout
    assert "| small" in done.stdout


def test_a_search_shows_what_the_heuristic_lacks() -> None:
    pytest.importorskip("plugrad_cpu_clang")
    command = [sys.executable, str(RUN.with_name("search.py")), "--quick", "--beam", "1", "--only", "small"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (found,) = (line for line in done.stdout.splitlines() if line.startswith("| small"))
    assert found.split("|")[2].strip() == "1"
