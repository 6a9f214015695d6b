"""The hooks through which plugrad finds and opens Apple's GPUs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad._util import LazyModule
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_metal.probe import NAME, look

if TYPE_CHECKING:
    from plugrad_metal import allocator, compiler, context, graph, renderer, runner
else:
    # every process that looks for devices imports this module, and few find one here
    allocator, compiler, context, graph, renderer, runner = (
        LazyModule(f"plugrad_metal.{name}")
        for name in ("allocator", "compiler", "context", "graph", "renderer", "runner")
    )


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
def plugrad_allocator(target: Target) -> "allocator.MetalAllocator | None":
    """Open the GPU's memory."""
    if target.device != NAME:
        return None
    return allocator.MetalAllocator(context.open_context(target), int(target.get("memory_bytes") or 0))


@hookimpl
def plugrad_renderer(target: Target) -> "renderer.MetalRenderer | None":
    """Return the MSL renderer."""
    return renderer.MetalRenderer(target) if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> "compiler.MetalCompiler | None":
    """Return the system's compiler."""
    return compiler.MetalCompiler(target) if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> "runner.MetalRunner | None":
    """Load a kernel."""
    return runner.MetalRunner(context.open_context(target), program) if target.device == NAME else None


@hookimpl
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> "graph.MetalGraph | None":
    """Prepare an indirect command buffer, of runners that are ours and may stand in one."""
    if target.device != NAME:
        return None
    runners = [x.runner for x in launches if isinstance(x.runner, runner.MetalRunner) and x.runner.can_replay]
    return graph.MetalGraph(launches, runners) if len(runners) == len(launches) else None
