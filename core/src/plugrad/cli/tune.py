"""`plugrad tune`: run a program while searching the fastest optimisations of its kernels."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugrad.cli.output import new_table, print_rich
from plugrad.cli.script import run_script
from plugrad.errors import PlugradError
from plugrad.events import SearchEvent, subscribe
from plugrad.settings import context

NAME = "tune"
SUMMARY = "Run a program once and search for the fastest optimisations of its kernels, which BEAM then uses."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--beam", type=int, default=2, help="lists that each step starts from (default 2)")
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")


def run(arguments: argparse.Namespace) -> int:
    """Run the program, and print what was gained.

    Raises:
        PlugradError: there is no such file, or BEAM would be 0.
    """
    if arguments.beam < 1:
        raise PlugradError(f"--beam {arguments.beam} would search for nothing. Give 1 or more.")
    found: list[SearchEvent] = []
    try:
        with context(BEAM=arguments.beam), subscribe(SearchEvent, found.append):
            run_script(arguments.script, arguments.arguments)
    finally:
        print_report(found, arguments.beam)
    return 0


def print_report(found: list[SearchEvent], beam: int) -> None:
    """Print a table of searched kernels, the most seconds gained first."""
    if not found:
        print_rich("no kernel was searched: all of them are known, or none was run.")
        return
    table = new_table(
        "kernel", "device", "before (us)", "after (us)", "faster", "tried", "wrong", "optimisations"
    )
    for event in sorted(found, key=lambda e: e.seconds_after - e.seconds_before):
        table.add_row(
            event.name,
            event.device,
            f"{event.seconds_before * 1e6:.1f}",
            f"{event.seconds_after * 1e6:.1f}",
            f"{event.seconds_before / event.seconds_after:.2f}x",
            str(event.tried),
            str(event.refused),
            "as before" if event.after == event.before else _join_opts(event.after),
        )
    before = sum(event.seconds_before for event in found)
    after = sum(event.seconds_after for event in found)
    print_rich(
        table,
        f"{len(found)} kernels, each once: {before * 1e3:.2f} ms before, {after * 1e3:.2f} ms after. "
        f"Run the program with BEAM={beam} to use what was found.",
    )


def _join_opts(opts: Sequence[Any]) -> str:
    return ", ".join(f"{opt.op.name} {opt.axis} {opt.arg}" for opt in opts)
