"""Run a Python program from a command, as `python program.py` would."""

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from plugrad.errors import PlugradError


def run_script(script: Path, arguments: Sequence[str]) -> None:
    """Run a program as `__main__`, with its arguments and its folder on the path."""
    if not script.is_file():
        raise PlugradError(f"there is no program {script}. Give the path of a Python program.")
    given, path = sys.argv, sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = given, path
