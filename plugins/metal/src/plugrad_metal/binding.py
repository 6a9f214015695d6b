"""Metal as PyObjC shows it: imported when first needed, its errors told as plugrad's.

Importing it loads Apple's frameworks, so nothing here does it before a hook asks. A module that stands in for
Metal says so (`plugrad_stand_in`), and is never taken for hardware.
"""

import importlib
import sys
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType
from typing import Any

from plugrad.errors import DeviceError, DeviceNotFound, DeviceOutOfMemory

REMEDY = (
    "`pip install pyobjc-framework-Metal` brings the binding."
    if sys.platform == "darwin"
    else "Metal is a part of macOS: use a Mac, or the CPU, CUDA or OPENCL device here."
)

# Codes of a command buffer's error (enum MTLCommandBufferError).
_OUT_OF_MEMORY = 8
# AccessRevoked, NotPermitted, DeviceRemoved
_DEVICE_LOST = frozenset({4, 7, 11})


class DeviceLost(DeviceError):
    """The system took the GPU away; nothing more runs on it in this process."""


@cache
def metal() -> ModuleType:
    """Return PyObjC's module of the Metal framework.

    Raises:
        DeviceNotFound: it is not installed, or does not load.
    """
    try:
        return importlib.import_module("Metal")
    except ImportError as error:
        raise DeviceNotFound(
            f"PyObjC's binding of Metal cannot be imported: {error}. {REMEDY}", device="METAL"
        ) from error


def stand_in() -> str:
    """Return the name of the simulator behind the module; empty for Apple's."""
    return str(getattr(metal(), "plugrad_stand_in", ""))


def autorelease_pool() -> AbstractContextManager[Any]:
    """Return a pool that releases the objects of Metal when it is left."""
    pool: AbstractContextManager[Any] = importlib.import_module("objc").autorelease_pool()
    return pool


def text_of(error: Any) -> str:
    """Return the message of an NSError, with its code."""
    return f"{error.localizedDescription()} (code {error.code()})" if error is not None else "no reason given"


def failure(error: Any, doing: str, device: str) -> DeviceError:
    """Return plugrad's error for the error of a command buffer."""
    what = f"{device}: {doing} failed: {text_of(error)}"
    code = error.code() if error is not None else 0
    if code == _OUT_OF_MEMORY:
        return DeviceOutOfMemory(what, device=device)
    if code in _DEVICE_LOST:
        return DeviceLost(
            f"{what}. The system runs nothing more on this GPU for this process. Restart it.", device=device
        )
    return DeviceError(what, device=device)
