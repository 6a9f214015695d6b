"""Fixtures of the Metal plugin's tests: the stand-in, and programs that use it."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SIMULATORS = Path(__file__).parents[3] / "tests" / "simulators"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"metal_simulator_{Path(name).stem}", SIMULATORS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build the stand-in for Metal; the environment that makes the plugin use it."""
    if not SIMULATORS.is_dir():
        pytest.skip(f"the stand-in for Metal comes with the repository only: no {SIMULATORS}")
    if sys.platform != "linux":
        pytest.skip("the stand-in for Metal runs on Linux")
    build = _load("metal/build.py")
    if build.find_compiler() is None:
        pytest.skip("the stand-in for Metal needs a C++ compiler: no g++, clang++ or c++ on PATH")
    return build.build(tmp_path_factory.mktemp("metal-simulator"))


@pytest.fixture(scope="session")
def programs(stand_in: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start what runs programs with a simulated GPU."""
    with _load("programs.py").Programs(stand_in, tmp_path_factory.mktemp("programs")) as started:
        yield started


@pytest.fixture
def simulate(programs: Any) -> Callable[..., Any]:
    """Run a Python program in a process with a simulated GPU."""
    return programs.run
