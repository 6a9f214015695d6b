"""The hooks through which plugrad finds and opens Apple's GPUs."""

from collections.abc import Sequence

from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_metal.allocator import MetalAllocator
from plugrad_metal.compiler import MetalCompiler
from plugrad_metal.context import open_context
from plugrad_metal.graph import MetalGraph
from plugrad_metal.probe import NAME, look
from plugrad_metal.renderer import MetalRenderer
from plugrad_metal.runner import MetalRunner


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Return the name, the spec version and the priority of this backend."""
    return BackendInfo(
        name=NAME,
        spec_version="1.1",
        priority=30,
        aliases=("MPS",),
        summary="Apple's GPUs: kernels in the Metal Shading Language, by PyObjC",
    )


@hookimpl
def plugrad_probe() -> Probe:
    """List the GPUs that macOS knows."""
    return look()


@hookimpl
def plugrad_allocator(target: Target) -> MetalAllocator | None:
    """Open the GPU's memory."""
    if target.device != NAME:
        return None
    return MetalAllocator(open_context(target), int(target.get("memory_bytes") or 0))


@hookimpl
def plugrad_renderer(target: Target) -> MetalRenderer | None:
    """Return the MSL renderer."""
    return MetalRenderer(target) if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> MetalCompiler | None:
    """Return the system's compiler."""
    return MetalCompiler(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> MetalRunner | None:
    """Load a kernel."""
    return MetalRunner(open_context(target), program) if target.device == NAME else None


@hookimpl
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> MetalGraph | None:
    """Prepare an indirect command buffer, of runners that are ours and may stand in one."""
    if target.device != NAME:
        return None
    runners = [x.runner for x in launches if isinstance(x.runner, MetalRunner) and x.runner.can_replay]
    return MetalGraph(launches, runners) if len(runners) == len(launches) else None
