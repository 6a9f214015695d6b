"""From C to the bytes of a shared library for this machine.

Several kernels go into one compiler run where a schedule needs several: starting a compiler and linking costs
more than most kernels do. All kernels of a run share one library, told apart by their function names.
"""

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from plugrad._util import shutil
from plugrad.errors import CompileError
from plugrad.runtime.compiler import Compiler, merge_sources
from plugrad_cpu_clang.machine import Machine, available_threads, this_machine
from plugrad_cpu_clang.process import run_compiler, run_compilers, scratch_directory
from plugrad_cpu_clang.toolchain import Toolchain

Unit = tuple[str, str]

ABI_VERSION = 1  # of the functions the renderer writes; libraries of another version are another cache entry
# Measured on two cores: 8 small kernels (9,000 characters) take 140 ms in one run of gcc and 210 in two, 8
# register tiles (22,000 characters) 180 ms in one run of clang and 120 in two.
CHARACTERS_FOR_ANOTHER_RUN = 12_000
# A source this long has its vectors and tiles written out, one line each. gcc 12 compiles the kernels of a
# ResNet-18 in three fifths of the time with the flags below, and whole models take 0.99 to 1.02 of the time
# that -O3 gives. Shorter ones may be loops over scalars, which -O3 makes up to twice as fast.
CHARACTERS_OF_LONG_SOURCES = 6_000
# As good as written out are shorter ones with vectors, but for those that load or choose by a condition, or
# store scalars: -O3 makes some of these a fifth to three times as fast.
_VECTORS = "vector_size"
_LEFT_TO_COMPILERS = re.compile(r"\? (?:\(\w+\))?\*|\bselect_|^ *\*(?:\w+ =|\(\w+\+)", re.MULTILINE)

_COMMON = (
    "-O3",
    "-std=gnu11",
    "-w",
    "-shared",
    "-fPIC",
    "-nostdlib",  # they call libc and libm at most, which the process has; saves a fifth of the time
    "-fno-math-errno",
    "-fno-trapping-math",  # nobody reads the exception flags; values stay exact
    "-ffp-contract=off",  # only MULACC may contract, and says so itself
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
)

_GCC_FLAGS_OF_WRITTEN_OUT = (
    "-O1",
    "-ftree-loop-vectorize",
    "-fvect-cost-model=dynamic",
    "-funswitch-loops",
    "-fsplit-loops",
    "-fpeel-loops",
    "-ftree-loop-distribution",
    "-floop-interchange",  # loads that go down columns: 0.7 instead of 2.2 ms
    "-fexpensive-optimizations",  # sums that many values go into: 0.29 instead of 0.36 ms
    # registers are given to a function at once, not loop by loop; sums of a tile that fills all of them were
    # then stored in each step (14.3 instead of 8.2 ms), but not where addresses are shared first
    "-fira-region=one",
    "-fgcse",
    # what would stay in registers across a loop then costs the loop: constants of a tile's results, say, are
    # moved out of loops only where registers are left
    "-fira-loop-pressure",
    # these find next to nothing in what is written out, and take a tenth of the time
    "-fno-tree-dominator-opts",
    "-fno-dse",
    "-fno-tree-dse",
    # which bits are zero: nearly all that changes is whether moves to and from the stack are written as
    # aligned ones. What pointers may point to is asked all the same: it is how gcc sees `restrict`, without
    # which a 1 x 1 convolution of stride 2 takes 1.4 times as long
    "-fno-tree-bit-ccp",
)
# Without the ranges of integers, loops over scalars stay so (0.15 instead of 0.09 ms), and conditions that
# follow from others are asked again. Where there are neither, code is the same, in seven eighths of the time.
_GCC_RANGES = "-ftree-vrp"
_GCC_PRAGMA_OF_RANGES = f'#pragma GCC optimize ("{_GCC_RANGES}")\n'
_ASKS_FOR_RANGES = re.compile(r" \? |\bselect_|for \([^{}]*\{(?:(?!\d+x\d+)[^{}])*\}")
# Gives kernels below it, in a run with the flags above, the code that they have in a run without these.
_GCC_PRAGMA_OF_OTHERS = """\
#pragma GCC optimize ("-O3", "-fno-gcse", "-fno-rerun-cse-after-loop", "-fno-predictive-commoning", \
"-fno-tree-slp-vectorize", "-fira-region=mixed", "-fno-ira-loop-pressure", "-ftree-dominator-opts", "-fdse", \
"-ftree-dse", "-ftree-bit-ccp")
"""


