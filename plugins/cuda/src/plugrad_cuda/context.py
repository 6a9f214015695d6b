"""Open a device: its primary context, its one stream, and memory for copies.

Launches and copies of a device go to one stream, so they take effect in the order of their calls. A fault in
a kernel is noticed by a later call; the kernels launched since the last one that went well are named then.
"""

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from plugrad.errors import DeviceError
from plugrad.target import Target
from plugrad_cuda.driver import DeviceLost, Driver, driver
from plugrad_cuda.memory.pool import make_pool
from plugrad_cuda.native import ffi

STAGING_BYTES = 4 << 20  # of each of the two pieces of page-locked memory
_RECENT = 16  # launches whose kernels are named when one of them failed
_STREAM_NON_BLOCKING = 1
_WITHOUT_TIME = 2  # of an event, which makes waiting for it faster


class Context:
    """The state that allocator and runners of one device share.

    Attributes:
        target: which device.
        driver: the driver.
        handle: the driver's name for the context.
        process: who opened it; a driver does not survive a fork.
        stream: the stream of all copies and launches.
        pool: the driver's pool that memory is from; None where the device has none.
        lock: held while arguments are set and work is given to the stream.
        signal: the event that streams of other devices wait for.
        reaches: whether this device can read the memory of another, by index; what is known so far.
        launched: the names of the kernels in each launch since the last call that showed them to be done.

    Raises:
        DeviceError: the driver does not open the device.
    """

    def __init__(self, target: Target, opened: Driver) -> None:
        self.target = target
        self.driver = opened
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.launched: deque[tuple[str, ...]] = deque(maxlen=_RECENT)
        self._lost = ""
        self._modules: list[Any] = []
        self._graphs: dict[Any, Any] = {}
        self._blocks: set[int] = set()
        self._returned: deque[tuple[Callable[[Any], None], Any]] = deque()
        library = opened.library
        out = ffi.new("void **")
        opened.check(library.cuDevicePrimaryCtxRetain(out, target.index), "opening it", target.name)
        self.handle = out[0]
        self.enter()
        self.stream: Any = self.made(library.cuStreamCreate, _STREAM_NON_BLOCKING)
        self.timers = (self.made(library.cuEventCreate, 0), self.made(library.cuEventCreate, 0))
        self.signal = self.made(library.cuEventCreate, _WITHOUT_TIME)
        self.reaches: dict[int, bool] = {}
        self.staging: tuple[Staging, Staging] | None = None
        keep_bytes = int(target.get("memory_bytes") or 0) // 2 or 4 << 30
        self.pool = make_pool(opened, target.index, self.stream, keep_bytes)

    def enter(self) -> None:
        """Make this the context of the calling thread: other libraries may have changed it.

        Raises:
            DeviceLost: the device failed before; says what happened.
        """
        if self._lost:
            raise DeviceLost(self._lost, device=self.target.name)
        if status := self.driver.library.cuCtxSetCurrent(self.handle):
            self.fail(status, "using it")

    def check(self, status: int, doing: str, nbytes: int = 0) -> None:
        """Do nothing for success; raise for any other status."""
        if status:
            self.fail(status, doing, nbytes)

    def fail(self, status: int, doing: str, nbytes: int = 0) -> NoReturn:
        """Raise plugrad's error for a status, and remember a lost device.

        Raises:
            DeviceError: always.
        """
        raise self._failure(status, doing, nbytes)

    def synchronize(self) -> None:
        """Return when all that was given to the stream is done.

        Raises:
            DeviceError: some of it failed.
        """
        self.enter()
        self.check(self.driver.library.cuStreamSynchronize(self.stream), "waiting for it")
        self.launched.clear()

    def wait_for(self, event: Any, doing: str) -> None:
        """Return when an event has come to pass."""
        self.check(self.driver.library.cuEventSynchronize(event), doing)

    def start_timer(self) -> None:
        """Note the time at which the stream gets here."""
        self._mark(0)

    def stop_timer(self, doing: str) -> float:
        """Wait for the stream; return the seconds since the timer was started.

        Raises:
            DeviceError: what ran in between failed.
        """
        self._mark(1)
        self.wait_for(self.timers[1], doing)
        self.launched.clear()
        milliseconds = ffi.new("float *")
        self.check(self.driver.library.cuEventElapsedTime(milliseconds, *self.timers), doing)
        return float(milliseconds[0]) * 1e-3

    def staged(self) -> "tuple[Staging, Staging]":
        """Return the page-locked memory that copies alternate between; allocated by the first copy."""
        if self.staging is None:
            self.staging = (Staging(self), Staging(self))
        return self.staging

    def alloc(self, nbytes: int) -> int:
        """Return the address of new memory.

        Raises:
            DeviceOutOfMemory: there is none left.
        """
        with self.lock:
            self.enter()
            self._release_returned()
            out = ffi.new("unsigned long long *")
            pool, library = self.pool, self.driver.library
            status = library.cuMemAlloc_v2(out, nbytes) if pool is None else pool.alloc(out, nbytes)
            self.check(status, f"allocating {nbytes} bytes", nbytes)
            self._blocks.add(int(out[0]))
            return int(out[0])

    def free(self, address: int) -> None:
        """Free memory after its last use, by a pool in stream order, else by waiting."""
        self._give_back(self._free, address)

    def trim(self) -> None:
        """Give memory that nobody uses back to the device."""
        with self.lock:
            self._release_returned()
            if self.pool is not None:
                self.enter()
                self.check(self.pool.trim(), "giving memory back")

    def load(self, image: bytes) -> Any:
        """Return the driver's module of a compiled image.

        Raises:
            DeviceError: the driver does not take it.
        """
        with self.lock:
            self.enter()
            module = self.made(
                self.driver.library.cuModuleLoadData, ffi.from_buffer(image), doing="loading a kernel"
            )
            self._modules.append(module)
            return module

    def unload(self, module: Any) -> None:
        """Forget a module, after what was launched of it is done."""
        self._give_back(self._unload, module)

    def keep_graph(self, graph: Any, ready: Any = None) -> None:
        """Destroy a graph and its instance when the device closes, or by `drop_graph`."""
        self._graphs[graph] = ready

    def drop_graph(self, graph: Any) -> None:
        """Destroy a graph and its instance; the driver waits for the last run."""
        self._give_back(self._destroy, graph)

    def close(self) -> None:
        """Give everything back to the driver; nothing can be done with the device afterwards."""
        with self.lock:
            if self._lost:
                return
            library = self.driver.library
            library.cuCtxSetCurrent(self.handle)
            library.cuStreamSynchronize(self.stream)
            for graph in list(self._graphs):
                self._destroy(graph)
            for module in self._modules:
                library.cuModuleUnload(module)
            for address in self._blocks:
                library.cuMemFree_v2(address)
            if self.pool is not None:
                self.pool.close()
            for piece in self.staging or ():
                piece.close(library)
            for event in (*self.timers, self.signal):
                library.cuEventDestroy_v2(event)
            library.cuStreamDestroy_v2(self.stream)
            library.cuDevicePrimaryCtxRelease_v2(self.target.index)
            self._lost = f"{self.target.name} was closed at the end of the process"

    def made(self, make: Any, *arguments: Any, doing: str = "opening it") -> Any:
        """Return the value that a driver function stores through its first argument."""
        out = ffi.new("void **")
        self.check(make(out, *arguments), doing)
        return out[0]

    def _failure(self, status: int, doing: str, nbytes: int = 0) -> DeviceError:
        """Return plugrad's error for a status, and remember a lost device."""
        error = self.driver.failure(status, doing, self.target.name, nbytes)
        if not isinstance(error, DeviceLost):
            return error
        self._lost = self._explain(str(error))
        return DeviceLost(self._lost, device=self.target.name)

    def _give_back(self, release: Callable[[Any], None], thing: Any) -> None:
        """Release something now, or before the next allocation if another thread is using the device.

        This happens in garbage collections, at any line of any thread: nobody waits for a lock, and the
        thread's context stays what it was. A loss that shows here is told by the next call.
        """
        self._returned.append((release, thing))
        if self.lock.acquire(blocking=False):
            try:
                self._release_returned()
            finally:
                self.lock.release()

    def _release_returned(self) -> None:
        if self._lost or not self._returned:
            return  # a lost device holds nothing
        if status := self.driver.library.cuCtxPushCurrent_v2(self.handle):
            self._failure(status, "using it")
            return
        try:
            while self._returned and not self._lost:
                release, thing = self._returned.popleft()
                release(thing)
        finally:
            self.driver.library.cuCtxPopCurrent_v2(ffi.new("void **"))

    def _free(self, address: int) -> None:
        self._blocks.discard(address)
        pool, library = self.pool, self.driver.library
        status = library.cuMemFree_v2(address) if pool is None else pool.free(address)
        error = self._failure(status, "freeing memory") if status else None
        if error is not None and not isinstance(error, DeviceLost):
            raise error

    def _unload(self, module: Any) -> None:
        if module in self._modules:
            self.driver.library.cuStreamSynchronize(self.stream)
            self._modules.remove(module)
            self.driver.library.cuModuleUnload(module)

    def _destroy(self, graph: Any) -> None:
        if graph not in self._graphs:
            return
        ready = self._graphs.pop(graph)
        if ready is not None:
            self.driver.library.cuGraphExecDestroy(ready)
        self.driver.library.cuGraphDestroy(graph)

    def _mark(self, number: int) -> None:
        self.check(self.driver.library.cuEventRecord(self.timers[number], self.stream), "timing a kernel")

    def _explain(self, what: str) -> str:
        names = list(dict.fromkeys(name for launch in self.launched for name in launch))
        if len(self.launched) == _RECENT:
            blame = f"The kernel at fault is one of {', '.join(names)} (the latest last), or an earlier one."
        elif len(names) == 1:
            blame = f"The kernel at fault is {names[0]}."
        elif names:
            blame = f"The kernel at fault is one of {', '.join(names)} (the latest last)."
        else:
            blame = "No kernel was launched since the last call that went well."
        return (
            f"{what}. {blame} The driver runs nothing more on this device in this process, and what its "
            "memory held is lost. Restart the process; DEBUG=4 shows the kernels' source."
        )


class Staging:
    """A piece of page-locked memory, and the event after which it can be used again."""

    def __init__(self, context: Context) -> None:
        library = context.driver.library
        self.event = context.made(library.cuEventCreate, _WITHOUT_TIME)
        self.memory = context.made(
            library.cuMemAllocHost_v2, STAGING_BYTES, doing="allocating page-locked memory"
        )

    def close(self, library: Any) -> None:
        """Give it back."""
        library.cuEventDestroy_v2(self.event)
        library.cuMemFreeHost(self.memory)


_open: dict[int, Context] = {}
_opening = threading.Lock()


def open_context(target: Target) -> Context:
    """Return the context of a target, the same for all who ask.

    Raises:
        DeviceNotFound: there is no driver.
        DeviceError: the device cannot be opened.
        ForkError: this process was forked after its parent had looked for devices.
    """
    with _opening:
        context = _open.get(target.index)
        if context is None:
            if not _open:
                atexit.register(close_all)
            context = _open[target.index] = Context(target, driver())
        return context


def close_all() -> None:
    """Close all devices: registered for the end of the process that opened them."""
    for context in _open.values():
        if context.process == os.getpid():
            context.close()
    _open.clear()
