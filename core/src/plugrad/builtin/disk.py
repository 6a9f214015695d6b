"""DISK: files as buffers. `DISK:/path/to/file` is a device whose memory is that file.

A buffer is the file from its first byte on, and a view of it is a region, so a tensor of a large file is read
when it is copied elsewhere, and straight into the memory of its destination. What is copied to a file that is
not there makes it. A copy never replaces a file that is there; parts of it can be written. Regions are read
at their offset rather than mapped: a file that shrinks under a mapping kills the process, here it is an error
with the file's name.
"""

import errno
import os
import threading
from io import FileIO
from typing import Any

from plugrad._frozen import frozen
from plugrad.errors import DeviceError, DeviceNotFound, FileFormatError
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.runtime.allocator import Allocator
from plugrad.target import Target


class OpenFile:
    """A file that any thread reads and writes at any offset."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = FileIO(path)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def make(self, source: memoryview) -> None:
        """Refuse to fill a file that was there before.

        Raises:
            DeviceError: always.
        """
        raise DeviceError(
            f"cannot copy {len(source)} bytes to {self.path!r}: it exists, and would be replaced. Write into "
            "it with Tensor(Path(...)).assign(values), or copy to a new path.",
            device=f"DISK:{self.path}",
        )

    def write(self, source: memoryview, offset_bytes: int) -> None:
        """Write `source` from `offset_bytes` on.

        Raises:
            DeviceError: the file is read-only, or the disk does not take the bytes.
        """
        with self._lock:
            try:
                if not self._file.writable():
                    reader, self._file = self._file, FileIO(self.path, "r+")
                    reader.close()
                self._file.seek(offset_bytes)
                rest = source
                while len(rest):
                    rest = rest[self._file.write(rest) :]
            except OSError as error:
                raise DeviceError(
                    f"cannot write {len(source)} bytes to {self.path!r}: {error.strerror}. Check permissions "
                    "and the room on the disk, or copy the tensor elsewhere and change it there.",
                    device=f"DISK:{self.path}",
                ) from error

    def read_into(self, dest: memoryview, offset_bytes: int) -> None:
        """Fill `dest` from `offset_bytes` on."""
        done = 0
        with self._lock:
            self._file.seek(offset_bytes)
            while done < len(dest):
                count = self._file.readinto(dest[done:])
                if not count:
                    raise truncated(self.path, offset_bytes + len(dest), offset_bytes + done)
                done += count


class NewFile(OpenFile):
    """A file that is not there, until the first bytes are written to it."""

    def __init__(self, path: str, nbytes: int) -> None:
        self.path = path
        self._nbytes = nbytes
        self._opened: FileIO | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._nbytes

    @property
    def _file(self) -> FileIO:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._opened is None:
            raise cannot_open(self.path, os.strerror(errno.ENOENT))
        return self._opened

    def close(self) -> None:
        """Close the file, if it was made."""
        if self._opened is not None:
            self._opened.close()

    def make(self, source: memoryview) -> None:
        """Make the file and fill it.

        Raises:
            DeviceNotFound: it cannot be made: it is there by now, or its folder is not.
            DeviceError: the disk does not take the bytes.
        """
        self.write(source, 0)

    def write(self, source: memoryview, offset_bytes: int) -> None:
        """Write `source` from `offset_bytes` on, into the file that the first write makes.

        Raises:
            DeviceNotFound: the file cannot be made: it is there by now, or its folder is not.
            DeviceError: the disk does not take the bytes.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._create_file()
        super().write(source, offset_bytes)

    def _create_file(self) -> FileIO:
        try:
            file = FileIO(self.path, "x+")
            file.truncate(self._nbytes)
        except OSError as error:
            raise cannot_open(self.path, str(error.strerror)) from error
        return file


@frozen
class Region:
    """Part of an open file; `is_whole`: it is what a copy to the file makes."""

    file: OpenFile
    offset_bytes: int
    nbytes: int
    is_whole: bool = True


class DiskAllocator(Allocator[Region]):
    """The memory of one file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def alloc(self, nbytes: int) -> Region:
        """Open the file, or prepare to create it with `nbytes` bytes.

        A file that is there has at least that many.
        """
        try:
            file = OpenFile(self.path)
        except FileNotFoundError:
            return Region(NewFile(self.path, nbytes), 0, nbytes)
        except OSError as error:
            raise cannot_open(self.path, str(error.strerror)) from error
        if len(file) < nbytes:
            size = len(file)
            file.close()
            raise truncated(self.path, nbytes, size)
        return Region(file, 0, nbytes)

    def free(self, handle: Region, nbytes: int) -> None:
        """Close the file."""
        handle.file.close()

    def copyin(self, handle: Region, source: memoryview) -> None:
        """Make a new file, or write into a part of one."""
        if handle.is_whole:
            handle.file.make(source)
        else:
            handle.file.write(source, handle.offset_bytes)

    def copyout(self, dest: memoryview, handle: Region) -> None:
        """Read the region's first bytes."""
        handle.file.read_into(dest, handle.offset_bytes)

    def offset(self, handle: Region, nbytes: int, offset_bytes: int) -> Region:
        """Return part of a region."""
        return Region(handle.file, handle.offset_bytes + offset_bytes, nbytes, is_whole=False)


def cannot_open(path: str, reason: str) -> DeviceNotFound:
    """Return the error for a file that cannot be used."""
    return DeviceNotFound(
        f"cannot open {path!r}: {reason}. Check the path and its permissions.", device=f"DISK:{path}"
    )


def truncated(path: str, wanted: int, found: int) -> FileFormatError:
    """Return the error for a file that ends too early."""
    return FileFormatError(
        f"{path} is truncated: {wanted} bytes were expected, it has {found}. Fetch or write the file again.",
        path=path,
    )


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    """Never chosen automatically: it computes nothing."""
    return BackendInfo(
        "DISK", spec_version="1.0", priority=-1, summary="files as buffers", takes_resource=True
    )


@hookimpl
def plugrad_probe() -> Probe:
    """Any file is a device."""
    return Probe((ProbedDevice(Target("DISK"), "DISK:/path/to/file"),))


@hookimpl
def plugrad_allocator(target: Target) -> Allocator[Any]:
    """Return the memory that the file of `target` is."""
    path = target.get("resource")
    if not path:
        raise DeviceNotFound("DISK needs a file: name the device DISK:/path/to/file.", device="DISK")
    return DiskAllocator(path)
