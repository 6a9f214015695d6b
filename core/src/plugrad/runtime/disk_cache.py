"""Compiled kernels on disk: written atomically, verified on read, and never a reason to fail.

An entry is a file named by the SHA-256 of its key. It starts with a magic number and the SHA-256 of key and
payload together, so a torn, truncated, renamed or foreign file is a miss. Writers use a private file and
rename it, so two processes may share a cache and an interrupted write leaves nothing behind that is read. A
full or read-only disk warns once and goes on without the cache. Entries run as code: folders are made for
their user alone, and a cache that others own or may write to warns once and is not used.

What many entries have in common, such as the library that their kernels were compiled into, is stored once: a
blob is a file named by the SHA-256 of its contents, and entries name it by that. An entry whose blob is gone
is a miss for its reader.

`CACHE_DISK_MB` bounds the size. Every file bears the time of its last use, to the hour, and those unused for
longest go first. Nobody counts all files at each write: a process looks after it wrote a certain part of the
limit, the first time after a random share of that, so that many short processes look as often as one long
one. Processes that write at the same time may pass the limit by that part each.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
import warnings
from functools import cache

from plugrad._frozen import frozen
from plugrad._util import hashlib, pathlib, random
from plugrad.errors import CacheError
from plugrad.runtime.private_folder import exposure, make_private
from plugrad.settings import cache_dir, settings

# Part of the path: a new layout never meets entries of an old one.
LAYOUT = "v2"
_MAGIC = b"plugrad\x02"
_HEADER_BYTES = len(_MAGIC) + 32  # of SHA-256
_LEVEL_WITH_DISK = 2
# A part of the limit: how much is written between two looks at the size, and removed beyond what is needed.
_SLACK = 1 / 32
# The time of use is written when it is off by more: one write to the disk an hour, not one a read.
_USE_SECONDS = 3600
# A writer that has not finished by now was killed.
_ABANDONED_SECONDS = 3600
_temporary_numbers = itertools.count()


@frozen
class CacheInfo:
    """The contents of a cache, and its hits and misses in this process."""

    path: str
    entries: int
    blobs: int
    nbytes: int
    limit_bytes: int
    """0: no limit."""
    hits: int
    misses: int


class DiskCache:
    """A map from bytes to bytes in a directory.

    Any method may be called by several threads and processes at once. `CACHELEVEL` below 2 makes every read a
    miss and every write nothing.

    Args:
        root: the directory.
        top: the outermost of its parents that others must not write to; by default the directory itself.

    Example:
        >>> DiskCache(pathlib.Path("/tmp/kernels")).get(b"not there") is None
        True
    """

    def __init__(self, root: pathlib.Path | str, top: pathlib.Path | None = None) -> None:
        self.path = pathlib.Path(root) / LAYOUT
        self._top = pathlib.Path(root) if top is None else top
        self.hits = 0
        self.misses = 0
        self._has_warned = False
        self._unchecked = random.random()  # of what may be written before the size is looked at

    def get(self, key: bytes) -> bytes | None:
        """Return the value stored under `key`, or None where no intact entry exists."""
        payload = None
        if settings.CACHELEVEL >= _LEVEL_WITH_DISK:
            data = self._read(self._file(key))
            if data[:_HEADER_BYTES] == _header(key, data[_HEADER_BYTES:]):
                payload = data[_HEADER_BYTES:]
        if payload is None:
            self.misses += 1
        else:
            self.hits += 1
        return payload

    def put(self, key: bytes, payload: bytes) -> None:
        """Store `payload` under `key`; the last writer wins. A disk that refuses warns once."""
        self._store(self._file(key), _header(key, payload) + payload)

    def get_blob(self, name: bytes) -> bytes | None:
        """Return the data that `put_blob` named `name`, or None where the file is gone."""
        if settings.CACHELEVEL < _LEVEL_WITH_DISK:
            return None
        data = self._read(self._blob_file(name))
        return data if hashlib.sha256(data).digest() == name else None

    def put_blob(self, data: bytes) -> bytes:
        """Store `data`, which several entries need, once; return the name to keep in them.

        Written even where it is there: that mends a damaged file, and says that it was used.

        Example:
            >>> DiskCache(pathlib.Path("/tmp/kernels")).put_blob(b"library").hex()[:8]
            'b718f135'
        """
        name = hashlib.sha256(data).digest()
        self._store(self._blob_file(name), data)
        return name

    def trim(self) -> int:
        """Remove the least recently used files beyond `CACHE_DISK_MB`; return the number of files removed.

        Also what writers left that were killed. Files that other processes remove meanwhile are no error.
        """
        limit = _limit_bytes()
        if not limit:
            return 0
        removed = 0
        now = time.time()
        found: list[tuple[float, int, pathlib.Path]] = []
        for file in self._files():
            info = _stat(file)
            if info is None:
                continue
            if file.suffix != ".tmp":
                found.append((info.st_mtime, info.st_size, file))
            elif now - info.st_mtime > _ABANDONED_SECONDS:
                file.unlink(missing_ok=True)
        size = sum(nbytes for _, nbytes, _ in found)
        if size <= limit:
            return 0
        found.sort(key=lambda item: item[:2])
        for _, nbytes, file in found:
            if size <= limit * (1 - _SLACK):
                break
            file.unlink(missing_ok=True)
            size -= nbytes
            removed += 1
        return removed

    def info(self) -> CacheInfo:
        """Count the entries, the blobs, and the bytes of both."""
        files = [file for file in self._files() if file.suffix != ".tmp"]
        entries = sum(file.suffix == ".bin" for file in files)
        nbytes = sum(info.st_size for file in files if (info := _stat(file)) is not None)
        return CacheInfo(
            path=str(self.path),
            entries=entries,
            blobs=len(files) - entries,
            nbytes=nbytes,
            limit_bytes=_limit_bytes(),
            hits=self.hits,
            misses=self.misses,
        )

    def clear(self) -> int:
        """Remove everything, what interrupted writers left included; return how many entries there were.

        Raises:
            CacheError: the directory cannot be changed.
        """
        removed = 0
        for file in self._files():
            try:
                file.unlink()
            except FileNotFoundError:
                continue  # another process was quicker
            except OSError as error:
                raise CacheError(
                    f"cannot remove {file}: {error.strerror}. Change its permissions, or point "
                    "PLUGRAD_CACHE elsewhere."
                ) from error
            removed += file.suffix == ".bin"
        return removed

    def _file(self, key: bytes) -> pathlib.Path:
        name = hashlib.sha256(key).hexdigest()
        return self.path / name[:2] / f"{name}.bin"

    def _blob_file(self, name: bytes) -> pathlib.Path:
        return self.path / name.hex()[:2] / f"{name.hex()}.blob"

    def _files(self) -> list[pathlib.Path]:
        return [file for kind in ("bin", "blob", "tmp") for file in self.path.glob(f"??/*.{kind}")]

    def _read(self, file: pathlib.Path) -> bytes:
        """Return the contents of `file`, and record the use. Untrusted files read as empty."""
        if self._is_exposed():
            return b""
        try:
            with open(file, "rb") as opened:
                data = opened.read()
                is_stale = time.time() - os.fstat(opened.fileno()).st_mtime > _USE_SECONDS
        except FileNotFoundError:
            return b""
        except OSError as error:
            self._warn(f"cannot read the kernel cache at {self.path}: {error.strerror or error}")
            return b""
        if is_stale:
            with contextlib.suppress(OSError):  # a read-only cache; or another process removed the file
                os.utime(file)
        return data

    def _store(self, file: pathlib.Path, data: bytes) -> None:
        if settings.CACHELEVEL < _LEVEL_WITH_DISK or self._is_exposed():
            return
        try:
            self._write(file, data)
            if limit := _limit_bytes():
                self._unchecked -= len(data) / (limit * _SLACK)
                if self._unchecked <= 0:
                    self._unchecked = 1.0
                    self.trim()
        except OSError as error:
            self._warn(f"cannot write the kernel cache at {self.path}: {error.strerror or error}")

    def _write(self, file: pathlib.Path, data: bytes) -> None:
        make_private(file.parent)
        temporary = file.with_suffix(f".{os.getpid()}-{next(_temporary_numbers)}.tmp")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, file)
        except BaseException:  # Ctrl-C as well: leave nothing behind
            temporary.unlink(missing_ok=True)
            raise

    def _is_exposed(self) -> bool:
        reason = exposure(self.path, self._top)
        if reason:
            self._warn(
                f"the kernel cache at {self.path} is not used, because kernels are code and {reason}",
                "Take it for yourself (`chmod go-w`, `chown`)",
            )
        return bool(reason)

    def _warn(self, problem: str, remedy: str = "Free space or change permissions there") -> None:
        if self._has_warned:
            return
        self._has_warned = True
        warnings.warn(
            f"{problem}. Kernels are compiled again in each process. {remedy}, point PLUGRAD_CACHE "
            "elsewhere, or set CACHELEVEL=1.",
            RuntimeWarning,
            stacklevel=4,
        )


@cache
def _cache_at(top: pathlib.Path) -> DiskCache:
    return DiskCache(top / "kernels", top)


def kernel_cache() -> DiskCache:
    """Return the cache of compiled kernels in the directory that `PLUGRAD_CACHE` names at this moment."""
    return _cache_at(cache_dir())


def _header(key: bytes, payload: bytes) -> bytes:
    # the key's length goes first, so that (key, payload) cannot be split differently
    return _MAGIC + hashlib.sha256(len(key).to_bytes(8, "little") + key + payload).digest()


def _limit_bytes() -> int:
    return settings.CACHE_DISK_MB << 20


def _stat(file: pathlib.Path) -> os.stat_result | None:
    try:
        return file.stat()
    except FileNotFoundError:
        return None
