"""The hooks through which plugrad finds and opens NVIDIA's GPUs."""

from collections.abc import Sequence

from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_cuda.assembler import PtxAssembler
from plugrad_cuda.capabilities import capabilities
from plugrad_cuda.compiler import CudaCompiler
from plugrad_cuda.context import open_context
from plugrad_cuda.graph import CudaGraph
from plugrad_cuda.memory.allocator import CudaAllocator
from plugrad_cuda.probe import NAME, look
from plugrad_cuda.ptx.renderer import PtxRenderer
from plugrad_cuda.renderer import CudaRenderer
from plugrad_cuda.runner import CudaRunner
from plugrad_cuda.settings import settings


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
def plugrad_renderer(target: Target) -> CudaRenderer | PtxRenderer | None:
    """Return the renderer of CUDA C, or of PTX where the user asks for that."""
    if target.device != NAME:
        return None
    chosen = capabilities(target, allows_tf32=settings.CUDA_TF32)
    return PtxRenderer(target, chosen) if settings.CUDA_PTX else CudaRenderer(target, chosen)


@hookimpl
def plugrad_compiler(target: Target) -> CudaCompiler | PtxAssembler | None:
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


def _compiler() -> type[CudaCompiler] | type[PtxAssembler]:
    return PtxAssembler if settings.CUDA_PTX else CudaCompiler
