"""Find and call NVRTC, in the wheels of site-packages, the toolkit or a given path.

`PLUGRAD_NVRTC` names a library to use instead of all that would be found.
"""

import os
import re
import site
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from plugrad.errors import CompileError, DeviceNotFound
from plugrad_cuda.native import ffi

PATH_VARIABLE = "PLUGRAD_NVRTC"
REMEDY = "Install it: `pip install nvidia-cuda-nvrtc-cu12` (no toolkit is needed)."
_NAMES = {"win32": "nvrtc64_*.dll"}.get(sys.platform, "libnvrtc.so*")


class Output(NamedTuple):
    """The output of one run of NVRTC."""

    image: bytes
    log: str


class Nvrtc:
    """One NVRTC library.

    Args:
        path: of the shared library.

    Attributes:
        version: (major, minor).
        archs: the compute capabilities it compiles for, as NVRTC counts them: 90 is 9.0.

    Raises:
        DeviceNotFound: it does not load.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            # it opens its builtins by their bare name, and the wheels of CUDA 13 do not say where they are
            self._builtins = [ffi.dlopen(str(file)) for file in _builtins_beside(Path(path))]
            self._library: Any = ffi.dlopen(path)
            self.version = self._read_version()
            self.archs = self._read_archs()
        except (OSError, ffi.error) as error:
            raise DeviceNotFound(
                f"NVRTC at {path} does not load: {error}. {REMEDY}", device="CUDA"
            ) from error

    def __repr__(self) -> str:
        return f"<Nvrtc {'.'.join(map(str, self.version))} at {self.path}>"

    def compile(self, source: str, name: str, options: Sequence[str], *, is_ptx: bool = False) -> Output:
        """Compile `source` to machine code, or to PTX text.

        Raises:
            CompileError: NVRTC refused; carries source, log and options.
        """
        library = self._library
        out = ffi.new("void **")
        self._check(
            library.nvrtcCreateProgram(out, source.encode(), f"{name}.cu".encode(), 0, ffi.NULL, ffi.NULL),
            source,
            options,
        )
        try:
            texts = [ffi.new("char[]", option.encode()) for option in options]
            status = library.nvrtcCompileProgram(out[0], len(texts), ffi.new("char const *[]", texts))
            log = self._read(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, out[0])
            text = log.rstrip(b"\0").decode(errors="replace").strip()
            self._check(status, source, options, text)
            if is_ptx:
                image = self._read(library.nvrtcGetPTXSize, library.nvrtcGetPTX, out[0])
            else:
                image = self._read(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, out[0])
            return Output(image, text)
        finally:
            library.nvrtcDestroyProgram(out)

    def _read(self, size: Any, content: Any, program: Any) -> bytes:
        nbytes = ffi.new("size_t *")
        size(program, nbytes)
        memory = ffi.new("char[]", max(1, nbytes[0]))
        content(program, memory)
        return bytes(ffi.buffer(memory, nbytes[0]))

    def _read_version(self) -> tuple[int, int]:
        major, minor = ffi.new("int *"), ffi.new("int *")
        self._library.nvrtcVersion(major, minor)
        return int(major[0]), int(minor[0])

    def _read_archs(self) -> tuple[int, ...]:
        count = ffi.new("int *")
        self._library.nvrtcGetNumSupportedArchs(count)
        archs = ffi.new("int[]", max(1, count[0]))
        self._library.nvrtcGetSupportedArchs(archs)
        return tuple(int(archs[i]) for i in range(count[0]))

    def _check(self, status: int, source: str, options: Sequence[str], log: str = "") -> None:
        if not status:
            return
        what = bytes(ffi.string(self._library.nvrtcGetErrorString(status))).decode()
        raise CompileError(
            f"NVRTC {'.'.join(map(str, self.version))} did not accept the kernel: {what}",
            source=source,
            log=log,
            command=("nvrtc", *options),
        )


@cache
def libraries(asked: str = "") -> tuple[Nvrtc, ...]:
    """Return all NVRTC libraries that load, the newest first.

    Args:
        asked: a path, to look at no other.

    Raises:
        DeviceNotFound: there is none; says where was looked.
    """
    if asked:
        return (Nvrtc(asked),)
    found: dict[tuple[int, int], Nvrtc] = {}
    problems: list[str] = []
    for path in _paths():
        try:
            nvrtc = Nvrtc(str(path))
        except DeviceNotFound as error:
            problems.append(str(error))
            continue
        found.setdefault(nvrtc.version, nvrtc)
    if not found:
        looked = ", ".join(str(folder) for folder in _folders())
        more = f" {' '.join(problems)}" if problems else ""
        raise DeviceNotFound(
            f"there is no NVRTC, the compiler for CUDA: no {_NAMES} in {looked}.{more} {REMEDY}",
            device="CUDA",
        )
    return tuple(found[version] for version in sorted(found, reverse=True))


def choose(arch_number: int, driver_version: int = 0) -> Nvrtc:
    """Return the NVRTC for a compute capability (90 is 9.0) and a driver.

    Of those whose major version the driver knows, the newest that compiles for the architecture, else the
    newest.

    Args:
        arch_number: the compute capability.
        driver_version: the CUDA version of the driver, as it says it (12040 is 12.4); 0: there is none.

    Raises:
        DeviceNotFound: none is found, or all are newer than the driver.
    """
    every = libraries(os.environ.get(PATH_VARIABLE, ""))
    known = [n for n in every if not driver_version or n.version[0] <= driver_version // 1000]
    if not known:
        versions = ", ".join(".".join(map(str, n.version)) for n in every)
        raise DeviceNotFound(
            f"NVRTC {versions} is newer than the driver, which knows CUDA {driver_version // 1000}."
            f"{driver_version % 1000 // 10}: it would not load what NVRTC compiles. Update the driver, or "
            f"install an older NVRTC (`pip install nvidia-cuda-nvrtc-cu{driver_version // 1000}`).",
            device="CUDA",
        )
    return next((n for n in known if arch_number in n.archs), known[0])


def _folders() -> Iterator[Path]:
    sites = dict.fromkeys([*site.getsitepackages(), site.getusersitepackages(), *sys.path])
    for folder in (Path(entry) / "nvidia" for entry in sites if entry):
        if folder.is_dir():
            for package in sorted(folder.iterdir()):
                yield package / ("bin" if sys.platform == "win32" else "lib")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if root := os.environ.get(variable):
            yield Path(root) / "lib64"
    yield Path("/usr/local/cuda/lib64")


def _builtins_beside(library: Path) -> list[Path]:
    plain = re.compile(r"libnvrtc-builtins\.so(\.\d+)*")
    return sorted(file for file in library.parent.glob("libnvrtc-builtins.so*") if plain.fullmatch(file.name))


def _paths() -> Iterator[Path]:
    plain = re.compile(r"libnvrtc\.so(\.\d+)*|nvrtc64_\d+_\d+\.dll")
    for folder in _folders():
        if folder.is_dir():
            yield from sorted(path for path in folder.glob(_NAMES) if plain.fullmatch(path.name))
