"""From source to bytes that a runner can load."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from plugrad.errors import CompileError


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

    def compile_merged(self, units: Sequence[tuple[str, str]], most: int) -> list[bytes]:
        """Return the binaries of `(name, source)` units, up to `most` of them compiled as one source.

        Units compiled together share the same bytes.

        Raises:
            CompileError: of the first unit that the toolchain refuses.
        """
        libs: dict[tuple[str, str], bytes] = {}
        waiting = list(dict.fromkeys(units))
        while waiting:
            # a binary has one kernel of a name
            named: dict[str, tuple[str, str]] = {}
            for unit in waiting:
                if len(named) < most:
                    named.setdefault(unit[0], unit)
            group = list(named.values())
            libs.update(zip(group, self._compile_group(group), strict=True))
            waiting = [unit for unit in waiting if unit not in libs]
        return [libs[unit] for unit in units]

    def _compile_group(self, group: Sequence[tuple[str, str]]) -> list[bytes]:
        if len(group) > 1:
            try:
                return [self.compile(merge_sources([source for _, source in group]), group[0][0])] * len(
                    group
                )
            except CompileError:
                pass  # one by one, so that the error shows the kernel that is to blame and nothing else
        return [self.compile(source, name) for name, source in group]

    def disassemble(self, lib: bytes) -> str:
        """Return a listing of a binary, for readers.

        A binary that is text is its own listing.
        """
        return lib.decode(errors="replace") if lib.isascii() else f"{len(lib)} bytes, no disassembler"


def merge_sources(sources: Sequence[str]) -> str:
    r"""Return one source with the kernels of all, each paragraph once.

    Blank lines separate paragraphs: the renderer keeps a definition in one, before those that use it.

    Example:
        >>> merge_sources(["typedef int i32;\n\nkernel a\n", "typedef int i32;\n\nkernel b\n"])
        'typedef int i32;\n\nkernel a\n\nkernel b\n'
    """
    paragraphs = (part.strip("\n") for source in sources for part in source.split("\n\n"))
    return "\n\n".join(dict.fromkeys(part for part in paragraphs if part)) + "\n"
