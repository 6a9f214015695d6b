"""Use a memory pool of the driver, which allocates and frees in stream order.

It is a pool of our own: the device's default one is shared with other libraries in the process.
"""

from typing import Any

from plugrad.errors import DeviceError
from plugrad_cuda.driver import OUT_OF_MEMORY, DeviceLost, Driver
from plugrad_cuda.native import ffi

# Numbers of the driver API: CUdevice_attribute, CUmemAllocationType, CUmemLocationType,
# CUmemPool_attribute and CUmemAccess_flags.
_POOLS_SUPPORTED = 115
_PINNED = 1
_ON_DEVICE = 1
_RELEASE_THRESHOLD = 4
_READ_AND_WRITE = 3


class Pool:
    """Memory of one device in the order of one stream.

    All calls need the device's context.

    Args:
        driver: the driver.
        ordinal: which device.
        stream: whose order is meant.
        keep_bytes: how much stays with the pool when nobody uses it.

    Raises:
        DeviceError: the driver makes none.
    """

    def __init__(self, driver: Driver, ordinal: int, stream: Any, keep_bytes: int) -> None:
        self._library = driver.library
        self._stream = stream
        properties = ffi.new("PoolProperties *")
        properties.kind = _PINNED
        properties.location_kind = _ON_DEVICE
        properties.location = ordinal
        out = ffi.new("void **")
        driver.check(self._library.cuMemPoolCreate(out, properties), "making a memory pool")
        self.handle = out[0]
        keep = ffi.new("unsigned long long *", keep_bytes)
        status = self._library.cuMemPoolSetAttribute(self.handle, _RELEASE_THRESHOLD, keep)
        driver.check(status, "setting up a memory pool")

    def alloc(self, out: Any, nbytes: int) -> int:
        """Write the address of new memory to `out`; return the driver's status."""
        status = self._library.cuMemAllocFromPoolAsync(out, nbytes, self.handle, self._stream)
        if status != OUT_OF_MEMORY:
            return int(status)
        self.trim()
        return int(self._library.cuMemAllocFromPoolAsync(out, nbytes, self.handle, self._stream))

    def free(self, address: int) -> int:
        """Take memory back after what was launched so far; return the driver's status."""
        return int(self._library.cuMemFreeAsync(address, self._stream))

    def trim(self) -> int:
        """Wait for the stream, and give unused memory back; return the driver's status."""
        status = self._library.cuStreamSynchronize(self._stream)  # memory is the pool's until then
        return int(status or self._library.cuMemPoolTrimTo(self.handle, 0))

    def open_to(self, ordinal: int) -> int:
        """Give another device access to the pool's memory; return the driver's status."""
        access = ffi.new("PoolAccess *", (_ON_DEVICE, ordinal, _READ_AND_WRITE))
        return int(self._library.cuMemPoolSetAccess(self.handle, access, 1))

    def close(self) -> None:
        """Destroy the pool; all its memory was freed before."""
        self._library.cuMemPoolDestroy(self.handle)


def make_pool(driver: Driver, ordinal: int, stream: Any, keep_bytes: int) -> Pool | None:
    """Return a pool, or None where the driver makes none, as for virtual GPUs.

    Raises:
        DeviceError: the driver does not say.
        DeviceLost: the driver gave up on the device.
    """
    if not driver.attribute(ordinal, _POOLS_SUPPORTED):
        return None
    try:
        return Pool(driver, ordinal, stream, keep_bytes)
    except DeviceLost:
        raise
    except DeviceError:
        return None
