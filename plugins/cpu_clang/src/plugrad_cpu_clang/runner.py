"""Launch compiled kernels: one call into native code each, or one for a prepared list."""

import struct
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad_cpu_clang._native import ffi
from plugrad_cpu_clang.library import load_library
from plugrad_cpu_clang.pool import pool


class CpuRunner:
    """A loaded kernel. Blocks are addresses; the THREAD axis runs on the pool.

    Arguments travel as fresh packed bytes, so threads may launch one runner at the same time.

    Raises:
        DeviceError: the library does not load, or has no kernel of that name.
    """

    __slots__ = (
        "_launch",
        "_library",
        "_pack",
        "_slots",
        "address",
        "name",
        "threads",
    )

    def __init__(self, program: Program) -> None:
        self.name = program.name
        self.threads = program.threads
        self._library = load_library(program.lib)
        self.address = self._library.address(program.name)
        self._launch = pool().plugrad_launch
        self._slots = 1 + max((*program.outs, *program.ins), default=-1)
        # `struct packed_launch` of pool.c
        layout = struct.Struct(f"Qqq{self._slots}Q{len(program.variables)}q")
        self._pack = partial(layout.pack, self.address, self.threads, self._slots)

    def __call__(
        self,
        handles: tuple[int, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Run the kernel to its end; return its seconds where `wait` asks for them.

        Those of a kernel of one thread are at most its processor time, without what else the machine does.
        """
        if len(handles) > self._slots:
            # the kernel has folded away the last buffers that it is launched with
            handles = handles[: self._slots]
        words = self._pack(*(handles + values))
        if not wait:
            self._launch(words)
            return None
        started = time.thread_time()
        seconds = self._launch(words)
        # to ask for a thread's time takes a microsecond, which counts where nothing else ran meanwhile
        return min(seconds, time.thread_time() - started) if self.threads == 1 else seconds


class LaunchList:
    """Kernels to run one after the other, prepared once and run by one native call.

    Args:
        launches: the kernels, all `CpuRunner`s, with their first blocks and values.

    Blocks and values can be exchanged between runs. One thread at a time may change or run a list.

    Example:
        >>> launches = LaunchList([GraphLaunch(runner, (out, a), (), (), ())])
        >>> launches.set_handle(0, 1, other)
        >>> launches()
    """

    def __init__(self, launches: Sequence[GraphLaunch]) -> None:
        self._runners: list[Any] = [launch.runner for launch in launches]
        self._handles: Any = [ffi.new("uintptr_t[]", list(launch.handles) or 1) for launch in launches]
        self._values: Any = [ffi.new("long long[]", list(launch.values) or 1) for launch in launches]
        self._entries: Any = ffi.new("plugrad_launch_entry[]", len(launches))
        for entry, runner, handles, values in zip(
            self._entries, self._runners, self._handles, self._values, strict=True
        ):
            entry.function = ffi.cast("void *", runner.address)
            entry.bufs = handles
            entry.vals = values
            entry.pieces = runner.threads
        self._launch_many = pool().plugrad_launch_many

    def __len__(self) -> int:
        return len(self._runners)

    def set_handle(self, launch: int, slot: int, handle: int) -> None:
        """Use another block in one slot of one launch."""
        self._handles[launch][slot] = handle

    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Use other values for the variables of one launch; it has no workgroups."""
        self._values[launch][0 : len(values)] = values

    def __call__(self, wait: bool = False) -> float | None:
        """Run all; return the seconds they took where `wait` asks for them."""
        seconds = self._launch_many(self._entries, len(self._runners))
        return seconds if wait else None
