"""PYTHON, the reference device, interprets linear programs with NumPy and checks every memory access.

Slow, exact and always there: the oracle that all other devices are compared with.
"""

import time
from collections.abc import Sequence
from typing import Any

from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import SUPPORTED
from plugrad.builtin.host_memory import Block, HostAllocator
from plugrad.builtin.interpreter import Interpreter
from plugrad.builtin.listing import read, write
from plugrad.dtype import STORABLE
from plugrad.errors import CompileError, FileFormatError
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.target import Capabilities, Target
from plugrad.uop import UOp
from plugrad.uop.ops import UPDATING

#: A scalar GPU: the launch grid becomes NumPy axes, so the fewer loops the faster. EXP2, LOG2, SIN, POW and
#: THREEFRY are left out: they run by the decompositions that devices use.
CAPABILITIES = Capabilities(
    storage_dtypes=frozenset(STORABLE),
    compute_dtypes=frozenset(STORABLE),
    max_load_bits=64,
    grid_dims=3,
    max_grid=(2**31 - 1,) * 3,
    max_workgroup=256,
    max_workgroup_dims=(256,) * 3,
    local_memory_bytes=64 << 10,
    native_ops=frozenset(op.name for op in SUPPORTED),
    # of the widths that GPUs have
    atomic_ops=frozenset((op.name, dtype) for op in UPDATING for dtype in STORABLE if dtype.itemsize >= 4),
)


class ListingRenderer(Renderer):
    """Writes programs as listings."""

    capabilities = CAPABILITIES

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the listing of a program."""
        return write(uops, name)


class ListingCompiler(Compiler):
    """The binary is the listing."""

    cache_key = "python-1"

    def compile(self, source: str, name: str) -> bytes:
        """Return the listing in bytes."""
        try:
            read(source)
        except FileFormatError as error:
            raise CompileError(
                f"PYTHON cannot read {name}: {error}", source=source, log=str(error)
            ) from error
        return source.encode()


class PythonRunner:
    """An interpreted kernel."""

    def __init__(self, program: Program) -> None:
        name, instructions = read(program.lib.decode())
        self._interpreter = Interpreter(name, instructions)
        self._variables = program.variables
        self._threads = program.threads

    def __call__(
        self,
        handles: tuple[Block, ...],
        values: tuple[int, ...],
        global_size: tuple[int, ...],
        local_size: tuple[int, ...],
        wait: bool = False,
    ) -> float | None:
        """Run all work-items; return the seconds they took if `wait`."""
        started = time.perf_counter()
        written = self._interpreter.written
        buffers = [
            np.asarray(block.writable() if slot in written else block.readable())
            for slot, block in enumerate(handles)
        ]
        variables = dict(zip(self._variables, values, strict=True))
        self._interpreter.run(buffers, variables, global_size, local_size, self._threads)
        return time.perf_counter() - started if wait else None


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """The last resort of the automatic choice."""
    return BackendInfo("PYTHON", spec_version="1.0", priority=0, summary="reference interpreter, with NumPy")


@hookimpl
def plugrad_probe() -> Probe:
    """Always there, as many as one likes."""
    return Probe((ProbedDevice(Target("PYTHON"), "reference interpreter"),), any_index=True)


@hookimpl
def plugrad_allocator(target: Target) -> Allocator[Any]:
    """Memory of the host."""
    return HostAllocator()


@hookimpl
def plugrad_renderer(target: Target) -> Renderer:
    """Listings."""
    return ListingRenderer()


@hookimpl
def plugrad_compiler(target: Target) -> Compiler:
    """Nothing to compile."""
    return ListingCompiler()


@hookimpl
def plugrad_runner(target: Target, program: Program) -> Runner:
    """Read the listing, once."""
    return PythonRunner(program)
