"""Compiled kernels on disk: written atomically, verified on read, and never a reason to fail.

An entry is a file named by the SHA-256 of its key. It starts with a magic number and the SHA-256 of key and
payload together, so a torn, truncated, renamed or foreign file is a miss. Writers use a private file and
rename it, so two processes may share a cache and an interrupted write leaves nothing behind that is read. A
full or read-only disk warns once and goes on without the cache.
"""

import hashlib
import itertools
import os
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plugrad.errors import CacheError
from plugrad.settings import cache_dir, settings

# Part of the path: a new layout never meets entries of an old one.
LAYOUT = "v1"
_MAGIC = b"plugrad\x01"
_HEADER_BYTES = len(_MAGIC) + hashlib.sha256().digest_size
_LEVEL_WITH_DISK = 2
_temporary_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds, and how it did in this process."""

    path: str
    entries: int
    nbytes: int
    hits: int
    misses: int


class DiskCache:
    """A map from bytes to bytes in a directory.

    Any method may be called by several threads and processes at once. `CACHELEVEL` below 2 makes every read a
    miss and every write nothing.

    Example:
        >>> DiskCache(Path("/tmp/kernels")).get(b"not there") is None
        True
    """

    def __init__(self, root: Path | str) -> None:
        self.path = Path(root) / LAYOUT
        self.hits = 0
        self.misses = 0
        self._has_warned = False

    def get(self, key: bytes) -> bytes | None:
        """Return what was put under `key`, or None where there is no intact entry."""
        payload = self._read(key) if settings.CACHELEVEL >= _LEVEL_WITH_DISK else None
        if payload is None:
            self.misses += 1
        else:
            self.hits += 1
        return payload

    def put(self, key: bytes, payload: bytes) -> None:
        """Store `payload` under `key`; the last writer wins. A disk that refuses warns once."""
        if settings.CACHELEVEL < _LEVEL_WITH_DISK:
            return
        try:
            self._write(self._file(key), _MAGIC + _digest(key, payload) + payload)
        except OSError as error:
            self._warn("write", error)

    def info(self) -> CacheInfo:
        """Count the entries and their bytes."""
        sizes = [_size(file) for file in self._files() if file.suffix == ".bin"]
        return CacheInfo(str(self.path), len(sizes), sum(sizes), self.hits, self.misses)

    def clear(self) -> int:
        """Remove all entries, and what interrupted writers left; return how many entries there were.

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

    def _file(self, key: bytes) -> Path:
        name = hashlib.sha256(key).hexdigest()
        return self.path / name[:2] / f"{name}.bin"

    def _files(self) -> list[Path]:
        return [*self.path.glob("??/*.bin"), *self.path.glob("??/*.tmp")]

    def _read(self, key: bytes) -> bytes | None:
        try:
            data = self._file(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn("read", error)
            return None
        payload = data[_HEADER_BYTES:]
        return payload if data[:_HEADER_BYTES] == _MAGIC + _digest(key, payload) else None

    def _write(self, file: Path, data: bytes) -> None:
        # 0700: what is read here is loaded as code
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}-{next(_temporary_numbers)}.tmp")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, file)
        except BaseException:  # Ctrl-C as well: leave nothing behind
            temporary.unlink(missing_ok=True)
            raise

    def _warn(self, verb: str, error: OSError) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        warnings.warn(
            f"cannot {verb} the kernel cache at {self.path}: {error.strerror or error}. Kernels are "
            "compiled again in each process. Free space or change permissions there, point PLUGRAD_CACHE "
            "elsewhere, or set CACHELEVEL=1.",
            RuntimeWarning,
            stacklevel=4,
        )


@cache
def _cache_at(root: Path) -> DiskCache:
    return DiskCache(root)


def kernel_cache() -> DiskCache:
    """Return the cache of compiled kernels in the directory that `PLUGRAD_CACHE` names at this moment."""
    return _cache_at(cache_dir() / "kernels")


def _digest(key: bytes, payload: bytes) -> bytes:
    # the key's length goes first, so that (key, payload) cannot be split differently
    return hashlib.sha256(len(key).to_bytes(8, "little") + key + payload).digest()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
