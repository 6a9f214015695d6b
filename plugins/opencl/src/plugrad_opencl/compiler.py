"""From OpenCL C to the bytes that the driver makes of it.

Several kernels go into one program where a schedule needs several: drivers take far longer to start on a
program than to compile one more kernel in it. All kernels of a program share its bytes, told apart by their
names.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from plugrad.errors import CompileError
from plugrad.runtime.compiler import Compiler
from plugrad.target import Target
from plugrad_opencl.context import Context, open_context
from plugrad_opencl.driver import opencl
from plugrad_opencl.settings import settings

Unit = tuple[str, str]

ABI_VERSION = 1  # of the functions the renderer writes; binaries of another version are another cache entry
KERNELS_IN_ONE_PROGRAM = 16


def compiler_flags(target: Target) -> tuple[str, ...]:
    """Return the options of every build: no liberties with floating point."""
    version = tuple(int(part) for part in target.get("c", "1.2").split("."))
    return (
        *(("-cl-std=CL1.2",) if version >= (1, 2) else ()),
        *(("-cl-fp32-correctly-rounded-divide-sqrt",) if target.get("divide") else ()),
        *(() if settings.OPENCL_OPTIMIZE else ("-cl-opt-disable",)),
        "-w",
    )


class OpenClCompiler(Compiler):
    """Compiles with the driver of one device.

    The bytes are an executable for it, or for drivers that are slow to give one (see `probe`) the compiled
    object, which the runner links.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.flags = compiler_flags(target)
        self.cache_key = "|".join(
            (
                f"abi{ABI_VERSION}",
                target.get("platform"),
                target.get("driver"),
                target.get("device"),
                target.arch,
                target.get("lib"),
                " ".join(self.flags),
            )
        )

    def compile(self, source: str, name: str) -> bytes:
        """Return the driver's binary of one source.

        Raises:
            CompileError: the driver refused; carries source, log and options.
            DeviceError: the driver failed in another way.
        """
        cl, context = opencl(), open_context(self.target)
        context.check()
        program: Any = cl._cl._Program(context.context, source)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pyopencl warns of every log that is not empty
                self._build(program, context)
        except cl.Error as error:
            log = build_log(program, context)
            if not log and error.code in (-2, -5, -6):
                raise context.failure(error, f"compiling {name}") from error
            raise CompileError(
                f"{self.target.name} ({self.target.get('platform')}) refused the kernel {name}",
                source=source,
                log=log or str(error),
                command=("clBuildProgram", *self.flags),
            ) from error
        return bytes(program.get_info(cl.program_info.BINARIES)[0])

    def compile_many(self, units: Sequence[Unit]) -> list[bytes]:
        """Return the binary of each `(name, source)` unit; units compiled together share the same bytes.

        Raises:
            CompileError: of the first unit that the driver refuses.
        """
        return self.compile_merged(units, KERNELS_IN_ONE_PROGRAM)

    def _build(self, program: Any, context: Context) -> None:
        flags = " ".join(self.flags).encode()
        if self.target.get("lib") == "object":
            program.compile(flags, [context.device])
        else:
            program._build(flags, [context.device])


def build_log(program: Any, context: Context) -> str:
    """Return the log of the driver's compiler."""
    cl = opencl()
    try:
        return str(program.get_build_info(context.device, cl.program_build_info.LOG) or "").strip("\n\0 ")
    except cl.Error:  # some drivers keep no log of a program that failed early
        return ""
