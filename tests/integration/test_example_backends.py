"""The example plugins, and one that `plugrad new-backend` writes, installed into a folder apart."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LLVM, GCC = ROOT / "examples" / "third_party_backend", ROOT / "examples" / "compiler_only"
COMPILE_LOG = ROOT / "examples" / "compile_log"
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target")

# what `plugrad.plugin.hookspecs` says that plugins may import
SURFACE = {"errors", "settings", "dtype", "target", "events", "uop", "renderer", "runtime", "plugin"}

Run = Callable[..., str]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that distributions are installed into; the interpreter's own stay untouched."""
    return tmp_path / "site"


@pytest.fixture
def run(tmp_path: Path, site: Path) -> Run:
    """Run a module of Python where the distributions in `site` are installed, and return what it prints."""

    def call(*arguments: str, cwd: Path = tmp_path) -> str:
        paths = filter(None, (str(site), os.environ.get("PYTHONPATH")))
        settings = {
            "PYTHONPATH": os.pathsep.join(paths),
            "PLUGRAD_CACHE": str(tmp_path / "cache"),
            "NO_COLOR": "1",
            "COLUMNS": "200",
        }
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=cwd,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    return call


def install(folder: Path, site: Path) -> None:
    subprocess.run([*PIP, str(site), str(folder)], check=True, cwd=site.parent)


def report_of(device: str, run: Run) -> dict[str, Any]:
    backends: list[dict[str, Any]] = json.loads(run("plugrad.cli", "devices", "--json"))["backends"]
    return next(backend for backend in backends if backend["name"] == device)


def imported(source: str) -> set[str]:
    """Return the packages of plugrad that a module imports."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.split(".")[1] if "." in name else name for name in names if name.split(".")[0] == "plugrad"}


@pytest.mark.parametrize("folder", [LLVM, GCC, COMPILE_LOG], ids=lambda folder: folder.name)
def test_examples_use_what_plugins_may_use_and_nothing_else(folder: Path) -> None:
    for module in (folder / "src").rglob("*.py"):
        assert imported(module.read_text()) <= SURFACE, module


def test_a_new_backend_passes_contract_and_minimal_at_once(tmp_path: Path, site: Path, run: Run) -> None:
    run("plugrad.cli", "new-backend", "mychip", "--directory", str(tmp_path))
    folder = tmp_path / "plugrad-plugin-mychip"
    install(folder, site)
    assert report_of("MYCHIP", run)["state"] == "ready"
    # its own tests are the suite's; the report says that nothing was left out
    report = tmp_path / "report.json"
    run("plugrad.cli", "conformance", "--device", "MYCHIP", "--profile", "minimal", "--report", str(report))
    totals = json.loads(report.read_text())["totals"]
    assert totals["pass"] == sum(totals.values()) > 50
    assert "passed" in run("pytest", "-q", "-k", "memory", cwd=folder)


def test_the_third_party_backend_passes_its_tests_and_the_core_profile(site: Path, run: Run) -> None:
    """One dtype stands for the others in `core`, whose cases all run with EVERYTHING=1."""
    pytest.importorskip("llvmlite", reason="the example compiles with llvmlite")
    install(LLVM, site)
    assert report_of("LLVM", run)["state"] == "ready"
    options = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    chosen = () if os.environ.get("EVERYTHING") else ("-k", "not core or float32")
    assert "passed" in run("pytest", "-q", *options, *chosen, str(LLVM / "tests"))


def test_one_hook_of_a_device_can_be_replaced(site: Path, run: Run) -> None:
    assert report_of("CPU", run)["additions"] == []
    install(GCC, site)
    assert report_of("CPU", run)["additions"] == ["plugrad-example-gcc 0.1.0: plugrad_compiler"]
    assert "plugrad-example-gcc 0.1.0: plugrad_compiler" in " ".join(run("plugrad.cli", "devices").split())
    options = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    assert "passed" in run("pytest", "-q", *options, str(GCC / "tests"))


def test_a_hook_of_every_device_can_be_wrapped(site: Path, run: Run) -> None:
    install(COMPILE_LOG, site)
    addition = "plugrad-example-compile-log 0.1.0: around plugrad_compiler"
    assert report_of("CPU", run)["additions"] == report_of("OPENCL", run)["additions"] == [addition]
    assert report_of("PYTHON", run)["additions"] == []
    options = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    assert "passed" in run("pytest", "-q", *options, str(COMPILE_LOG / "tests"))
