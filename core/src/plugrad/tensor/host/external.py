"""Tensors of memory and files that others made."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import Any, Unpack

from plugrad._util import ctypes, gzip, pathlib
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.errors import ArgumentError, FileFormatError
from plugrad.runtime.download import fetch
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.host.host_data import as_size
from plugrad.tensor.host.source import graph_of
from plugrad.tensor.keywords import REQUIRED, SizeNames, renamed
from plugrad.tensor.shapes import as_int, as_shape, product
from plugrad.uop import UOp


def _unpacked(path: pathlib.Path, url: str) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{url} is not packed by gzip: {error}. Leave gunzip=True out.") from error


def from_blob(
    cls: type[Tensor],
    address: int,
    shape: int | Sequence[int] = REQUIRED,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    **names: Unpack[SizeNames],
) -> Tensor:
    """Return the elements that lie in host memory from `address` on, in row-major order.

    Where the device can, the tensor is that memory itself, without a copy: it must stay valid while the
    tensor, or anything not yet computed from it, lives; an assign may write to it. Other devices copy it
    at once.

    Args:
        address: a pointer, as a number.
        dtype: what the elements are; by default the default float.

    Raises:
        ArgumentError: the address is null, negative or no integer.
        ShapeError: a size is negative, symbolic or no integer.

    Example:
        >>> memory = (ctypes.c_int32 * 4)(1, 2, 3, 4)
        >>> Tensor.from_blob(ctypes.addressof(memory), (2, 2), dtype="int32").tolist()
        [[1, 2], [3, 4]]
    """
    if names or shape is REQUIRED:
        (shape,) = renamed(cls.from_blob, names, shape=shape)
    dims: Any = tuple(as_size(size) for size in as_shape((shape,)))
    address = as_int(address, "address")
    if address <= 0:
        raise ArgumentError(f"{address} is no address of memory. Pass a pointer as a number.")
    chosen, name = the_dtype(dtype, dtypes.default_float), Device.present(device)
    uop = UOp.new_buffer(name, dims, chosen)
    buffer = Device[name].new_buffer(product(dims), chosen)
    memory = memoryview((ctypes.c_char * buffer.nbytes).from_address(address)).cast("B")
    if not buffer.import_host(memory):
        buffer.copyin(memory)
    return cls._make(storage.bind_buffer(uop, buffer), name)


def from_url(
    cls: type[Tensor],
    url: str,
    *,
    sha256: str | None = None,
    name: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    gunzip: bool = False,
    device: str | None = None,
) -> Tensor:
    """Download a file once and return its bytes: (n,) of uint8.

    Args:
        url: http, https, ftp or file.
        sha256: what the file's SHA-256 must be, in hexadecimal; it is checked each time.
        name: of the file that is kept; by default it follows the URL.
        folder: where it is kept; by default `downloads` in plugrad's cache (see `PLUGRAD_CACHE`).
        progress: show a progress bar on a terminal.
        gunzip: return what the file, packed by gzip, holds. The checksum is that of the file as it is.
        device: where the tensor lives; by default the file itself, which is read when needed, or the
            default device for what was unpacked.

    Raises:
        ArgumentError: the URL is no string, or the checksum none.
        DownloadError: the URL cannot be read, or the file has another checksum.
        FileFormatError: the file is not packed by gzip.

    Example:
        >>> Tensor.from_url("http://localhost:1/model.bin")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        plugrad.errors.DownloadError: cannot fetch http://localhost:1/model.bin: ...
    """
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"{url!r} ({type(url).__name__}) is no URL. Pass a string.")
    path = fetch(url, sha256=sha256, name=name, folder=folder, progress=progress)
    found = graph_of(_unpacked(path, url) if gunzip else path, None)
    if device is None and not gunzip:
        return cls._make(found, found.device or Device.present(None))
    return cls._make(found.copy_to_device(Device.present(device)), Device.present(device))
