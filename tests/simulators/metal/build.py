"""Build the stand-in for Metal, and say how a process is told to use it.

    python tests/simulators/metal/build.py FOLDER    # builds, and prints the settings for a shell

It is never found by itself: only the environment variables that this prints make `import Metal` find it, and
the device it shows is marked as simulated (evidence E2).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# what _FORTIFY_SOURCE adds to longjmp refuses to go from one stack to another
_FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-U_FORTIFY_SOURCE")


def find_compiler() -> str | None:
    """Return the C++ compiler of this machine, or None."""
    return next((found for name in ("g++", "clang++", "c++") if (found := shutil.which(name))), None)


def build(folder: Path) -> dict[str, str]:
    """Build the library in `folder`, unless it is there and newer; return the environment to use it.

    Raises:
        RuntimeError: there is no C++ compiler, or it refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("the stand-in for Metal needs a C++ compiler: no g++, clang++ or c++ on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libmetal_runtime.so"
    source = HERE / "runtime.cpp"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        unfinished = library.with_name(f"{library.name}.{os.getpid()}")
        command = [compiler, *_FLAGS, str(source), "-o", str(unfinished)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        unfinished.replace(library)
    inherited = os.environ.get("PYTHONPATH")
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE / "modules"), inherited))),
        "PLUGRAD_SIM_COMPILER": compiler,
        "PLUGRAD_SIM_RUNTIME": str(library),
    }


if __name__ == "__main__":
    for name, value in build(Path(sys.argv[1]).absolute()).items():
        print(f"export {name}={value}")
