"""Measure plugrad beside its peers and print a table: `python benchmarks/run.py --help`."""

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from suite.bench import ROUNDS, Bench
from suite.cases import CASES, select
from suite.peers import PEERS, Peer
from suite.sections import sections_behind
from suite.table import headings, markdown, row, show_limits, summary

_EXPLANATION = """\
Each figure is the median over {rounds} processes of the best call in each; the libraries took turns. In
brackets: how many times plugrad's time that is; "best" is the fastest of the others. Input and output count
once for GB/s. "Of the limit" compares with what a C program reached on the same cores between the libraries'
turns, also the median. tinygrad (CPU device, clang), JAX and plugrad run jitted unless the case says
otherwise; torch and NumPy run eagerly. Results are compared with NumPy's before they are timed.
"""


def main() -> None:
    """Measure what the command line asks for, and print it."""
    options = _options()
    if options.list:
        print("\n".join(f"{case.name:18} {case.title}" for case in CASES))
        return
    cases, peers = select(options.only), _peers(options.libraries)
    with tempfile.TemporaryDirectory(prefix="plugrad-benchmarks-") as scratch:
        bench = Bench(Path(scratch), options.rounds, options.quick, not options.no_machine, _progress)
        bench.run(cases, peers)
        _progress("")
    names = [peer.name for peer in peers]
    limits, results = bench.limits(), bench.results()
    table = [headings(names, limits), *(row(case, results, names, bench.limits(case.name)) for case in cases)]
    about = _about(bench, peers)
    if options.json:
        _write(options.json, json.dumps({"about": about, **bench.report()}, indent=1))
    if options.markdown:
        page = _page(table, about, bench.rounds, summary(cases, results))
        _write(options.markdown, page + _kept(options.markdown))
    if "-" not in (options.json, options.markdown):
        _show(table, about, summary(cases, results))
    for (case, library), error in bench.errors.items():
        print(f"{library} fails in {case}: {error}", file=sys.stderr)
    sys.exit(any(library == "plugrad" for _, library in bench.errors))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure plugrad beside tinygrad, torch, JAX and NumPy.")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="cases that begin like this"
    )
    parser.add_argument(
        "--libraries", default=",".join(PEERS), help="which to measure (default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=0, help=f"processes for each figure (default: {ROUNDS})"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: does it run at all?")
    parser.add_argument("--no-machine", action="store_true", help="do not measure the machine's limits")
    file = {"nargs": "?", "const": "-", "default": "", "metavar": "FILE"}
    parser.add_argument("--markdown", **file, help="write the page docs/benchmarks.md (default: print it)")
    parser.add_argument("--json", **file, help="write all samples (default: print them)")
    parser.add_argument("--list", action="store_true", help="list the cases")
    return parser.parse_args()


def _write(path: str, text: str) -> None:
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text + "\n")


def _kept(path: str) -> str:
    """Return the sections of a page that other programs have written."""
    file = Path(path)
    kept = sections_behind(file.read_text()).rstrip() if path != "-" and file.exists() else ""
    return f"\n\n{kept}" if kept else ""


def _peers(names: str) -> list[Peer]:
    for name in names.split(","):
        if name not in PEERS:
            raise SystemExit(f"there is no library {name!r} here; there are {', '.join(PEERS)}.")
    chosen = [PEERS[name] for name in names.split(",")]
    for peer in chosen:
        if not peer.is_installed:
            print(f"{peer.name} is left out: it is not installed.", file=sys.stderr)
    return [peer for peer in chosen if peer.is_installed]


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _about(bench: Bench, peers: Sequence[Peer]) -> dict[str, str]:
    """Say on what, with what and when."""
    machine = bench.description()
    about = {"machine": ", ".join(f"{k}: {v}" for k, v in machine.items())} if machine else {}
    if bench.machine:
        about["limits"] = show_limits(bench.limits())
    about["versions"] = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    about["date"] = datetime.date.today().isoformat()
    return about


def _page(table: Sequence[Sequence[str]], about: Mapping[str, str], rounds: int, ratios: str) -> str:
    command = " ".join(["python benchmarks/run.py", *sys.argv[1:]])
    facts = "\n".join(f"- {name}: {text}" for name, text in about.items())
    return (
        f"# Benchmarks\n\nWritten by `{command}`; do not edit.\n\n{facts}\n\n{markdown(table)}\n\n"
        + (f"{ratios}\n\n" if ratios else "")
        + _EXPLANATION.format(rounds=rounds).rstrip()
    )


def _show(table: Sequence[Sequence[str]], about: Mapping[str, str], ratios: str) -> None:
    console = Console()
    shown = Table(*table[0], box=box.SIMPLE)
    for line in table[1:]:
        shown.add_row(*line)
    console.print(shown)
    if ratios:
        console.print(ratios, highlight=False)
    for name, text in about.items():
        console.print(f"{name}: {text}", highlight=False)


if __name__ == "__main__":
    main()
