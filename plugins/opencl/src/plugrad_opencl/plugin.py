"""The hooks through which plugrad finds and opens OpenCL devices."""

from typing import TYPE_CHECKING

from plugrad._util import LazyModule
from plugrad.errors import DeviceNotFound
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_opencl.driver import remedy
from plugrad_opencl.probe import GPU_PRIORITY, NAME, PRIORITY, look, may_have_gpu

if TYPE_CHECKING:
    from plugrad_opencl import allocator, compiler, context, renderer, runner
else:
    # every process that looks for devices imports this module, and few find one here
    allocator, compiler, context, renderer, runner = (
        LazyModule(f"plugrad_opencl.{name}")
        for name in ("allocator", "compiler", "context", "renderer", "runner")
    )


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Return the identity of the backend.

    Its priority is lower where there can be no GPU, so that drivers need not be loaded first.
    """
    return BackendInfo(
        name=NAME,
        spec_version="1.1",
        priority=GPU_PRIORITY if may_have_gpu() else PRIORITY,
        aliases=("CL",),
        summary="any device with an OpenCL driver, by pyopencl",
    )


@hookimpl
def plugrad_probe() -> Probe:
    """List the devices of all drivers, GPUs first."""
    try:
        return look()
    except DeviceNotFound as missing:
        return Probe(reason=str(missing).removesuffix(remedy()).strip(), remedy=remedy())


@hookimpl
def plugrad_allocator(target: Target) -> "allocator.OpenClAllocator | None":
    """Open the device's memory."""
    return allocator.OpenClAllocator(context.open_context(target)) if target.device == NAME else None


@hookimpl
def plugrad_renderer(target: Target) -> "renderer.OpenClRenderer | None":
    """Return the OpenCL C renderer."""
    return renderer.OpenClRenderer(target) if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> "compiler.OpenClCompiler | None":
    """Return the driver's compiler."""
    return compiler.OpenClCompiler(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> "runner.OpenClRunner | None":
    """Load a kernel."""
    return runner.OpenClRunner(context.open_context(target), program) if target.device == NAME else None
