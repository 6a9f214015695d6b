"""Buffers, which the host cannot touch while commands that use them have not run."""

import ctypes
from typing import TYPE_CHECKING

from Metal._checks import complain, refuse
from Metal._runtime import runtime
from Metal._values import Object

if TYPE_CHECKING:
    from Metal._devices import MTLDevice


class _VariableList:
    """PyObjC's objc.varlist: memory whose length only the caller knows."""

    def __init__(self, buffer: "MTLBuffer") -> None:
        self._buffer = buffer

    def as_buffer(self, count: int) -> memoryview:
        if count > self._buffer._nbytes:
            refuse(f"a buffer of {self._buffer._nbytes} bytes has no {count}")
        return memoryview((ctypes.c_char * count).from_address(self._buffer._address)).cast("B")


class MTLBuffer(Object):
    def __init__(self, device: "MTLDevice", address: int, nbytes: int) -> None:
        self._device, self._address, self._nbytes = device, address, nbytes
        self._readers: set[int] = set()  # command buffers that nobody waited for
        self._writers: set[int] = set()

    def __del__(self) -> None:
        runtime.plugrad_protect(self._address, 2)  # it may belong to a command buffer that never ran
        if not runtime.plugrad_is_whole(self._address):
            complain(f"a write behind a buffer of {self._nbytes} bytes")
        self._device._used -= self._nbytes
        runtime.plugrad_release(self._address)

    def length(self) -> int:
        return self._nbytes

    def contents(self) -> _VariableList:
        return _VariableList(self)

    def _protect(self) -> None:
        access = 0 if self._writers else 1 if self._readers else 2
        runtime.plugrad_protect(self._address, access)
