"""Partial reads of bytes of a file or a tensor, for readers of models."""

import io
import math
import os
from collections.abc import Callable
from typing import Any, NoReturn

from plugrad.device import Device
from plugrad.dtype import DType, dtypes, is_bool
from plugrad.engine import storage
from plugrad.errors import ArgumentError, DeviceError, FileFormatError, ShapeError
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.uop import Ops, UOp

#: What readers take: a path, or a tensor of bytes.
PathOrBytes = str | os.PathLike[str] | Tensor

_HELD = "bytes in memory"


def as_path(path: Any) -> str:
    """Return a path as text.

    Raises:
        ArgumentError: it is none.

    Example:
        >>> as_path(pathlib.Path("model") / "a.bin")
        'model/a.bin'
    """
    try:
        text = os.fsdecode(path)
    except TypeError as error:
        raise ArgumentError(f"{path!r:.60} ({type(path).__name__}) is no path. Pass a text.") from error
    if "\0" in text:
        raise ArgumentError(f"{path!r:.60} is no path: no system has a file with a zero in its name.")
    return text


class ByteSource:
    """Bytes that the host or a tensor can read in part.

    A file is opened here and stays open as long as a tensor of it lives: one that takes its place does not
    change what was loaded. No offset is used before it is checked.

    Args:
        source: a path; or a tensor of uint8, one axis: a file's (`Tensor(pathlib.Path(...))`) or any other.

    Attributes:
        name: the path, or what stands for it in messages.
        path: the path, or empty.
        nbytes: how many bytes there are.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: it is neither a path nor a tensor.
        ShapeError: the tensor is not one axis of uint8.
    """

    def __init__(self, source: PathOrBytes) -> None:
        if isinstance(source, Tensor):
            self._open_tensor(source)
            return
        self.name = self.path = as_path(source)
        # the operating system's own error for what is no file, or must not be read
        with open(self.path, "rb") as file:
            self.nbytes = os.fstat(file.fileno()).st_size
        disk = Device[f"DISK:{os.path.abspath(self.path)}"]
        self._buffer = disk.new_buffer(self.nbytes, dtypes.uint8).ensure_allocated()

    @classmethod
    def lazy(cls, name: str, nbytes: int, make: Callable[[], memoryview]) -> "ByteSource":
        """Return a source that calls `make` whenever bytes are needed."""
        self = cls.__new__(cls)
        self.name, self.path, self.nbytes = name, "", nbytes
        self._buffer = _lazy_buffer(name, nbytes, make)
        return self

    def _open_tensor(self, source: Tensor) -> None:
        if source.dtype is not dtypes.uint8 or source.ndim != 1:
            raise ShapeError(
                f"a file is a tensor of bytes, (n,) of uint8, not {source.shape} of {source.dtype.name}. "
                "Pass the path, or bitcast and flatten it."
            )
        self.nbytes = source.nbytes
        kind, _, path = source.device.partition(":")
        if kind == "DISK" and source.uop.op is Ops.BUFFER:
            self.name = self.path = path
            self._buffer = storage.buffer_of(source.uop).ensure_allocated()
            return
        self.name, self.path = _HELD, ""
        held = source.to(Device.canonicalize(None)) if kind == "DISK" else source
        memory = held.data().cast("B")
        self._buffer = _lazy_buffer(self.name, self.nbytes, lambda: memory)

    def fail(self, what: str, cause: BaseException | None = None) -> NoReturn:
        """Raise a FileFormatError with the name of the file and `what`."""
        raise FileFormatError(f"{self.name}: {what} Fetch or save the file again.", path=self.path) from cause

    def check(self, offset: int, nbytes: int, what: str) -> None:
        """Raise FileFormatError unless there are `nbytes` from `offset` on."""
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            self.fail(
                f"{what} takes {nbytes} bytes from byte {offset} on, but there are {self.nbytes} in all."
            )

    def read(self, offset: int, nbytes: int, what: str = "this part") -> bytes:
        """Return `nbytes` bytes from `offset` on, if they are there; `what` is for messages."""
        self.check(offset, nbytes, what)
        return bytes(self._buffer.view(nbytes, dtypes.uint8, offset).as_memoryview())

    def tensor(
        self, offset: int, shape: tuple[int, ...], dtype: DType, device: str | None, what: str = "a tensor"
    ) -> Tensor:
        """Return a lazy tensor of elements from byte `offset` on, if they are there."""
        # a byte other than 0 and 1 in a file must not become a bool that equals neither
        stored = dtypes.uint8 if is_bool(dtype) else dtype
        nbytes = math.prod(shape) * stored.itemsize
        self.check(offset, nbytes, what)
        region = UOp.new_buffer(self._buffer.device, shape, stored)
        storage.bind_buffer(region, self._buffer.view(math.prod(shape), stored, offset))
        loaded = Tensor(region).to(Device.canonicalize(device))
        return loaded != 0 if is_bool(dtype) else loaded

    def open(self) -> io.BufferedReader:
        """Return the bytes as a file that is open for reading."""
        return _BoundedReader(_Reader(self), self.nbytes)


class _BoundedReader(io.BufferedReader):
    """A file that never allocates more bytes than it has."""

    def __init__(self, raw: io.RawIOBase, nbytes: int) -> None:
        super().__init__(raw)
        self._nbytes = nbytes

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(self._nbytes - self.tell(), 0)
        return super().read(left if size is None or size < 0 else min(size, left))


class _Reader(io.RawIOBase):
    """A `ByteSource` with a position."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.nbytes}[whence]
        if start + offset < 0:
            raise ValueError(f"position {start + offset} lies before the start of {self._source.name}")
        self._position = start + offset
        return self._position

    def readinto(self, target: Any) -> int:
        count = max(min(len(target), self._source.nbytes - self._position), 0)
        target[:count] = self._source.read(self._position, count)
        self._position += count
        return count


class _LazyMemory(Allocator[tuple[int, int]]):
    """Memory whose content `make` computes again at each read; handles are offset and size."""

    def __init__(self, make: Callable[[], memoryview]) -> None:
        self._make = make

    def alloc(self, nbytes: int) -> tuple[int, int]:
        return 0, nbytes

    def free(self, handle: tuple[int, int], nbytes: int) -> None:
        """There is nothing to give back."""

    def copyin(self, handle: tuple[int, int], source: memoryview) -> None:
        raise DeviceError("cannot write to a part of an archive. Copy it elsewhere and change it there.")

    def copyout(self, dest: memoryview, handle: tuple[int, int]) -> None:
        dest[:] = self.as_memoryview(handle, len(dest))

    def offset(self, handle: tuple[int, int], nbytes: int, offset_bytes: int) -> tuple[int, int]:
        return handle[0] + offset_bytes, nbytes

    def as_memoryview(self, handle: tuple[int, int], nbytes: int) -> memoryview:
        return self._make()[handle[0] : handle[0] + nbytes]


def _lazy_buffer(name: str, nbytes: int, make: Callable[[], memoryview]) -> Buffer:
    # the name of a device that computes nothing: whoever uses the bytes copies them first
    return Buffer(f"DISK:{name}", nbytes, dtypes.uint8, _LazyMemory(make)).ensure_allocated()
