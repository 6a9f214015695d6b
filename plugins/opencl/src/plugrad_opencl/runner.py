"""Launch kernels: set the arguments, enqueue, and do not wait unless asked."""

import struct
import threading
import warnings
import weakref
from functools import cache
from typing import Any

from plugrad.runtime.program import Program
from plugrad_opencl.allocator import Block
from plugrad_opencl.context import Context
from plugrad_opencl.driver import opencl

_pack_shift = struct.Struct("I").pack
_pack_value = struct.Struct("q").pack


class OpenClRunner:
    """A loaded kernel.

    Its arguments are the buffers by slot, then the variables, then for each buffer the byte it begins at.
    Launches return at once, and take effect in their order.

    Raises:
        DeviceError: the driver does not take the program, or it has no kernel of that name.
    """

    __slots__ = (
        "_context",
        "_enqueue",
        "_kernel",
        "_program",
        "_shifts",
        "_slots",
        "_variables",
        "name",
        "threads",
    )

    def __init__(self, context: Context, program: Program) -> None:
        cl = opencl()
        context.check()
        self.name = program.name
        self.threads = program.threads
        self._context = context
        self._enqueue = cl.enqueue_nd_range_kernel
        self._slots = sorted({*program.outs, *program.ins})
        self._variables = len(program.variables)
        self._shifts: list[int | None] = [None] * len(self._slots)
        self._program = load_program(context, program.lib)
        try:
            self._kernel: Any = cl.Kernel(self._program.handle, program.name)
        except cl.Error as error:
            raise context.failure(error, f"looking for the kernel {program.name}") from error

    def __call__(
        self,
        handles: tuple[Block, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Enqueue the kernel; return its seconds on the device where `wait` asks for them.

        Raises:
            DeviceOutOfMemory: the driver found no room for a buffer that was not on the device yet.
            DeviceError: it refused the launch, or the device is lost.
        """
        context = self._context
        context.check()
        groups, items = launch_size(global_size, local_size, self.threads)
        try:
            with context.lock:
                self._set_arguments(handles, values)
                event = self._enqueue(context.queue, self._kernel, groups, items)
                context.queue.flush()
            if not wait:
                return None
            event.wait()
            return (event.profile.end - event.profile.start) * 1e-9
        except opencl().Error as error:
            raise context.failure(error, f"launching {self.name}") from error

    def _set_arguments(self, handles: tuple[Block, ...], values: tuple[int, ...]) -> None:
        set_arg, count = self._kernel.set_arg, len(self._slots)
        for position, slot in enumerate(self._slots):
            set_arg(position, handles[slot].buffer)
        for position, value in enumerate(values, count):
            set_arg(position, _pack_value(value))
        first = count + self._variables
        for position, slot in enumerate(self._slots):
            shift = handles[slot].shift
            if shift != self._shifts[position]:
                set_arg(first + position, _pack_shift(shift))
                self._shifts[position] = shift


@cache
def launch_size(
    groups: tuple[int, ...], group: tuple[int, ...], threads: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return OpenCL's global and local size: work-items in all, and in one group.

    A THREAD axis is launched as so many groups of one.

    Example:
        >>> launch_size((4, 2), (64,), 1)
        ((256, 2), (64, 1))
        >>> launch_size((), (), 8)
        ((8,), (1,))
    """
    if not groups and not group:
        return (threads,), (1,)
    dims = max(len(groups), len(group))
    outer = (*groups, *(1,) * (dims - len(groups)))
    inner = (*group, *(1,) * (dims - len(group)))
    return tuple(a * b for a, b in zip(outer, inner, strict=True)), inner


class LoadedProgram:
    """The driver's program; it is released with the last kernel of it."""

    __slots__ = ("__weakref__", "handle")

    def __init__(self, handle: Any) -> None:
        self.handle = handle


_loaded: "weakref.WeakValueDictionary[tuple[int, bytes], LoadedProgram]" = weakref.WeakValueDictionary()
_loading = threading.Lock()


def load_program(context: Context, lib: bytes) -> LoadedProgram:
    """Return the driver's program of these bytes, linked; kernels that were compiled together share it.

    Raises:
        DeviceError: the driver does not take them.
    """
    key = (context.target.index, lib)
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyopencl warns of every log that is not empty
        loaded = _loaded.get(key)
        if loaded is None:
            loaded = _loaded[key] = LoadedProgram(_link(context, lib))
        return loaded


def _link(context: Context, lib: bytes) -> Any:
    cl = opencl()
    try:
        program = cl._cl._Program(context.context, [context.device], [lib])
        kind = program.get_build_info(context.device, cl.program_build_info.BINARY_TYPE)
        if kind == cl.program_binary_type.COMPILED_OBJECT:
            return cl._cl._Program.link(context.context, [program], b"", [context.device])
        program._build(b"", [context.device])
    except cl.Error as error:
        raise context.failure(error, f"loading a program of {len(lib)} bytes") from error
    return program
