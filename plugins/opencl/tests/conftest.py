"""Targets that are not there, and the first real device of this machine."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plugrad.errors import DeviceNotFound
from plugrad.target import Target
from plugrad_conformance.testing.linear_writer import LinearWriter
from plugrad_opencl.allocator import OpenClAllocator
from plugrad_opencl.compiler import OpenClCompiler
from plugrad_opencl.context import Context, open_context
from plugrad_opencl.plugin import plugrad_probe
from plugrad_opencl.renderer import OpenClRenderer
from plugrad_opencl.runner import OpenClRunner


def with_detail(target: Target, **changes: str) -> Target:
    """Return a target with other answers of its device."""
    return replace(target, detail=tuple(sorted({**dict(target.detail), **changes}.items())))


CPU = Target(
    "OPENCL",
    0,
    "znver3",
    tuple(
        sorted(
            {
                "align": "128",
                "c": "1.2",
                "device": "a CPU",
                "divide": "exact",
                "driver": "3.0",
                "fp64": "yes",
                "kind": "cpu",
                "lib": "object",
                "local_bytes": "1048576",
                "parameter_bytes": "1024",
                "profile": "FULL_PROFILE",
                "platform": "Portable Computing Language, OpenCL 3.0",
                "units": "8",
                "vector_bits": "256",
                "workgroup": "4096",
                "workgroup_dims": "4096x4096x4096",
            }.items()
        )
    ),
)
GPU = with_detail(CPU, kind="gpu", vector_bits="0", fp16="yes", lib="executable", workgroup="1024")


@pytest.fixture
def cpu() -> Target:
    """A CPU with 256-bit vectors, without cl_khr_fp16."""
    return CPU


@pytest.fixture
def gpu() -> Target:
    """A GPU with cl_khr_fp16."""
    return GPU


@pytest.fixture
def changed() -> Callable[..., Target]:
    """A target with other answers of its device."""
    return with_detail


@pytest.fixture
def w() -> LinearWriter:
    """An empty program."""
    return LinearWriter()


@pytest.fixture(scope="session")
def target() -> Target:
    """The first device of this machine."""
    try:
        probe = plugrad_probe()
    except DeviceNotFound as error:
        pytest.skip(str(error))
    if not probe.devices:
        pytest.skip(f"{probe.reason} {probe.remedy}")
    return probe.devices[0].target


@pytest.fixture(scope="session")
def context(target: Target) -> Context:
    """Open the device."""
    return open_context(target)


@pytest.fixture(scope="session")
def allocator(context: Context) -> OpenClAllocator:
    """Its memory."""
    return OpenClAllocator(context)


@pytest.fixture(scope="session")
def compiler(target: Target) -> OpenClCompiler:
    """Its compiler."""
    return OpenClCompiler(target)


@pytest.fixture(scope="session", params=["loops", "grid"])
def renderer(request: pytest.FixtureRequest, target: Target) -> OpenClRenderer:
    """Renderers for vectors and for a grid: any device can run either."""
    bits = "256" if request.param == "loops" else "0"
    return OpenClRenderer(with_detail(target, vector_bits=bits))


@pytest.fixture(params=[("256", 1), ("256", 16), ("0", 1)], ids=["loops", "vectors", "grid"])
def form(request: pytest.FixtureRequest) -> tuple[str, int]:
    """The `vector_bits` of a target, and the lanes of its values (in grids, one)."""
    return request.param


@pytest.fixture
def count(form: tuple[str, int]) -> int:
    """The number of lanes of values."""
    return form[1]


Launch = Callable[..., float | None]


@pytest.fixture
def launch(
    context: Context,
    allocator: OpenClAllocator,
    compiler: OpenClCompiler,
    target: Target,
    form: tuple[str, int],
) -> Launch:
    """Compile and run a program, with arrays as its buffers by slot."""
    renderer = OpenClRenderer(with_detail(target, vector_bits=form[0]))

    def run(
        w: LinearWriter, *arrays: "np.ndarray[Any, Any]", values: tuple[int, ...] = (), threads: int = 1
    ) -> float | None:
        program = w.program(renderer, compiler, threads=threads)
        blocks = [allocator.alloc(array.nbytes) for array in arrays]
        for block, array in zip(blocks, arrays, strict=True):
            allocator.copyin(block, memoryview(array).cast("B"))
        sizes = program.launch_dims({})
        seconds = OpenClRunner(context, program)(tuple(blocks), values, *sizes, wait=True)
        for block, array in zip(blocks, arrays, strict=True):
            allocator.copyout(memoryview(array).cast("B"), block)
            allocator.free(block, array.nbytes)
        return seconds

    return run
