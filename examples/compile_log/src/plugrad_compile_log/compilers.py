"""Compilers around another one, with its cache key: they make the same bytes."""

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from plugrad.runtime.compiler import Compiler

_DIGEST_BYTES = hashlib.sha256().digest_size


class LoggingCompiler(Compiler):
    """Append a line for each kernel: device, name, seconds and bytes, with tabs between.

    Args:
        inner: the compiler that does the work.
        device: the name in the log.
        log: the file, which is made.

    Raises:
        OSError: the file cannot be written. plugrad then goes on without this wrapper, and warns.
    """

    def __init__(self, inner: Compiler, device: str, log: Path) -> None:
        log.open("a").close()
        self.cache_key = inner.cache_key
        self._inner = inner
        self._device = device
        self._log = log

    def compile(self, source: str, name: str) -> bytes:
        """Return the binary of one kernel."""
        return self.compile_many([(name, source)])[0]

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        """Return the binaries of several kernels; each is logged with its share of the seconds."""
        started = time.perf_counter()
        libs = self._inner.compile_many(units)
        seconds = (time.perf_counter() - started) / len(units)
        with self._log.open("a") as log:
            for (name, _), lib in zip(units, libs, strict=True):
                log.write(f"{self._device}\t{name}\t{seconds:.6f}\t{len(lib)}\n")
        return libs

    def disassemble(self, lib: bytes) -> str:
        """Return the listing of the compiler inside."""
        return self._inner.disassemble(lib)


class CachingCompiler(Compiler):
    """Answer from a directory that several machines may share, as a remote compile cache would.

    A file is named by all that its bytes depend on: the compiler's cache key, the kernel's name, its source.

    Args:
        inner: the compiler for kernels that are not there.
        directory: where they are. Who can write to it can run code in every process that reads it.
    """

    def __init__(self, inner: Compiler, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.cache_key = inner.cache_key
        self._inner = inner
        self._directory = directory

    def compile(self, source: str, name: str) -> bytes:
        """Return the binary of one kernel."""
        return self.compile_many([(name, source)])[0]

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        """Return the binaries of several kernels, compiling missing ones in one go."""
        found = {unit: self._read(self._file(*unit)) for unit in units}
        missing = [unit for unit, lib in found.items() if lib is None]
        compiled = self._inner.compile_many(missing) if missing else []
        for unit, lib in zip(missing, compiled, strict=True):
            self._write(self._file(*unit), lib)
        libs = found | dict(zip(missing, compiled, strict=True))
        return [lib for unit in units if (lib := libs[unit]) is not None]

    def disassemble(self, lib: bytes) -> str:
        """Return the listing of the compiler inside."""
        return self._inner.disassemble(lib)

    def _file(self, name: str, source: str) -> Path:
        key = repr((self.cache_key, name, source)).encode()
        return self._directory / hashlib.sha256(key).hexdigest()

    def _read(self, file: Path) -> bytes | None:
        """Return a binary that is whole, or None: a torn file is compiled again."""
        data = file.read_bytes() if file.exists() else b""
        digest, lib = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        return lib if digest == hashlib.sha256(lib).digest() else None

    def _write(self, file: Path, lib: bytes) -> None:
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(hashlib.sha256(lib).digest() + lib)
        os.replace(temporary, file)
