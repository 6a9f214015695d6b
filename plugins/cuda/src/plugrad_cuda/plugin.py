"""The hooks through which plugrad finds and opens NVIDIA's GPUs."""

from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_cuda.allocator import CudaAllocator
from plugrad_cuda.compiler import CudaCompiler
from plugrad_cuda.context import open_context
from plugrad_cuda.probe import NAME, look
from plugrad_cuda.renderer import CudaRenderer
from plugrad_cuda.runner import CudaRunner


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Say who this is."""
    return BackendInfo(
        name=NAME,
        spec_version="1.0",
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
def plugrad_renderer(target: Target) -> CudaRenderer | None:
    """Return what writes CUDA C for the device's compute capability."""
    return CudaRenderer(target) if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> CudaCompiler | None:
    """Return NVRTC for the device's compute capability."""
    return CudaCompiler(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> CudaRunner | None:
    """Load a kernel."""
    if target.device != NAME:
        return None
    return CudaRunner(
        open_context(target),
        program,
        lambda source, name: CudaCompiler(target).compile_unaligned(source, name),
    )