class CpuCompiler(Compiler):
    r"""Compiles for the machine it runs on.

    Example:
        >>> CpuCompiler(choose_toolchain().toolchain).compile("void k(void) {}", "k")[:4]
        b'\x7fELF'
    """

    may_overlap = True

    def __init__(self, toolchain: Toolchain, machine: Machine | None = None) -> None:
        self.toolchain = toolchain
        machine = machine or this_machine()
        self.flags = compiler_flags(toolchain, machine)
        self._flags_of_written_out = _GCC_FLAGS_OF_WRITTEN_OUT if toolchain.kind == "gcc" else ()
        pragmas = (_GCC_PRAGMA_OF_RANGES, _GCC_PRAGMA_OF_OTHERS)
        own = (*self._flags_of_written_out, str(CHARACTERS_OF_LONG_SOURCES), *pragmas)
        flags = " ".join((*self.flags, *own))
        self.cache_key = "|".join(
            (f"abi{ABI_VERSION}", toolchain.name, toolchain.banner, machine.fingerprint, flags)
        )

    def compile(self, source: str, name: str) -> bytes:
        """Return the shared library of one source.

        Raises:
            CompileError: the compiler refused; carries source, log and the command to run again.
        """
        with scratch_directory() as folder:
            flags = self._flags_for([source])
            command = self._command(folder / f"{_file_stem(name)}.c", source, flags)
            run_compiler(command, source=source, folder=folder)
            return _read_library(folder, command, source)

    def compile_many(self, units: Sequence[Unit]) -> list[bytes]:
        """Return the library of each `(name, source)` unit; units compiled together share the same bytes.

        Raises:
            CompileError: of the first unit that the compiler refuses.
        """
        distinct = list(dict.fromkeys(units))
        groups = split_units(distinct, _runs_for(distinct))
        try:
            libs = self._compile_groups(groups)
        except CompileError:
            if len(distinct) == 1:
                raise
            # one by one, so that the error shows the kernel that is to blame and nothing else
            libs = [self.compile(source, name) for name, source in distinct]
            groups = [[unit] for unit in distinct]
        by_unit = {unit: lib for group, lib in zip(groups, libs, strict=True) for unit in group}
        return [by_unit[unit] for unit in units]

    def disassemble(self, lib: bytes) -> str:
        """Return the machine code of a library as text, by objdump where there is one."""
        tool = shutil.which("objdump") or shutil.which("llvm-objdump")
        if tool is None:
            return f"{len(lib)} bytes; install binutils (objdump) to see the machine code"
        with scratch_directory() as folder:
            path = folder / "kernel.so"
            path.write_bytes(lib)
            return run_compiler([tool, "-d", "--no-show-raw-insn", str(path)]).stdout

    def _compile_groups(self, groups: Sequence[Sequence[Unit]]) -> list[bytes]:
        with scratch_directory() as folder:
            jobs: list[tuple[list[str], str]] = []
            for i, group in enumerate(groups):
                sources = [source for _, source in group]
                merged = self._merged(sources)
                jobs.append((self._command(folder / f"batch{i}.c", merged, self._flags_for(sources)), merged))
            run_compilers(jobs, folder=folder)
            return [_read_library(folder, command, source) for command, source in jobs]

    def _flags_for(self, sources: Sequence[str]) -> tuple[str, ...]:
        """Return the flags for a run."""
        written_out = [source for source in sources if _is_written_out(source)]
        if not written_out or not self._flags_of_written_out:
            return self.flags
        ranges = [_GCC_RANGES] if all(map(_asks_for_ranges, written_out)) else []
        return (*self.flags, *self._flags_of_written_out, *ranges)

    def _merged(self, sources: Sequence[str]) -> str:
        """Return the kernels of a run in one source, each under its own flags."""
        if not self._flags_of_written_out:
            return merge_sources(sources)
        written_out = [source for source in sources if _is_written_out(source)]
        others = [source for source in sources if not _is_written_out(source)]
        plain = [source for source in written_out if not _asks_for_ranges(source)]
        ranged = [source for source in written_out if _asks_for_ranges(source)]
        # what has fewer flags comes first: functions that several call are inlined into higher levels only
        of_ranged = [_GCC_PRAGMA_OF_RANGES] if plain and ranged else []
        of_others = [_GCC_PRAGMA_OF_OTHERS] if written_out and others else []
        return merge_sources([*plain, *of_ranged, *ranged, *of_others, *others])

    def _command(self, path: Path, source: str, flags: Sequence[str]) -> list[str]:
        """Write the source, and return the command that compiles it in its folder."""
        path.write_text(source)
        return [*self.toolchain.command, *flags, "-o", path.with_suffix(".so").name, path.name]


