"""The hooks through which plugrad finds and opens NVIDIA's GPUs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad._util import LazyModule
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_cuda.capabilities import capabilities
from plugrad_cuda.compiler import CudaCompiler
from plugrad_cuda.context import open_context
from plugrad_cuda.graph import CudaGraph
from plugrad_cuda.memory.allocator import CudaAllocator
from plugrad_cuda.probe import NAME, look
from plugrad_cuda.renderer import CudaRenderer
from plugrad_cuda.runner import CudaRunner
from plugrad_cuda.settings import settings

if TYPE_CHECKING:
    from plugrad_cuda import assembler
    from plugrad_cuda.ptx import renderer as ptx_renderer
else:
    # few ask for PTX, and every process that looks for devices imports this module
    assembler = LazyModule("plugrad_cuda.assembler")
    ptx_renderer = LazyModule("plugrad_cuda.ptx.renderer")


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Return the name, the spec version and the priority of this backend."""
    return BackendInfo(
        name=NAME,
        spec_version="1.2",
        priority=30,
        aliases=("NV",),
        summary="NVIDIA GPUs: CUDA C compiled by NVRTC, run through the driver API",
    )


@hookimpl
def plugrad_probe() -> Probe:
    """List the GPUs that the driver knows."""
    return look()


@hookimpl
def plugrad_allocator(target: Target) -> CudaAllocator | None:
    """Open the device's memory."""
    if target.device != NAME:
        return None
    return CudaAllocator(open_context(target), int(target.get("memory_bytes") or 0))


@hookimpl
def plugrad_renderer(target: Target) -> "CudaRenderer | ptx_renderer.PtxRenderer | None":
    """Return the renderer of CUDA C, or of PTX where the user asks for that."""
    if target.device != NAME:
        return None
    chosen = capabilities(target, allows_tf32=settings.CUDA_TF32)
    return ptx_renderer.PtxRenderer(target, chosen) if settings.CUDA_PTX else CudaRenderer(target, chosen)


@hookimpl
def plugrad_compiler(target: Target) -> "CudaCompiler | assembler.PtxAssembler | None":
    """Return NVRTC for the device's compute capability, or the driver's assembler for PTX."""
    return _compiler()(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> CudaRunner | None:
    """Load a kernel."""
    if target.device != NAME:
        return None
    compiler = _compiler()
    return CudaRunner(
        open_context(target),
        program,
        lambda source, name: compiler(target).compile_unaligned(source, name),
    )


@hookimpl
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> CudaGraph | None:
    """Prepare a graph of the driver's, of runners that are ours."""
    if target.device != NAME:
        return None
    runners = [launch.runner for launch in launches if isinstance(launch.runner, CudaRunner)]
    return CudaGraph(launches, runners) if len(runners) == len(launches) else None


def _compiler() -> "type[CudaCompiler] | type[assembler.PtxAssembler]":
    return assembler.PtxAssembler if settings.CUDA_PTX else CudaCompiler
