"""The driver as pyopencl shows it: imported when first needed, its errors told as plugrad's.

Importing pyopencl loads the OpenCL library and takes 150 ms, so nothing here does it before a hook asks.
"""

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from plugrad.errors import DeviceError, DeviceNotFound, DeviceOutOfMemory
from plugrad.plugin.hints import install_line

# Error codes of the OpenCL specification.
# MEM_OBJECT_ALLOCATION_FAILURE, OUT_OF_HOST_MEMORY, INVALID_BUFFER_SIZE
_OUT_OF_MEMORY = frozenset({-4, -6, -61})
# DEVICE_NOT_AVAILABLE, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, INVALID_CONTEXT, INVALID_COMMAND_QUEUE, and
# what NVIDIA's driver says after a fault inside a kernel
_DEVICE_LOST = frozenset({-2, -14, -34, -36, -9999})


class DeviceLost(DeviceError):
    """The driver gave up on the device; nothing more runs on it in this process."""


def remedy() -> str:
    """Return the sentence that says how to get a driver."""
    return (
        f"{install_line('plugrad-plugin-opencl[pocl]', 'plugins/opencl')} brings PoCL, a driver for any CPU; "
        "a GPU needs the OpenCL driver of its vendor (`clinfo -l` lists what is installed)."
    )


@cache
def opencl() -> ModuleType:
    """Return pyopencl.

    Raises:
        DeviceNotFound: it is not installed, or does not load.
    """
    try:
        return importlib.import_module("pyopencl")
    except ImportError as error:
        raise DeviceNotFound(f"pyopencl cannot be imported: {error}. {remedy()}", device="OPENCL") from error


def translate(error: Any, doing: str, device: str, nbytes: int = 0) -> DeviceError:
    """Return plugrad's error for one of pyopencl's."""
    what = f"{device}: {doing} failed: {error}"
    if error.code in _OUT_OF_MEMORY:
        return DeviceOutOfMemory(what, device=device, requested_bytes=nbytes)
    if error.code in _DEVICE_LOST:
        return DeviceLost(
            f"{what}. The driver does not use this device any more; other devices go on working. Restart the "
            "process to use it again.",
            device=device,
        )
    return DeviceError(what, device=device)
