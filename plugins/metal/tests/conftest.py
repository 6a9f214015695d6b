"""Fixtures of the Metal plugin's tests: the stand-in, and programs that use it."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SIMULATOR = Path(__file__).parents[3] / "tests" / "simulators" / "metal" / "build.py"


def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("metal_simulator_build", SIMULATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build the stand-in for Metal; the environment that makes the plugin use it."""
    if not SIMULATOR.is_file():
        pytest.skip(f"the stand-in for Metal comes with the repository only: no {SIMULATOR}")
    if sys.platform != "linux":
        pytest.skip("the stand-in for Metal runs on Linux")
    build = _builder()
    if build.find_compiler() is None:
        pytest.skip("the stand-in for Metal needs a C++ compiler: no g++, clang++ or c++ on PATH")
    return build.build(tmp_path_factory.mktemp("metal-simulator"))


class Done(subprocess.CompletedProcess[str]):
    """A program that ended."""

    def clean_lines(self) -> list[str]:
        """Return what it printed, which must have done nothing that Metal does not allow."""
        assert self.returncode == 0, self.stderr
        assert "Metal stand-in" not in self.stderr, self.stderr
        return self.stdout.split("\n")


Run = Callable[..., Done]


@pytest.fixture
def simulate(stand_in: dict[str, str]) -> Run:
    """Run a Python program in a process with a simulated GPU."""

    def run(program: str, **settings: object) -> Done:
        environment = os.environ | stand_in | {name: str(value) for name, value in settings.items()}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
        )
        return Done(done.args, done.returncode, done.stdout, done.stderr)

    return run
