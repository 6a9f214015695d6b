"""The driver's library: opened when first needed, its status codes told as plugrad's errors.

`PLUGRAD_CUDA_DRIVER` names a library to use instead of the system's `libcuda`, such as a stand-in for a GPU.
A stand-in says that it is one (`plugrad_stand_in`), and is never taken for hardware.
"""

import os
import sys
from functools import cache
from typing import Any

from plugrad.errors import DeviceError, DeviceNotFound, DeviceOutOfMemory, ForkError
from plugrad_cuda.native import ffi

PATH_VARIABLE = "PLUGRAD_CUDA_DRIVER"
OLDEST_DRIVER = 12000  # CUDA 12.0, driver 525: what loads the machine code of any NVRTC 12
REMEDY = (
    "A GPU of NVIDIA needs NVIDIA's driver 525 or newer (`nvidia-smi` shows it); in a container, start "
    "it with access to the GPU (`--gpus all`)."
)
_NAMES = {"win32": ("nvcuda.dll",)}.get(sys.platform, ("libcuda.so.1", "libcuda.so"))

# Codes of the driver API (enum CUresult).
OUT_OF_MEMORY = 2
NO_DEVICE = 100
# After these nothing more runs in the context: it must be destroyed, and with it all memory.
_STICKY = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999})


class DeviceLost(DeviceError):
    """The driver gave up on the device; nothing more runs on it in this process."""


class Driver:
    """The driver API, initialised.

    Args:
        path: of the shared library.

    Attributes:
        library: cffi's view of it, for the launch path.
        version: the CUDA version of the driver, as it says it: 12040 is 12.4.
        process: who initialised it; it works in no child that is forked afterwards.
        stand_in: what the library says it stands in for; empty for NVIDIA's driver.

    Raises:
        DeviceNotFound: it is too old, or finds no usable device.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        self.process = os.getpid()
        self.stand_in = _stand_in(library)
        if status := library.cuInit(0):
            raise DeviceNotFound(
                f"the CUDA driver does not start: {self.describe(status)}. {REMEDY}", device="CUDA"
            )
        version = ffi.new("int *")
        library.cuDriverGetVersion(version)
        self.version = int(version[0])
        if self.version < OLDEST_DRIVER:
            raise DeviceNotFound(
                f"the CUDA driver is too old: it knows CUDA {version_text(self.version)}, and "
                f"{version_text(OLDEST_DRIVER)} is needed. {REMEDY}",
                device="CUDA",
            )

    def describe(self, status: int) -> str:
        """Return the name and the text of a status code."""
        out = ffi.new("char const **")
        parts = [
            bytes(ffi.string(out[0])).decode(errors="replace")
            for function in (self.library.cuGetErrorName, self.library.cuGetErrorString)
            if function(status, out) == 0 and out[0] != ffi.NULL
        ]
        return f"{' '.join(parts) or 'unknown error'} (code {status})"

    def check(self, status: int, doing: str, device: str = "CUDA") -> None:
        """Raise plugrad's error for a status code other than success.

        Raises:
            DeviceError: the call failed; a `DeviceLost` or `DeviceOutOfMemory` where it is one.
        """
        if status:
            raise self.failure(status, doing, device)

    def failure(self, status: int, doing: str, device: str, nbytes: int = 0) -> DeviceError:
        """Return plugrad's error for a status code."""
        what = f"{device}: {doing} failed: {self.describe(status)}"
        if status == OUT_OF_MEMORY:
            return DeviceOutOfMemory(what, device=device, requested_bytes=nbytes)
        return (DeviceLost if status in _STICKY else DeviceError)(what, device=device)

    def attribute(self, device: int, number: int) -> int:
        """Return one attribute of a device."""
        value = ffi.new("int *")
        self.check(self.library.cuDeviceGetAttribute(value, number, device), "asking for an attribute")
        return int(value[0])


@cache
def open_driver(asked: str = "") -> Driver:
    """Return the driver.

    Args:
        asked: a path, to try no other.

    Raises:
        DeviceNotFound: there is none, or it cannot be used; says what was looked for and what would help.
    """
    problems: list[str] = []
    for name in (asked,) if asked else _NAMES:
        try:
            return Driver(ffi.dlopen(name))
        except OSError as error:
            problems.append(str(error).split(".  Additionally", maxsplit=1)[0])
        except ffi.error as error:  # it lacks a function
            raise DeviceNotFound(
                f"{name} is not the CUDA driver, or too old: {error}. {REMEDY}", device="CUDA"
            ) from error
    raise DeviceNotFound(
        f"there is no CUDA driver: looked for {asked or ' and '.join(_NAMES)} where the system's loader does "
        f"({'; '.join(problems)}). {REMEDY}",
        device="CUDA",
    )


def driver() -> Driver:
    """Return the driver that the environment names, or the system's.

    Raises:
        DeviceNotFound: there is none, or it cannot be used.
        ForkError: this process was forked from the one that initialised it.
    """
    opened = open_driver(os.environ.get(PATH_VARIABLE, ""))
    if opened.process != os.getpid():
        raise ForkError(
            f"process {opened.process} asked the CUDA driver for its devices and then forked this one "
            f"({os.getpid()}); the driver does not survive that. Start workers with "
            "multiprocessing.get_context('spawn'), or fork before the first use of a device."
        )
    return opened


def version_text(version: int) -> str:
    """Return a CUDA version as people write it.

    Example:
        >>> version_text(12040)
        '12.4'
    """
    return f"{version // 1000}.{version % 1000 // 10}"


def _stand_in(library: Any) -> str:
    try:
        text = library.plugrad_stand_in()
    except ffi.error:  # NVIDIA's has no such function
        return ""
    return bytes(ffi.string(text)).decode()
