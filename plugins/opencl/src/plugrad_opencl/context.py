"""Open a device: its context, and its one queue for launches and copies in order."""

import threading
from typing import Any

from plugrad.errors import DeviceError, DeviceNotFound
from plugrad.target import Target
from plugrad_opencl.driver import DeviceLost, opencl, translate
from plugrad_opencl.probe import found_devices


class Context:
    """The state that allocator, compiler and runners of one device share.

    Attributes:
        target: which device.
        device: pyopencl's name of it.
        context: its OpenCL context.
        queue: its command queue, in order, with profiling.
        lock: held while a kernel's arguments are set and it is enqueued.
    """

    def __init__(self, target: Target, device: Any) -> None:
        cl = opencl()
        self.target = target
        self.device = device
        self.lock = threading.Lock()
        self._lost: DeviceLost | None = None
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        try:
            self.context: Any = cl.Context([device])
            self.queue: Any = cl.CommandQueue(self.context, device, profiling)
        except cl.Error as error:
            raise translate(error, "opening it", target.name) from error

    def check(self) -> None:
        """Do nothing while the device works.

        Raises:
            DeviceLost: it was lost before; says when.
        """
        if self._lost is not None:
            raise DeviceLost(str(self._lost), device=self.target.name)

    def failure(self, error: Any, doing: str, nbytes: int = 0) -> DeviceError:
        """Return plugrad's error for one of pyopencl's, and remember a lost device."""
        translated_error = translate(error, doing, self.target.name, nbytes)
        if isinstance(translated_error, DeviceLost):
            self._lost = translated_error
        return translated_error


_open: dict[int, Context] = {}
_opening = threading.Lock()


def open_context(target: Target) -> Context:
    """Return the context of a target, the same for all who ask.

    Raises:
        DeviceNotFound: the device is not there, or cannot be opened.
    """
    with _opening:
        context = _open.get(target.index)
        if context is None:
            device = next((d for d, probed in found_devices() if probed.target.index == target.index), None)
            if device is None:
                raise DeviceNotFound(f"{target.name} is not there", device=target.name)
            context = _open[target.index] = Context(target, device)
        return context
