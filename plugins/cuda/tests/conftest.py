"""What tests of the CUDA plugin share: where NVRTC is, and the stand-in for a GPU."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from plugrad.errors import DeviceNotFound
from plugrad_cuda import nvrtc

ARCHS = ("sm_80", "sm_90", "sm_100")
SIMULATOR = Path(__file__).parents[3] / "tests" / "simulators" / "cuda" / "build.py"


@pytest.fixture(scope="session")
def nvrtc_library() -> None:
    """Skip where NVRTC is missing."""
    try:
        nvrtc.libraries()
    except DeviceNotFound as error:
        pytest.skip(str(error))


@pytest.fixture(params=ARCHS)
def arch(request: pytest.FixtureRequest) -> str:
    """Each architecture that kernels must compile for."""
    return request.param


def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cuda_simulator_build", SIMULATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build the stand-ins for libcuda and NVRTC; the environment that makes the plugin use them."""
    if not SIMULATOR.is_file():
        pytest.skip(f"the stand-ins for CUDA come with the repository only: no {SIMULATOR}")
    if sys.platform != "linux":
        pytest.skip("the stand-ins for CUDA run on Linux")
    build = _builder()
    if build.find_compiler() is None:
        pytest.skip("the stand-ins for CUDA need a C++ compiler: no g++, clang++ or c++ on PATH")
    return build.build(tmp_path_factory.mktemp("cuda-simulator"))


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def simulate(stand_ins: dict[str, str]) -> Run:
    """Run a Python program in a process that has a simulated GPU; settings of the stand-in by name."""

    def run(program: str, **settings: object) -> subprocess.CompletedProcess[str]:
        environment = os.environ | stand_ins | {name: str(value) for name, value in settings.items()}
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
        )

    return run
