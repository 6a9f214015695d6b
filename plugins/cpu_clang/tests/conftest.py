"""Fixtures that run linear programs with each compiler of this machine.

What compilers make of kernels is tested with the oldest Python; newer ones give them the same sources, and
test it with EVERYTHING=1 only.
"""

import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad.settings import settings
from plugrad_conformance.testing.linear_writer import LinearWriter
from plugrad_cpu_clang.compiler import CpuCompiler
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner
from plugrad_cpu_clang.toolchain import Choice, choose_toolchain

# zig's compiler is clang: where it is, what a clang makes of single kernels is tested on request
KINDS = (
    pytest.param("clang", marks=[pytest.mark.wide] if find_spec("ziglang") else []),
    "gcc",
    "zig",
)
#: Tests of compiled kernels, rather than of how Python finds, compiles, loads and calls them.
OF_KERNELS = {
    f"test_{name}.py"
    for name in ("aarch64", "byte_products", "random_kernels", "renderer", "symbolic_bounds")
}

Launch = Callable[..., None]


@pytest.hookimpl(tryfirst=True)  # before wide tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.version_info < (3, 12):
        return
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name in OF_KERNELS:
            item.add_marker(pytest.mark.wide)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("PLUGRAD_CACHE")
    os.environ["PLUGRAD_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    settings.refresh()
    yield
    if before is None:
        del os.environ["PLUGRAD_CACHE"]
    else:
        os.environ["PLUGRAD_CACHE"] = before
    settings.refresh()


@pytest.fixture(scope="session")
def choice(_cache_of_the_tests: None) -> Choice:
    return choose_toolchain()


@pytest.fixture(scope="session", params=KINDS)
def compiler(request: pytest.FixtureRequest, choice: Choice) -> CpuCompiler:
    """The compiler of each kind that this machine has."""
    usable = [t for t in (choice.toolchain, *choice.others) if not t.problem and t.kind == request.param]
    if not usable:
        pytest.skip(f"this machine has no {request.param}")
    return CpuCompiler(usable[0])


@pytest.fixture(scope="session")
def best_compiler(choice: Choice) -> CpuCompiler:
    """The compiler that plugrad chooses."""
    return CpuCompiler(choice.toolchain)


@pytest.fixture
def w() -> LinearWriter:
    """An empty program."""
    return LinearWriter()


@pytest.fixture
def new_writer() -> type[LinearWriter]:
    """For tests with several programs."""
    return LinearWriter


@pytest.fixture
def addresses() -> Callable[..., tuple[int, ...]]:
    """Return arrays as the blocks that a runner takes."""
    return lambda *arrays: tuple(array.ctypes.data for array in arrays)


@pytest.fixture
def run_program(addresses: Callable[..., tuple[int, ...]]) -> Launch:
    """Compile and run a program, with arrays as its buffers by slot."""

    def run(
        w: LinearWriter,
        compiler: CpuCompiler,
        *arrays: "np.ndarray[Any, Any]",
        values: tuple[int, ...] = (),
        threads: int = 1,
    ) -> None:
        CpuRunner(w.program(CpuRenderer(), compiler, threads=threads))(addresses(*arrays), values)

    return run


@pytest.fixture
def launch(compiler: CpuCompiler, run_program: Launch) -> Launch:
    """The same, with each compiler in turn."""
    return lambda w, *arrays, **options: run_program(w, compiler, *arrays, **options)
