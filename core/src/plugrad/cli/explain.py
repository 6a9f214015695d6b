"""`plugrad explain`: run a program, and say which operations share kernels and why each kernel ends."""

import argparse
from pathlib import Path

from plugrad.cli.script import run_script
from plugrad.events import subscribe
from plugrad.observe.explain import EXPLAINED_EVENTS, Explainer
from plugrad.observe.style import fold, terminal_width

NAME = "explain"
SUMMARY = "Run a program, and say which operations share a kernel and why each kernel ends where it does."

# values of a paragraph begin so far from its left
_VALUES_AT = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("script", type=Path, help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is called with")


def run(arguments: argparse.Namespace) -> int:
    """Run the program, then print a text for each schedule that it made.

    Raises:
        PlugradError: there is no such program.
    """
    explainer = Explainer()
    try:
        with subscribe(EXPLAINED_EVENTS, explainer):
            run_script(arguments.script, arguments.arguments)
    finally:
        # also of a program that fails: how far it came
        if explainer.texts:
            print(fold("\n\n".join(explainer.texts), terminal_width(), _VALUES_AT))
    if not explainer.texts:
        print(f"{arguments.script} computed nothing.")
    return 0
