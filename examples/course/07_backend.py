"""Project 7: a backend of your own in one module, benchmarked against CPU.

    pip install ./tests/conformance
    python examples/course/07_backend.py

`plugrad new-backend`, of plugrad-conformance, writes a distribution that computes from the first minute:
memory, a dialect of C, a compiler and a runner, in under 150 lines. This program writes one, lets its
compiler use the vectors of this machine, and measures three programs on it and on CPU. What is left to win
is what docs/write-a-backend.md adds.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEASURE = """
import json, time
import numpy as np
from plugrad import Tensor
from plugrad.jit import jit

a, b = (Tensor(np.random.default_rng(i).normal(size=(256, 256)).astype(np.float32)).realize() for i in (0, 1))
programs = {
    "product of matrices": lambda a, b: a @ b,
    "exponential": lambda a, b: (a * b).exp(),
    "sums of rows": lambda a, b: (a + b).sum(1),
}
found = {}
for name, program in programs.items():
    step, times = jit(program), []
    for _ in range(8):
        started = time.perf_counter()
        values = step(a, b).numpy()
        times.append(time.perf_counter() - started)
    found[name] = min(times), float(np.abs(values).sum())
print(json.dumps(found))
"""

Times = dict[str, tuple[float, float]]


@contextmanager
def written_backend(flags: str) -> Iterator[tuple[Path, int]]:
    """Write a backend whose compiler takes these flags, and yield its folder and its number of lines."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "plugrad.cli", "new-backend", "mychip", "--directory", folder]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        source = Path(folder) / "plugrad-plugin-mychip" / "src"
        module = source / "plugrad_mychip" / "__init__.py"
        text = module.read_text().replace("-O2", flags)
        module.write_text(text)
        # what installing it would write: the entry point by which the device is found
        info = source / "plugrad_plugin_mychip-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugrad-plugin-mychip\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text("[plugrad.backends]\nmychip = plugrad_mychip\n")
        yield source, text.count("\n")


def measure(device: str, path: Path | None = None) -> Times:
    """Return for each program the best seconds of a call, and the sum of its results' magnitudes."""
    paths = [str(path)] if path else []
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "DEVICE": device, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", MEASURE]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> tuple[int, dict[str, Times]]:
    """Print a table of milliseconds, and return the number of lines and the measurements."""
    found: dict[str, Times] = {}
    sizes: list[int] = []
    for name, flags in (("MYCHIP", "-O2"), ("MYCHIP, vectors", "-O3 -march=native")):
        with written_backend(flags) as (path, size):
            found[name] = measure("MYCHIP", path)
            sizes.append(size)
    found["CPU"] = measure("CPU")
    print(f"the backend has {max(sizes)} lines")
    for device, times in found.items():
        columns = (f"{program} {seconds * 1e3:.2f} ms" for program, (seconds, _) in times.items())
        print(f"{device:16}", ", ".join(columns))
    return max(sizes), found


if __name__ == "__main__":
    if shutil.which("cc") is None:
        sys.exit("this backend compiles with cc, and there is none on PATH")
    main()
