"""`plugrad report`: conformance reports side by side, as a support matrix in Markdown."""

import argparse
from pathlib import Path

from plugrad.cli.kit import load_kit
from plugrad.errors import FileFormatError

NAME = "report"
SUMMARY = "Compare conformance reports: a support matrix in Markdown."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "reports", nargs="+", type=Path, metavar="REPORT", help="JSON that `conformance` wrote"
    )
    parser.add_argument("--output", type=Path, help="where to write it (default: the terminal)")


def run(arguments: argparse.Namespace) -> int:
    """Print the matrix, or write it.

    Raises:
        PlugradError: the suite is not installed, or a file is no report.
    """
    try:
        page: str = load_kit().compare_reports(arguments.reports)
    except (OSError, ValueError) as error:
        raise FileFormatError(str(error)) from error
    if arguments.output is None:
        print(page, end="")
    else:
        arguments.output.write_text(page, encoding="utf-8")
    return 0
