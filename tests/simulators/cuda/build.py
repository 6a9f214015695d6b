"""Build the stand-ins for libcuda and NVRTC, and say how a process is told to use them.

    python tests/simulators/cuda/build.py FOLDER     # builds, and prints the settings for a shell

They are never found by themselves: only the environment variables that this prints make the CUDA plugin load
them, and the device they show is marked as simulated (evidence E2).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
_FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-fvisibility=default")


def find_compiler() -> str | None:
    """Return the C++ compiler of this machine, or None."""
    return next((found for name in ("g++", "clang++", "c++") if (found := shutil.which(name))), None)


def build(folder: Path) -> dict[str, str]:
    """Build both libraries in `folder`, unless they are there and newer; return the environment to use them.

    Raises:
        RuntimeError: there is no C++ compiler, or it refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("the stand-ins for CUDA need a C++ compiler: no g++, clang++ or c++ on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    tools = (
        f'-DPLUGRAD_COMPILER="{compiler}"',
        f'-DPLUGRAD_HERE="{HERE}"',
        f'-DPLUGRAD_PYTHON="{sys.executable}"',
    )
    _compile(compiler, HERE / "driver.cpp", folder / "libcuda.so.1", *tools, "-ldl")
    _compile(compiler, HERE / "nvrtc.cpp", folder / "libnvrtc.so", *tools)
    return {
        "PLUGRAD_CUDA_DRIVER": str(folder / "libcuda.so.1"),
        "PLUGRAD_NVRTC": str(folder / "libnvrtc.so"),
    }


def _compile(compiler: str, source: Path, library: Path, *options: str) -> None:
    inputs = (source, *HERE.glob("*.h"), Path(__file__))
    if library.exists() and library.stat().st_mtime >= max(path.stat().st_mtime for path in inputs):
        return
    unfinished = library.with_name(f"{library.name}.{os.getpid()}")
    command = [compiler, *_FLAGS, str(source), "-o", str(unfinished), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    unfinished.replace(library)


if __name__ == "__main__":
    for name, value in build(Path(sys.argv[1]).absolute()).items():
        print(f"export {name}={value}")
