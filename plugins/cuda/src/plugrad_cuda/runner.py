"""Launch kernels: write the arguments, give the launch to the stream, and do not wait unless asked."""

import re
import struct
from collections.abc import Callable
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

    Raises:
        DeviceError: the driver does not take the image, or it has no kernel of that name.
    """

    __slots__ = (
        "_arguments",
        "_compile_unaligned",
        "_context",
        "_function",
        "_launch",
        "_modules",
        "_pack",
        "_parameters",
        "_shared_bytes",
        "_slots",
        "_unaligned",
        "_wide",
        "name",
        "program",
    )

    def __init__(
        self, context: Context, program: Program, compile_unaligned: Callable[[str, str], bytes]
    ) -> None:
        self.name = program.name
        self.program = program
        self._context = context
        self._compile_unaligned = compile_unaligned
        self._modules: list[Any] = []
        self._launch = context.driver.library.cuLaunchKernel
        self._slots = sorted({*program.outs, *program.ins})
        count = len(self._slots) + len(program.variables)
        memory = ffi.new("long long[]", max(count, 1))
        self._arguments = ffi.buffer(memory)
        self._parameters = (ffi.new("void *[]", [memory + i for i in range(count)] or 1), memory)
        self._pack = struct.Struct(f"{len(self._slots)}Q{len(program.variables)}q").pack_into
        self._shared_bytes = _dynamic_shared_bytes(program.source)
        self._wide = UNALIGNED in program.source
        self._unaligned: Any = None
        self._function = self._load(program.lib)

    def __del__(self) -> None:
        for module in getattr(self, "_modules", ()):
            self._context.unload(module)

    def __call__(
        self,
        handles: tuple[int, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the kernel; return the seconds it took on the device where `wait` asks for them.

        Raises:
            DeviceError: the driver refused the launch, or the device is lost.
        """
        context = self._context
        blocks = [handles[slot] for slot in self._slots]
        function = self._function
        if self._wide and any(block % ALIGNMENT for block in blocks):
            function = self._load_unaligned()
        gx, gy, gz = (*global_size, 1, 1, 1)[:3]
        lx, ly, lz = (*local_size, 1, 1, 1)[:3]
        with context.lock:
            context.enter()
            if wait:
                self._mark(0)
            self._pack(self._arguments, 0, *blocks, *values)
            context.launched.append(self.name)
            status = self._launch(
                function,
                gx,
                gy,
                gz,
                lx,
                ly,
                lz,
                self._shared_bytes,
                context.stream,
                self._parameters[0],
                ffi.NULL,
            )
            if status:
                context.fail(status, f"launching {self.name} on {gx}x{gy}x{gz} blocks of {lx}x{ly}x{lz}")
            return self._finish() if wait else None

    def _mark(self, number: int) -> None:
        context = self._context
        context.check(
            context.driver.library.cuEventRecord(context.timers[number], context.stream), "timing a kernel"
        )

    def _finish(self) -> float:
        context, doing = self._context, f"running {self.name}"
        self._mark(1)
        context.wait_for(context.timers[1], doing)
        context.launched.clear()
        milliseconds = ffi.new("float *")
        status = context.driver.library.cuEventElapsedTime(milliseconds, *context.timers)
        context.check(status, doing)
        return float(milliseconds[0]) * 1e-3

    def _load(self, image: bytes) -> Any:
        context, library = self._context, self._context.driver.library
        module = context.load(image)
        self._modules.append(module)
        out = ffi.new("void **")
        if status := library.cuModuleGetFunction(out, module, self.name.encode()):
            what = context.driver.describe(status)
            raise DeviceError(
                f"the compiled image of {len(image)} bytes has no kernel {self.name!r}: {what}",
                device=context.target.name,
            )
        if self._shared_bytes:
            status = library.cuFuncSetAttribute(out[0], _DYNAMIC_SHARED_BYTES, self._shared_bytes)
            context.check(status, f"asking for {self._shared_bytes} bytes of shared memory for {self.name}")
        return out[0]

    def _load_unaligned(self) -> Any:
        with self._context.lock:
            if self._unaligned is None:
                self._unaligned = self._load(self._compile_unaligned(self.program.source, self.name))
            return self._unaligned


def _dynamic_shared_bytes(source: str) -> int:
    """Return how much shared memory a launch must ask for."""
    found = re.search(f"{DYNAMIC_SHARED}(\\d+)$", source, re.MULTILINE)
    return int(found[1]) if found else 0
