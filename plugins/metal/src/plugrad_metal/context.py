"""Open a GPU: its one command queue, and the buffers not known to be done.

Launches go to one queue, so they take effect in the order of their calls. A fault in a kernel is noticed when
somebody waits; the error names the kernel.
"""

import atexit
import os
import threading
from collections import deque
from typing import Any

from plugrad.errors import DeviceError, DeviceNotFound
from plugrad.target import Target
from plugrad_metal.binding import DeviceLost, autorelease_pool, failure
from plugrad_metal.probe import devices

_LOOK_BACK_AT = 32  # launches in flight, before those that are done are looked for
_DONE, _FAILED = 4, 5  # states of a command buffer (enum MTLCommandBufferStatus)


class Context:
    """The state that allocator, compiler and runners of one GPU share.

    Attributes:
        target: which GPU.
        device: Metal's object of it.
        queue: its command queue.
        process: who opened it; Metal does not survive a fork.
        lock: held while work is given to the queue, and while it is waited for.
    """

    def __init__(self, target: Target, device: Any) -> None:
        self.target = target
        self.device = device
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.queue: Any = device.newCommandQueue()
        if self.queue is None:
            raise DeviceError(f"{target.name} ({device.name()}) gives no command queue", device=target.name)
        self._in_flight: deque[tuple[Any, str, object]] = deque()
        self._failed: list[DeviceError] = []
        self._lost: DeviceLost | None = None

    def check(self) -> None:
        """Do nothing while the GPU works.

        Raises:
            DeviceLost: it was lost before.
        """
        if self._lost is not None:
            raise DeviceLost(str(self._lost), device=self.target.name)

    def submit(self, commands: Any, name: str, used: object = None) -> None:
        """Submit a command buffer with the kernel `name`; the caller holds the lock.

        What is `used` by it, and the command buffer does not keep by itself, is kept until it is done.
        """
        commands.commit()
        self._in_flight.append((commands, name, used))
        if len(self._in_flight) >= _LOOK_BACK_AT:
            while self._in_flight and self._in_flight[0][0].status() >= _DONE:
                self._retire()

    def synchronize(self) -> None:
        """Return when all that was given to the GPU is done.

        Raises:
            DeviceError: some of it failed; names the kernel that was the first.
        """
        with self.lock, autorelease_pool():
            self.check()
            while self._in_flight:
                self._in_flight[0][0].waitUntilCompleted()
                self._retire()
            if self._failed:
                first, *others = self._failed
                self._failed = []
                if isinstance(first, DeviceLost):
                    self._lost = first
                if others:
                    first.add_note(f"{len(others)} launches after it failed too")
                raise first

    def _retire(self) -> None:
        commands, name, _ = self._in_flight.popleft()
        if commands.status() == _FAILED:
            self._failed.append(failure(commands.error(), f"running {name}", self.target.name))


_open: dict[int, Context] = {}
_opening = threading.Lock()


def open_context(target: Target) -> Context:
    """Return the context of a target, the same for all who ask.

    Raises:
        DeviceNotFound: the GPU is not there.
        DeviceError: it cannot be opened.
    """
    with _opening:
        context = _open.get(target.index)
        if context is None:
            found = devices()
            if target.index >= len(found):
                raise DeviceNotFound(f"{target.name} is not there", device=target.name)
            if not _open:
                atexit.register(finish_all)
            context = _open[target.index] = Context(target, found[target.index])
        return context


def finish_all() -> None:
    """Wait for all launches, at the exit of the process that opened the GPUs.

    Raises:
        DeviceError: some of it failed, which nobody noticed before.
    """
    for context in _open.values():
        if context.process == os.getpid():
            context.synchronize()
    _open.clear()
