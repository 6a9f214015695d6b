"""Load machine code into this process.

Libraries are loaded from anonymous memory where the system has it, else from a file that is removed at once.
The same bytes are loaded once.
"""

import os
import threading
import weakref
from itertools import count
from typing import TYPE_CHECKING, Any

from plugrad._util import LazyModule
from plugrad.errors import DeviceError
from plugrad_cpu_clang._native import ffi

if TYPE_CHECKING:
    import tempfile
else:
    # Linux has anonymous memory
    tempfile = LazyModule("tempfile")

c_library: Any = ffi.dlopen(None)
# looked up now: the lookup is a dlsym itself, and would overwrite the message it should fetch
_dlerror: Any = c_library.dlerror
_MODE = os.RTLD_NOW | os.RTLD_LOCAL
_numbers = count()
_lock = threading.Lock()
_loaded: "weakref.WeakValueDictionary[bytes, Library]" = weakref.WeakValueDictionary()


class Library:
    """One loaded shared library; its code goes away with this object.

    Args:
        data: the shared library.
        keep: never unload it, even at the end of the process (threads may be running in it).

    Raises:
        DeviceError: the system's loader refuses; says why.
    """

    def __init__(self, data: bytes, *, keep: bool = False) -> None:
        self._handle = _open(data, _MODE | (os.RTLD_NODELETE if keep else 0))

    def __del__(self, close: Any = c_library.dlclose) -> None:
        # bound as a default: when the interpreter ends, the module's names may be gone before this object
        handle = getattr(self, "_handle", None)
        if handle is not None:
            close(handle)

    def address(self, name: str) -> int:
        """Return the address of a function.

        Raises:
            DeviceError: there is none of that name.
        """
        found = c_library.dlsym(self._handle, name.encode())
        if found == ffi.NULL:
            raise DeviceError(
                f"the compiled library has no function {name!r} ({_last_error()})", device="CPU"
            )
        return int(ffi.cast("uintptr_t", found))


def load_library(data: bytes) -> Library:
    """Return the loaded library of these bytes, loading it at the first call."""
    with _lock:
        library = _loaded.get(data)
        if library is None:
            library = _loaded[data] = Library(data)
        return library


def load_kept(data: bytes) -> Any:
    """Load a library for good, and return cffi's view of the functions of `_native`."""
    path, descriptor = _store_library(data)
    try:
        return ffi.dlopen(path, os.RTLD_NOW | os.RTLD_NODELETE)
    finally:
        _remove(path, descriptor)


def _open(data: bytes, mode: int) -> Any:
    path, descriptor = _store_library(data)
    try:
        handle = c_library.dlopen(path.encode(), mode)
        if handle == ffi.NULL:
            raise DeviceError(
                f"cannot load a compiled kernel of {len(data)} bytes: {_last_error()}", device="CPU"
            )
        return handle
    finally:
        _remove(path, descriptor)


def _last_error() -> str:
    text = _dlerror()
    return "no reason given" if text == ffi.NULL else bytes(ffi.string(text)).decode(errors="replace")


def _store_library(data: bytes) -> tuple[str, int | None]:
    """Store a library for the loader; return a path, and a descriptor of anonymous memory."""
    if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
        descriptor = os.memfd_create("plugrad-kernel", os.MFD_CLOEXEC)
        _write_all(descriptor, data)
        return _distinct_path(descriptor, next(_numbers)), descriptor
    descriptor, path = tempfile.mkstemp(prefix="plugrad-", suffix=".so")
    _write_all(descriptor, data)
    os.close(descriptor)
    return path, None


def _remove(path: str, descriptor: int | None) -> None:
    if descriptor is None:
        os.unlink(path)
    else:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _distinct_path(descriptor: int, number: int) -> str:
    """Return a path of the descriptor that no other library had.

    The loader takes equal paths for the same library, and descriptors come again. So the number is written
    into the path in ways that lead nowhere else: each bit as `/.` or `//`.
    """
    bits = "".join("/." if number >> bit & 1 else "//" for bit in range(number.bit_length()))
    return f"/proc/self/fd{bits}/{descriptor}"
