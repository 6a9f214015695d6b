"""gcc as the compiler of the device CPU: one hook that replaces the device's."""

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from plugrad.errors import CompileError, DeviceNotFound
from plugrad.plugin import hookimpl
from plugrad.runtime.compiler import Compiler
from plugrad.target import Target

FLAGS = (
    *("-O3", "-march=native", "-shared", "-fPIC", "-w"),
    # values as plugrad defines them: each rounding once and in order, integers that wrap
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing"),
)
REMEDY = "apt install gcc, or pip uninstall plugrad-example-gcc."


class Gcc(Compiler):
    """Makes shared libraries for the machine it runs on.

    Args:
        arch: of the machine, as the device's probe names it.

    Raises:
        DeviceNotFound: there is no gcc.
    """

    def __init__(self, arch: str) -> None:
        found = shutil.which("gcc")
        if found is None:
            raise DeviceNotFound(f"there is no gcc on PATH. {REMEDY}", device="CPU")
        self.command = (found, *FLAGS)
        # what -march=native means differs between machines of one architecture
        self.cache_key = " ".join((arch, _first_line(found, "--version"), *FLAGS, _native(found)))

    def compile(self, source: str, name: str) -> bytes:
        """Return the shared library of one source.

        Raises:
            CompileError: gcc refused it.
        """
        with tempfile.TemporaryDirectory(prefix="plugrad-gcc-") as folder:
            output = Path(folder, "kernel.so")
            command = (*self.command, "-o", str(output), "-x", "c", "-", "-lm")
            done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"gcc refused {name}", source=source, log=done.stderr, command=command)
            return output.read_bytes()


@hookimpl
def plugrad_compiler(target: Target) -> Gcc | None:
    """Return gcc for the CPU, and nothing for any other device."""
    return Gcc(target.arch) if target.device == "CPU" else None


@cache
def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.partition("\n")[0]


@cache
def _native(gcc: str) -> str:
    """Return the flags that -march=native stands for on this machine."""
    command = [gcc, "-march=native", "-E", "-v", "-x", "c", "/dev/null"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    return next((line.strip() for line in lines if "-march=" in line and "cc1" in line), "")
