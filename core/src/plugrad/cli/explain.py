"""`plugrad explain`: run a program, and say which operations share kernels and why each kernel ends."""

import argparse
import runpy
import sys
from pathlib import Path

from plugrad.errors import PlugradError
from plugrad.events import subscribe
from plugrad.observe.explain import EXPLAINED_EVENTS, Explainer

NAME = "explain"
SUMMARY = "Run a program, and say which operations share a kernel and why each kernel ends where it does."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("script", type=Path, help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is called with")


def run(arguments: argparse.Namespace) -> int:
    """Run the program, then print a text for each schedule that it made.

    Raises:
        PlugradError: there is no such program.
    """
    script: Path = arguments.script
    if not script.is_file():
        raise PlugradError(f"there is no program {script}.")
    explainer = Explainer()
    try:
        with subscribe(EXPLAINED_EVENTS, explainer):
            _run_program(script, arguments.arguments)
    finally:
        # also of a program that fails: how far it came
        print("\n\n".join(explainer.texts) or f"{script} computed nothing.")
    return 0


def _run_program(script: Path, words: list[str]) -> None:
    """Run a program as `python script words` would, in this process."""
    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *words]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = argv, path
