"""The hooks through which plugrad finds and opens the CPU."""

from collections.abc import Sequence
from functools import cache

from plugrad.errors import DeviceNotFound
from plugrad.plugin.backend import BackendInfo, Probe, ProbedDevice
from plugrad.plugin.hookspecs import hookimpl
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_cpu_clang.allocator import CpuAllocator
from plugrad_cpu_clang.compiler import CpuCompiler
from plugrad_cpu_clang.machine import available_threads, this_machine
from plugrad_cpu_clang.pool import prepare_pool
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner, LaunchList
from plugrad_cpu_clang.toolchain import Choice, choose_toolchain, forget_choices, install_hint

NAME = "CPU"


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Return the name, the spec version and the priority of this backend."""
    return BackendInfo(
        name=NAME,
        spec_version="1.1",
        priority=10,  # every accelerator is above the CPU
        aliases=("CLANG",),
        summary="the processor this runs on: C compiled by clang, gcc or zig",
    )


@hookimpl
def plugrad_probe() -> Probe:
    """Find a compiler; without one there is no device.

    Raises:
        SettingsError: `PLUGRAD_CC` names one that cannot be used.
    """
    forget_choices()
    try:
        choice = choose_toolchain()
    except DeviceNotFound as missing:
        remedy = install_hint()
        return Probe(reason=str(missing).removesuffix(remedy).rstrip(), remedy=remedy)
    machine = this_machine()
    target = Target(NAME, arch=machine.arch)
    return Probe((ProbedDevice(target, description=machine.model, notes=_notes(choice)),))


@hookimpl
def plugrad_allocator(target: Target) -> CpuAllocator | None:
    """Open the host's memory."""
    return CpuAllocator() if target.device == NAME else None


@hookimpl
def plugrad_renderer(target: Target) -> CpuRenderer | None:
    """Return the C renderer of this machine."""
    return CpuRenderer() if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> CpuCompiler | None:
    """Return the best compiler found."""
    if target.device != NAME:
        return None
    prepare_pool()
    return CpuCompiler(choose_toolchain().toolchain)


@hookimpl
def plugrad_runner(target: Target, program: Program) -> CpuRunner | None:
    """Load a kernel."""
    return CpuRunner(program) if target.device == NAME else None


@hookimpl
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> LaunchList | None:
    """Prepare a list of our own runners for one native call."""
    if target.device != NAME or not all(isinstance(launch.runner, CpuRunner) for launch in launches):
        return None
    return LaunchList(launches)


@cache
def _width() -> str:
    machine = this_machine()
    return f"{machine.vector_bits} bits, {machine.vector_registers} registers"


def _notes(choice: Choice) -> tuple[tuple[str, str], ...]:
    others = "; ".join(f"{t.name} ({t.problem})" if t.problem else t.name for t in choice.others)
    return (
        ("compiler", f"{choice.toolchain.name} ({' '.join(choice.toolchain.command)})"),
        ("why", choice.reason),
        *((("others", others),) if others else ()),
        ("threads", str(available_threads())),
        ("vectors", _width()),
    )