def compiler_flags(toolchain: Toolchain, machine: Machine) -> tuple[str, ...]:
    """Return all flags for kernels on `machine`."""
    x86 = machine.arch in ("x86_64", "AMD64", "i686")
    if toolchain.kind == "zig" or not x86:
        by_cpu = f"-mcpu={machine.level.replace('-', '_') or 'native'}"
    else:
        by_cpu = f"-march={machine.level or 'native'}"
    flags = [*_COMMON, by_cpu]
    if machine.vector_bits == 512:
        # some tunings prefer 256 bits and would split the vectors that the renderer chose
        flags.append("-mprefer-vector-width=512")
    if toolchain.kind == "zig":
        flags.append("-fno-sanitize=all")
    if toolchain.kind == "gcc":
        # gcc 12 packs truths into vectors of two lanes as -1 (`x / x` of two shorts); the renderer has packed
        # already what is worth it
        flags.append("-fno-tree-slp-vectorize")
        # what it carries from step to step takes the registers that a tile needs
        flags.append("-fno-predictive-commoning")
        # constants that it shares between results of a tile wait in the registers of the tile's loop: tanh
        # of a product of matrices takes 3.0 instead of 5.4 ms (gcc 12, 24 vectors in registers)
        flags += ["-fno-gcse", "-fno-rerun-cse-after-loop"]
        # of up to four instructions that could become one, two at a time find as many: a tile's loop takes a
        # third less time to compile, and is the same
        flags += ["--param", "max-combine-insns=2"]
    if x86 and toolchain.kind == "gcc":
        # without ivopts gcc keeps loaded vectors in registers instead of reading memory in each FMA: tiles of
        # 8 x 2 vectors run at 115 instead of 107 GFLOP/s, of 4 x 4 at 115 instead of 57 (gcc 12, Zen 4)
        flags += ["-fcf-protection=none", "-fno-ivopts"]
    if sys.platform == "linux" and toolchain.kind != "zig":
        flags.append("-Wl,-z,noseparate-code")  # 5 instead of 13 KB a library
    if sys.platform == "darwin":
        flags += ["-Wl,-undefined,dynamic_lookup"]
    return tuple(flags)


def _runs_for(units: Sequence[Unit]) -> int:
    """Return the number of runs for all processors but one, which lowers or compiles too."""
    characters = sum(len(source) for _, source in units)
    return max(1, min(available_threads() - 1, 1 + characters // CHARACTERS_FOR_ANOTHER_RUN))


def _is_written_out(source: str) -> bool:
    """Say whether a source leaves compilers no vectors to make and no conditions to move."""
    is_long = len(source) >= CHARACTERS_OF_LONG_SOURCES
    return is_long or (_VECTORS in source and _LEFT_TO_COMPILERS.search(source) is None)


def _asks_for_ranges(source: str) -> bool:
    """Say whether a source has conditions, or loops without vectors."""
    return _ASKS_FOR_RANGES.search(source, max(source.find("_body("), 0)) is not None


def split_units(units: Sequence[Unit], count: int) -> list[list[Unit]]:
    """Split units into at most `count` groups of about equal source length.

    No group has two units of one name.

    Two kernels of one name cannot be in one library, so as many groups as it takes are made.
    """
    groups: list[list[Unit]] = [[] for _ in range(max(1, min(count, len(units))))]
    for unit in sorted(units, key=lambda unit: len(unit[1]), reverse=True):
        free = [group for group in groups if all(unit[0] != name for name, _ in group)]
        if not free:
            groups.append([unit])
            continue
        min(free, key=lambda group: sum(len(source) for _, source in group)).append(unit)
    return [group for group in groups if group]


def _read_library(folder: Path, command: Sequence[str], source: str) -> bytes:
    path = folder / command[command.index("-o") + 1]
    try:
        return path.read_bytes()
    except OSError as error:
        raise CompileError(
            f"{command[0]} ended well but left no {path.name}", source=source, log=str(error), command=command
        ) from error


def _file_stem(name: str) -> str:
    """Return a file name for a kernel: short, since names may be long."""
    return (
        name
        if len(name) < 80 and name.isidentifier()
        else f"k{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    )
