"""Time first calls, each in a new process with an empty cache: `python benchmarks/first_calls.py --help`."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from suite.first_call import SHAPES
from suite.machine import describe
from suite.sections import PAGE, section_body, write_section
from suite.table import markdown

_EXPLANATION = """\
The first call of a model in a process that finds no compiled kernel: traced, scheduled, lowered, compiled and
run with {threads} of the machine's threads. "In all" is the time from call to result. The columns behind it
are processor time, which neighbours of the machine change less: of the import, of tracing and scheduling, of
lowering to source, of the C compiler, which runs beside lowering, and of loading and running. Figures are
medians; processes of each model: {count}.
"""
_GROUPS = {"import": "import", "compiler": "compiler", "load": "run", "run": "run", "schedule": "schedule"}
_COLUMNS = ("import", "schedule", "lower", "compiler", "run")


def first_call(name: str, quick: bool, threads: str) -> dict[str, Any]:
    """Return what a new process says of its first call."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "suite.first_call", name, *(["--quick"] if quick else [])]
        environment = {**os.environ, "PLUGRAD_CACHE": cache, "THREADS": threads}
        # without files of its own bytecode, the import compiles all of Python again
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        folder = Path(__file__).parent
        out = subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def row(name: str, results: list[dict[str, Any]]) -> list[str]:
    """Return a case's row: seconds in all, then of each part, and kernels lowered in a second."""
    columns = []
    for result in results:
        seconds = dict.fromkeys(_COLUMNS, 0.0)
        for part, own in result["parts"].items():
            seconds[_GROUPS.get(part, "lower")] += own
        columns.append([result["wall"], *seconds.values(), result["kernels"] / seconds["lower"]])
    *seconds, rate = (statistics.median(column) for column in zip(*columns, strict=True))
    return [name, *(f"{each:.2f} s" for each in seconds), str(results[0]["kernels"]), f"{rate:.0f}"]


def passes(results: list[dict[str, Any]]) -> str:
    """Return the parts of a case as text, the longest first."""
    names = {name for result in results for name in result["parts"]}
    median = {n: statistics.median(result["parts"].get(n, 0.0) for result in results) for n in names}
    return ", ".join(f"{n} {median[n]:.3f}" for n in sorted(names, key=median.__getitem__, reverse=True))


def main() -> None:
    """Measure what the command line asks for, print it, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description="First calls in new processes with empty caches.")
    parser.add_argument("--only", default="", help="names of cases, separated by commas")
    parser.add_argument("--count", type=int, default=3, help="processes of each case (default: %(default)s)")
    parser.add_argument("--threads", default="2", help="the setting THREADS (default: %(default)s)")
    parser.add_argument("--passes", action="store_true", help="print the seconds of each pass")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--write", action="store_true", help=f"write the section of {PAGE.name}")
    options = parser.parse_args()
    rows = [["first call of", "in all", *_COLUMNS, "kernels", "lowered a second"]]
    for name in options.only.split(",") if options.only else SHAPES:
        results = [first_call(name, options.quick, options.threads) for _ in range(options.count)]
        rows.append(row(name, results))
        if options.passes:
            print(f"{name}: {passes(results)}")
    explanation = _EXPLANATION.format(threads=options.threads, count=options.count)
    text = section_body("first_calls.py", (), markdown(rows), explanation, describe())
    if options.write:
        write_section("First calls", text)
    print(text)


if __name__ == "__main__":
    main()
