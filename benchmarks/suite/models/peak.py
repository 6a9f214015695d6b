"""The most memory that a model takes in a process of its own, in which one library runs it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suite.models.cases import Case, cases

Call = Callable[[], Any]
_CALLS = 4  # a jitted function replays by then
_QUICK = "--quick"


def print_peak(make_call: Callable[[Case], Call]) -> None:
    """Run the case that the command line names by its number, and print the bytes it took."""
    number, *options = sys.argv[1:]
    call = make_call(cases(_QUICK in options)[int(number)])
    for _ in range(_CALLS):
        call()
    print(_peak_bytes())


def peak_bytes(library: str, number: int, quick: bool) -> int:
    """Return the most bytes that were resident in a new process with one case."""
    command = [
        sys.executable,
        "-m",
        f"suite.models.with_{library}",
        str(number),
        *([_QUICK] if quick else []),
    ]
    folder = Path(__file__).parents[2]
    out = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return int(out.stdout)


def _peak_bytes() -> int:
    # `getrusage` counts what the parent had as well, from before the new program was loaded
    status = Path("/proc/self/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) << 10
