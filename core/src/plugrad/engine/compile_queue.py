"""Compile kernels in another thread while more of them are lowered.

A compiler that runs as a process of its own leaves this one free. A run takes what waits, so that starting a
compiler is paid for few times, but about half of what is left at most, so that both threads end at the same
time. When all are lowered, this thread compiles as well.
"""

from __future__ import annotations

import threading
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
# To share what is less than this costs more for another start than one thread waits for the other.
_LEAST_SHARE = 4 * _LEAST_CHARACTERS


class CompileQueue:
    """Sources that wait for a compiler; libraries come back in their order."""

    def __init__(self, device: OpenDevice, thread: futures.ThreadPoolExecutor | None, count: int) -> None:
        self._device = device
        self._thread = thread
        self._count = count
        self._units: list[Unit] = []
        self._taken = 0
        self._compiled: dict[int, Compiled] = {}
        self._returned = 0
        self._lock = threading.Lock()
        self._running: futures.Future[None] | None = None

    def put(self, unit: Unit) -> list[Compiled]:
        """Take a `(name, source)` unit to compile now or later; return compiled units."""
        self._units.append(unit)
        if self._running is not None and self._running.done():
            self._join()
        self._start()
        return self._finished()

    def drain(self) -> list[Compiled]:
        """Compile what waits in this thread, beside the other one, and return the remaining results."""
        self._start()
        try:
            self._compile(self._take(1), 1)
        finally:
            # what the other thread was refused is said first
            self._join()
        return self._finished()

    def _start(self) -> None:
        """Compile in the other thread, if there is one that is idle, and enough waits."""
        if self._thread is not None and self._running is None and (span := self._take(_LEAST_CHARACTERS)):
            # settings of the scope that asks hold in the thread as well
            run = copy_context().run
            self._running = self._thread.submit(run, self._compile, span, _LEAST_CHARACTERS)

    def _join(self) -> None:
        run, self._running = self._running, None
        if run is not None:
            run.result()

    def _compile(self, span: range, least: int) -> None:
        """Compile these units, then others for as long as `least` characters wait."""
        while span:
            libs = compile_units(self._device, self._units[span.start : span.stop])
            self._compiled.update(zip(span, libs, strict=True))
            span = self._take(least)

    def _take(self, least: int) -> range:
        """Return the next units to compile, none where fewer than `least` characters wait."""
        with self._lock:
            first, known = self._taken, len(self._units)
            waiting = _characters(self._units[first:])
            coming = _characters(self._units) * (self._count - known) / max(known, 1)
            share = max((waiting + coming) / 2, _LEAST_SHARE)
            while waiting >= least and self._taken < known and share > 0:
                share -= len(self._units[self._taken][1])
                self._taken += 1
            return range(first, self._taken)

    def _finished(self) -> list[Compiled]:
        """Return the next results in order, as far as all before them are there."""
        out: list[Compiled] = []
        while self._returned in self._compiled:
            out.append(self._compiled.pop(self._returned))
            self._returned += 1
        return out


def _characters(units: Sequence[Unit]) -> int:
    return sum(len(source) for _, source in units)


@contextmanager
def compile_queue(device: OpenDevice, count: int) -> Generator[CompileQueue]:
    """Give a queue for `count` kernels.

    It works in another thread where the compiler allows and there are several.
    """
    if count == 1 or not getattr(device.compiler, "may_overlap", False):
        yield CompileQueue(device, None, count)
        return
    with futures.ThreadPoolExecutor(1, "plugrad-compile") as thread:
        yield CompileQueue(device, thread, count)


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
