"""From source to bytes that a runner can load."""

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Compiler(ABC):
    """One toolchain for one target.

    Attributes:
        cache_key: names the toolchain, its version, the architecture and the flags. Two compilers with the
            same key make interchangeable bytes of the same source: the disk cache relies on it.
        may_overlap: whether `compile_many` may run in another thread while more kernels are lowered. Say so
            where it waits for a process of its own.
    """

    cache_key: str = ""
    may_overlap: bool = False

    @abstractmethod
    def compile(self, source: str, name: str) -> bytes:
        """Return the binary of the kernel `name` in `source`.

        Raises:
            CompileError: the toolchain refused; carries source, log and the command to run again.
        """

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        """Return the binaries of several `(name, source)` units, in order.

        Override it where one run of the toolchain for many kernels is cheaper than one run each.
        """
        return [self.compile(source, name) for name, source in units]

    def disassemble(self, lib: bytes) -> str:
        """Return a listing of a binary, for readers.

        A binary that is text is its own listing.
        """
        return lib.decode(errors="replace") if lib.isascii() else f"{len(lib)} bytes, no disassembler"
