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
from plugrad_cuda.probe import NAME, look
from plugrad_cuda.settings import settings

if TYPE_CHECKING:
    from plugrad_cuda import assembler, compiler, context, graph, renderer, runner
    from plugrad_cuda.memory import allocator
    from plugrad_cuda.ptx import renderer as ptx_renderer
else:
    # every process that looks for devices imports this module, and few find one here
    assembler, compiler, context, graph, renderer, runner, allocator, ptx_renderer = (
        LazyModule(f"plugrad_cuda.{name}")
        for name in (
            *("assembler", "compiler", "context", "graph", "renderer", "runner"),
            *("memory.allocator", "ptx.renderer"),
        )
    )


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
def plugrad_allocator(target: Target) -> "allocator.CudaAllocator | None":
    """Open the device's memory."""
    if target.device != NAME:
        return None
    return allocator.CudaAllocator(context.open_context(target), int(target.get("memory_bytes") or 0))


@hookimpl
def plugrad_renderer(target: Target) -> "renderer.CudaRenderer | ptx_renderer.PtxRenderer | None":
    """Return the renderer of CUDA C, or of PTX where the user asks for that."""
    if target.device != NAME:
        return None
    chosen = capabilities(target, allows_tf32=settings.CUDA_TF32)
    if settings.CUDA_PTX:
        return ptx_renderer.PtxRenderer(target, chosen)
    return renderer.CudaRenderer(target, chosen)


@hookimpl
def plugrad_compiler(target: Target) -> "compiler.CudaCompiler | assembler.PtxAssembler | None":
    """Return NVRTC for the device's compute capability, or the driver's assembler for PTX."""
    return _compiler()(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> "runner.CudaRunner | None":
    """Load a kernel."""
    if target.device != NAME:
        return None
    chosen = _compiler()
    return runner.CudaRunner(
        context.open_context(target),
        program,
        lambda source, name: chosen(target).compile_unaligned(source, name),
    )


@hookimpl
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> "graph.CudaGraph | None":
    """Prepare a graph of the driver's, of runners that are ours."""
    if target.device != NAME:
        return None
    runners = [launch.runner for launch in launches if isinstance(launch.runner, runner.CudaRunner)]
    return graph.CudaGraph(launches, runners) if len(runners) == len(launches) else None


def _compiler() -> "type[compiler.CudaCompiler] | type[assembler.PtxAssembler]":
    return assembler.PtxAssembler if settings.CUDA_PTX else compiler.CudaCompiler
