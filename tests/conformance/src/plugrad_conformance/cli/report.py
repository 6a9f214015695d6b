"""`plugrad report`: conformance reports side by side, as a support matrix in Markdown."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from plugrad.errors import FileFormatError
from plugrad_conformance.matrix import support_matrix
from plugrad_conformance.report import read_report


def main(words: Sequence[str]) -> int:
    """Print the support matrix of several reports, or write it.

    Raises:
        FileFormatError: a file is no report.

    Example:
        >>> main(["cpu.json", "opencl.json", "--output", "matrix.md"])  # doctest: +SKIP
        0
    """
    arguments = make_parser().parse_args(words)
    try:
        page = support_matrix([read_report(path) for path in arguments.reports])
    except (OSError, ValueError) as error:
        raise FileFormatError(str(error)) from error
    if arguments.output is None:
        print(page, end="")
    else:
        arguments.output.write_text(page, encoding="utf-8")
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        "plugrad report", description="Compare conformance reports: a support matrix in Markdown."
    )
    parser.add_argument(
        "reports", nargs="+", type=Path, metavar="REPORT", help="JSON that `conformance` wrote"
    )
    parser.add_argument("--output", type=Path, help="where to write it (default: the terminal)")
    return parser
