"""Launch kernels: one call each, or one for each piece on threads of Python."""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from plugrad.runtime.program import Program
from plugrad_llvm.library import Library
from plugrad_llvm.machine import available_threads

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class LlvmRunner:
    """A loaded kernel, which has ended when its launch returns.

    Raises:
        DeviceError: the program's bytes are no kernel.
    """

    def __init__(self, program: Program) -> None:
        self._library = Library(program.lib, program.name)
        self._function = _FUNCTION(self._library.address)  # calls release the GIL
        self._slots = 1 + max((*program.outs, *program.ins), default=-1)
        self._buffers = ctypes.c_uint64 * self._slots
        self._values = ctypes.c_int64 * len(program.variables)
        self._others = range(1, program.threads)

    def __call__(
        self,
        handles: tuple[int, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Run the kernel to its end; return its seconds where `wait` asks for them."""
        # the last buffers may have been folded away; fresh arrays let threads launch one runner at a time
        buffers = self._buffers(*handles[: self._slots])
        piece = partial(self._function, buffers, self._values(*values))
        started = time.perf_counter()
        others = [_pool().submit(piece, i) for i in self._others]
        piece(0)
        for other in others:
            other.result()
        return time.perf_counter() - started if wait else None


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(available_threads() - 1 or 1, thread_name_prefix="plugrad-llvm")
