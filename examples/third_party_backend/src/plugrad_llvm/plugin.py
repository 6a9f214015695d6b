"""The hooks through which plugrad finds and opens LLVM."""

from plugrad.errors import DeviceNotFound
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_llvm.allocator import HostAllocator
from plugrad_llvm.compiler import LlvmCompiler
from plugrad_llvm.llvm import NAME, REMEDY, llvm
from plugrad_llvm.machine import available_threads, this_machine
from plugrad_llvm.renderer import LlvmRenderer
from plugrad_llvm.runner import LlvmRunner


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Return the name and version of this backend."""
    return BackendInfo(
        name=NAME,
        spec_version="1.0",
        priority=4,  # below the CPU's own backend, whose threads are native
        summary="the processor this runs on: LLVM in this process, by llvmlite",
    )


@hookimpl
def plugrad_probe() -> Probe:
    """There is one device wherever llvmlite loads."""
    try:
        version = ".".join(map(str, llvm().llvm_version_info))
    except DeviceNotFound as missing:
        return Probe(reason=str(missing).removesuffix(REMEDY).strip(), remedy=REMEDY)
    machine = this_machine()
    # all that the renderer has to know, so that it needs no LLVM
    detail = {
        "float16": "1" if machine.converts_halves else "",
        "threads": str(available_threads()),
        "vector_bits": str(machine.vector_bits),
        "vector_registers": str(machine.vector_registers),
    }
    target = Target(NAME, arch=machine.arch, detail=tuple(sorted(detail.items())))
    return Probe(
        (ProbedDevice(target, f"LLVM {version}", notes=(("threads", detail["threads"]),)),), any_index=True
    )


@hookimpl
def plugrad_allocator(target: Target) -> HostAllocator | None:
    """Open the host's memory."""
    return HostAllocator() if target.device == NAME else None


@hookimpl
def plugrad_renderer(target: Target) -> LlvmRenderer | None:
    """Return the renderer of LLVM IR."""
    return LlvmRenderer(target) if target.device == NAME else None


@hookimpl
def plugrad_compiler(target: Target) -> LlvmCompiler | None:
    """Return LLVM."""
    return LlvmCompiler() if target.device == NAME else None


@hookimpl
def plugrad_runner(target: Target, program: Program) -> LlvmRunner | None:
    """Load a kernel."""
    return LlvmRunner(program) if target.device == NAME else None
