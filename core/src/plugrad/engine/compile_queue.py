"""Compile kernels in another thread while more of them are lowered.

A compiler that runs as a process of its own leaves this one free. What waits when the run before has ended
goes into the next run, so that starting a compiler is paid for few times, and no processor waits for another.
When all are lowered, this thread compiles as well.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, cast

from plugrad._util import futures
from plugrad.device import OpenDevice
from plugrad.engine.plugin_errors import blaming_plugin, plugin_error
from plugrad.plugin.fields import show

Unit = tuple[str, str]
#: A library, and the seconds that it took: its share of a run for several.
Compiled = tuple[bytes, float]

# Shorter sources wait for more: starting a compiler costs as much as compiling them (with gcc 70 ms).
_LEAST_CHARACTERS = 12_000


class CompileQueue:
    """Sources that wait for a compiler; libraries come back in their order."""

    def __init__(self, device: OpenDevice, thread: futures.ThreadPoolExecutor | None) -> None:
        self._device = device
        self._thread = thread
        self._waiting: list[Unit] = []
        self._running: futures.Future[list[Compiled]] | None = None

    def put(self, unit: Unit) -> list[Compiled]:
        """Take a `(name, source)` unit to compile now or later; return compiled units.

        Raises:
            CompileError: the compiler refused a unit that was put before.
        """
        self._waiting.append(unit)
        done = self._collect() if self._running is not None and self._running.done() else []
        if self._running is None and _characters(self._waiting) >= _LEAST_CHARACTERS:
            self._start(len(self._waiting))
        return done

    def drain(self) -> list[Compiled]:
        """Compile what waits in this thread, beside the other one, and return the remaining results.

        Raises:
            CompileError: the compiler refused a unit.
        """
        if self._running is None and _characters(self._waiting) >= _LEAST_CHARACTERS:
            self._start(_half_of(self._waiting))
        rest: list[Compiled] = []
        try:
            if self._waiting:
                rest = compile_units(self._device, self._waiting)
        finally:
            # what the other thread was refused is said first
            first = self._collect()
        return first + rest

    def _start(self, count: int) -> None:
        """Compile the first `count` waiting units in the other thread, if there is one."""
        if self._thread is not None:
            # settings of the scope that asks hold in the thread as well
            run = copy_context().run
            self._running = self._thread.submit(run, compile_units, self._device, self._waiting[:count])
            self._waiting = self._waiting[count:]

    def _collect(self) -> list[Compiled]:
        run, self._running = self._running, None
        return [] if run is None else run.result()


def _characters(units: Sequence[Unit]) -> int:
    return sum(len(source) for _, source in units)


def _half_of(units: Sequence[Unit]) -> int:
    """Return the number of first units that have half of all characters."""
    half = _characters(units) / 2
    return next(count for count in range(len(units) + 1) if _characters(units[:count]) >= half)


@contextmanager
def compile_queue(device: OpenDevice, count: int) -> Generator[CompileQueue]:
    """Give a queue for `count` kernels.

    It works in another thread where the compiler allows and there are several.
    """
    if count == 1 or not getattr(device.compiler, "may_overlap", False):
        yield CompileQueue(device, None)
        return
    with futures.ThreadPoolExecutor(1, "plugrad-compile") as thread:
        yield CompileQueue(device, thread)


def compile_units(device: OpenDevice, units: Sequence[Unit]) -> list[Compiled]:
    """Compile units in one go.

    Raises:
        CompileError: the compiler refused one.
        PluginError: it gave something else than bytes.
    """
    started = time.perf_counter()
    with blaming_plugin(device, "plugrad_compiler", f"compiling {', '.join(name for name, _ in units)}"):
        returned: Any = device.compiler.compile_many(units)
    libs: list[object] = cast("list[object]", returned) if isinstance(returned, list) else []
    if len(libs) != len(units):
        got = show(cast(object, returned))
        what = f"compile_many must return a list of {len(units)}, one for each unit, got {got}"
        raise plugin_error(device, "plugrad_compiler", what, device.compiler)
    for lib in libs:
        if not isinstance(lib, bytes):
            what = f"compile must return bytes, got {show(lib)}"
            raise plugin_error(device, "plugrad_compiler", what, device.compiler)
    seconds = (time.perf_counter() - started) / len(units)
    return [(lib, seconds) for lib in cast("list[bytes]", libs)]
