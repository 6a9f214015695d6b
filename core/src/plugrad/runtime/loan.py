"""Lend a block of device memory to host code until its last view is gone."""

import weakref
from typing import Any

from plugrad._util import ctypes
from plugrad.runtime.allocator import Allocator


class Loan:
    """The block of a buffer, lent to views.

    Views hold the loan, and so does the buffer as long as the block is its memory. The last of them gives it
    back to the allocator.
    """

    __slots__ = ("_allocator", "_handle", "_shown", "memory")

    def __init__(self, allocator: Allocator[Any], handle: Any, memory: memoryview) -> None:
        self._allocator = allocator
        self._handle = handle
        self._shown: Any = None
        self.memory = memory

    @property
    def is_out(self) -> bool:
        """True while a view exists, or an object made of one."""
        return self._shown is not None and self._shown() is not None

    def view(self) -> memoryview:
        """Return the block as read-only bytes that keep it alive."""
        # memoryview objects come and go while others are derived from them; what stays as long as any of them
        # is the object that exports the memory, so that has to be one that can be watched
        exporter: Any = None if self._shown is None else self._shown()
        if exporter is None:
            exporter = (ctypes.c_char * self.memory.nbytes).from_buffer(self.memory)
            exporter.loan = self
            self._shown = weakref.ref(exporter)
        return memoryview(exporter).cast("B").toreadonly()

    def end(self) -> None:
        """Leave the block to the buffer alone, which gives it back itself."""
        self._handle = None

    def __del__(self) -> None:
        if self._handle is not None:
            self._allocator.free(self._handle, self.memory.nbytes)
