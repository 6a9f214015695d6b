"""NULL: a device that compiles everything and runs nothing.

For looking at what would run: schedules, kernels, opts and sources of any model come out as on a GPU, in no
time and without memory. Reading a tensor back is refused, since no value was ever computed.
"""

from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import STORABLE
from plugrad.errors import DeviceError
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.renderer.base import Renderer
from plugrad.renderer.cstyle import CStyleRenderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.target import Capabilities, Evidence, Target

#: Shaped like a GPU, so that launch grids, workgroups and shared memory show in what is compiled for it.
CAPABILITIES = Capabilities(
    storage_dtypes=frozenset(STORABLE),
    compute_dtypes=frozenset(STORABLE),
    grid_dims=3,
    max_grid=(2**31 - 1, 65535, 65535),
    max_workgroup=1024,
    max_workgroup_dims=(1024, 1024, 64),
    local_memory_bytes=48 << 10,
    native_ops=frozenset(
        {
            "EXP",
            "EXP2",
            "LOG2",
            "SIN",
            "COS",
            "SQRT",
            "RECIP",
            "TRUNC",
            "MAX",
            "MULACC",
            "WHERE",
            "FDIV",
            "FMOD",
        }
    ),
)


@frozen
class NullBlock:
    """The name of memory that does not exist."""

    nbytes: int
    offset_bytes: int = 0


class NullAllocator(Allocator[NullBlock]):
    """Hands out names; what is copied in is forgotten."""

    def alloc(self, nbytes: int) -> NullBlock:
        """Return a name for `nbytes`, as many as one likes."""
        return NullBlock(nbytes)

    def free(self, handle: NullBlock, nbytes: int) -> None:
        """Do nothing."""

    def copyin(self, handle: NullBlock, source: memoryview) -> None:
        """Do nothing."""

    def copyout(self, dest: memoryview, handle: NullBlock) -> None:
        """Refuse: there is no value to read."""
        raise DeviceError(
            f"cannot read {len(dest)} bytes back: this device runs nothing, so there are no values. Compute "
            "on another device to see them.",
            device="NULL",
        )

    def offset(self, handle: NullBlock, nbytes: int, offset_bytes: int) -> NullBlock:
        """Return a name for a part."""
        return NullBlock(nbytes, handle.offset_bytes + offset_bytes)


class NullRenderer(CStyleRenderer):
    """C with the launch positions, workgroup memory and barriers of a GPU that exists nowhere."""

    local_prefix = "__local "
    barrier = "barrier();"

    def workitem(self, name: str) -> str:
        """Return a call by the node's name: "gidx0()"."""
        return f"{name}()"


class NullCompiler(Compiler):
    """The binary is the source."""

    cache_key = "null-1"

    def compile(self, source: str, name: str) -> bytes:
        """Return the source in bytes."""
        return source.encode()


class NullRunner:
    """Runs nothing, at once."""

    def __call__(
        self,
        handles: tuple[Any, ...],
        values: tuple[int, ...],
        global_size: tuple[int, ...],
        local_size: tuple[int, ...],
        wait: bool = False,
    ) -> float | None:
        """Return the time that nothing takes."""
        return 0.0 if wait else None


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Never chosen automatically: it computes nothing."""
    return BackendInfo("NULL", spec_version="1.0", priority=-1, summary="compiles everything, runs nothing")


@hookimpl
def plugrad_probe() -> Probe:
    """Always there, as many as one likes."""
    device = ProbedDevice(Target("NULL"), "no device", Evidence.E0)
    return Probe((device,), any_index=True)


@hookimpl
def plugrad_allocator(target: Target) -> Allocator[Any]:
    """Memory without limits."""
    return NullAllocator()


@hookimpl
def plugrad_renderer(target: Target) -> Renderer:
    """C as GPUs speak it."""
    return NullRenderer(CAPABILITIES)


@hookimpl
def plugrad_compiler(target: Target) -> Compiler:
    """Nothing to compile."""
    return NullCompiler()


@hookimpl
def plugrad_runner(target: Target, program: Program) -> Runner:
    """Nothing to load."""
    return NullRunner()
