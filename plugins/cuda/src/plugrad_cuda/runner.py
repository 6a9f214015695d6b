"""Launch kernels on the stream, and wait only on request."""

import re
import struct
from collections.abc import Callable, Iterable
from typing import Any

from plugrad.errors import DeviceError
from plugrad.runtime.program import Program
from plugrad_cuda.context import Context
from plugrad_cuda.layout import ALIGNMENT, DYNAMIC_SHARED, UNALIGNED
from plugrad_cuda.native import ffi

_DYNAMIC_SHARED_BYTES = 8  # number of the attribute in the driver API (enum CUfunction_attribute)


class CudaRunner:
    """A loaded kernel. Blocks are addresses, and all arguments take 8 bytes.

    Args:
        context: the open device.
        program: the kernel.
        compile_unaligned: compiles the source once more, for blocks that do not begin where vectors may.

    Attributes:
        context: the device that it is loaded on.
        slots: of the blocks that are arguments, in their order; the variables follow.
        shared_bytes: what a launch asks for of shared memory.

    Raises:
        DeviceError: the driver does not take the image, or it has no kernel of that name.
    """

    __slots__ = (
        "_arguments",
        "_compile_unaligned",
        "_function",
        "_launch",
        "_modules",
        "_pack",
        "_parameters",
        "_unaligned",
        "_wide",
        "context",
        "name",
        "program",
        "shared_bytes",
        "slots",
    )

    def __init__(
        self, context: Context, program: Program, compile_unaligned: Callable[[str, str], bytes]
    ) -> None:
        self.name = program.name
        self.program = program
        self.context = context
        self._compile_unaligned = compile_unaligned
        self._modules: list[Any] = []
        self._launch = context.driver.library.cuLaunchKernel
        self.slots = sorted({*program.outs, *program.ins})
        count = len(self.slots) + len(program.variables)
        memory = ffi.new("long long[]", max(count, 1))
        self._arguments = ffi.buffer(memory)
        self._parameters = (ffi.new("void *[]", [memory + i for i in range(count)] or 1), memory)
        self._pack = struct.Struct(f"{len(self.slots)}Q{len(program.variables)}q").pack_into
        self.shared_bytes = _dynamic_shared_bytes(program.source)
        self._wide = UNALIGNED in program.source
        self._unaligned: Any = None
        self._function = self._load(program.lib)

    def __del__(self) -> None:
        for module in getattr(self, "_modules", ()):
            self.context.unload(module)

    def __call__(
        self,
        handles: tuple[int, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the kernel; return its seconds on the device where `wait` asks for them.

        Raises:
            DeviceError: the driver refused the launch, or the device is lost.
        """
        context = self.context
        blocks = [handles[slot] for slot in self.slots]
        function = self.function_for(blocks)
        gx, gy, gz = three(global_size)
        lx, ly, lz = three(local_size)
        with context.lock:
            context.enter()
            if wait:
                context.start_timer()
            self._pack(self._arguments, 0, *blocks, *values)
            context.launched.append((self.name,))
            status = self._launch(
                function,
                gx,
                gy,
                gz,
                lx,
                ly,
                lz,
                self.shared_bytes,
                context.stream,
                self._parameters[0],
                ffi.NULL,
            )
            if status:
                context.fail(status, f"launching {self.name} on {gx}x{gy}x{gz} blocks of {lx}x{ly}x{lz}")
            return context.stop_timer(f"running {self.name}") if wait else None

    def function_for(self, blocks: Iterable[int]) -> Any:
        """Return the driver's function for blocks at these addresses.

        Raises:
            CompileError: blocks at odd places need a binary that the compiler refuses.
        """
        if self._wide and any(block % ALIGNMENT for block in blocks):
            return self._load_unaligned()
        return self._function

    def _load(self, image: bytes) -> Any:
        context, library = self.context, self.context.driver.library
        module = context.load(image)
        self._modules.append(module)
        out = ffi.new("void **")
        if status := library.cuModuleGetFunction(out, module, self.name.encode()):
            what = context.driver.describe(status)
            raise DeviceError(
                f"the compiled image of {len(image)} bytes has no kernel {self.name!r}: {what}",
                device=context.target.name,
            )
        if self.shared_bytes:
            status = library.cuFuncSetAttribute(out[0], _DYNAMIC_SHARED_BYTES, self.shared_bytes)
            context.check(status, f"asking for {self.shared_bytes} bytes of shared memory for {self.name}")
        return out[0]

    def _load_unaligned(self) -> Any:
        with self.context.lock:
            if self._unaligned is None:
                self._unaligned = self._load(self._compile_unaligned(self.program.source, self.name))
            return self._unaligned


def three(size: tuple[int, ...]) -> tuple[int, int, int]:
    """Return a launch size in the three dimensions of the driver.

    Example:
        >>> three((8,))
        (8, 1, 1)
    """
    x, y, z = (*size, 1, 1, 1)[:3]
    return x, y, z


def _dynamic_shared_bytes(source: str) -> int:
    """Return the bytes of shared memory that a launch must ask for."""
    found = re.search(f"{DYNAMIC_SHARED}(\\d+)$", source, re.MULTILINE)
    return int(found[1]) if found else 0
