"""Compile CUDA C by NVRTC to machine code, or to PTX for a newer GPU."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plugrad.errors import DeviceNotFound
from plugrad.runtime.compiler import Compiler
from plugrad.target import Target
from plugrad_cuda import nvrtc
from plugrad_cuda.capabilities import version_of

# no contraction: only MULACC may round once, and says so itself
FLAGS = ("-fmad=false", "-std=c++17", "-w")
# NVRTC takes 50 ms to start and 25 for a kernel; each of a program's kernels is loaded with the bytes of all
KERNELS_IN_ONE_PROGRAM = 8


class CudaCompiler(Compiler):
    """NVRTC for one architecture. Needs no driver and no GPU.

    Args:
        target: its `arch` decides; `driver` in its detail is the driver's CUDA version, if there is one.

    Raises:
        DeviceNotFound: there is no NVRTC that fits.
    """

    def __init__(self, target: Target) -> None:
        major, minor = version_of(target.arch)
        number = 10 * major + minor
        driver_version = int(target.get("driver") or 0)
        self._nvrtc = nvrtc.choose(number, driver_version)
        self.is_ptx = number not in self._nvrtc.archs
        if not self.is_ptx:
            chosen = target.arch
        else:
            below = [arch for arch in self._nvrtc.archs if arch <= number]
            if not below or (driver_version and _as_number(self._nvrtc.version) > driver_version):
                raise DeviceNotFound(
                    f"{self._nvrtc!r} does not compile for {target.arch} (it knows "
                    f"{', '.join(f'sm_{arch}' for arch in self._nvrtc.archs)}). Update it: "
                    "`pip install --upgrade nvidia-cuda-nvrtc-cu12`.",
                    device=target.name,
                )
            chosen = f"compute_{max(below)}"  # the driver compiles the rest of the way
        self.options = (f"-arch={chosen}", *FLAGS)
        version = ".".join(map(str, self._nvrtc.version))
        self.cache_key = "|".join((f"nvrtc {version}", *self.options, _edition(self._nvrtc)))

    def compile(self, source: str, name: str) -> bytes:
        """Return the image that the driver loads.

        Raises:
            CompileError: NVRTC refused; carries source, log and options.
        """
        return self._nvrtc.compile(source, name, self.options, is_ptx=self.is_ptx).image

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        """Return the image of each `(name, source)` unit; units compiled together share the same bytes.

        Raises:
            CompileError: of the first unit that NVRTC refuses.
        """
        return self.compile_merged(units, KERNELS_IN_ONE_PROGRAM)

    def compile_unaligned(self, source: str, name: str) -> bytes:
        """Return the image for buffers that do not begin where vectors may."""
        return self._nvrtc.compile(source, name, (*self.options, "-DUNALIGNED"), is_ptx=self.is_ptx).image

    def disassemble(self, lib: bytes) -> str:
        """Return PTX unchanged, and machine code as text where nvdisasm is installed."""
        return listing(lib)


def listing(image: bytes) -> str:
    """Return PTX unchanged, and machine code as text where nvdisasm is installed."""
    tool = shutil.which("nvdisasm")
    if image.rstrip(b"\0").isascii():
        return image.rstrip(b"\0").decode()
    if tool is None:
        return f"{len(image)} bytes; install the CUDA toolkit (nvdisasm) to see the machine code"
    with tempfile.TemporaryDirectory(prefix="plugrad-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(image)
        return subprocess.run([tool, path], capture_output=True, text=True, check=False).stdout


def _as_number(version: tuple[int, int]) -> int:
    """Return a version as drivers count it."""
    return 1000 * version[0] + 10 * version[1]


def _edition(library: nvrtc.Nvrtc) -> str:
    """Return the file size, which tells two libraries of one version apart."""
    try:
        return str(Path(library.path).stat().st_size)
    except OSError:  # found by the system's loader
        return library.path
