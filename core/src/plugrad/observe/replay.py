"""Compare the kernels of a program with those of its recording before, for REPLAY=1.

After a change of plugrad, or between two commits, the same program shows which kernels the change touched:

    git switch main && VIZ=1 python program.py
    git switch mine && REPLAY=1 python program.py
"""

import sys
from collections.abc import Callable
from pathlib import Path

from plugrad._util import json
from plugrad.errors import SettingsError
from plugrad.extensions import COMMANDS, load_extension
from plugrad.plugin.hints import PROGRAMS


def comparison_with(recording: Path) -> Callable[[], None]:
    """Return a function that prints how kernels in `recording` differ from the program's recording before.

    Args:
        recording: where this process records, which need not exist yet; those before lie in its folder.

    Raises:
        SettingsError: plugrad-viz, which compares recordings, is not installed.
    """
    explorer = load_extension(COMMANDS, "viz")
    if explorer is None:
        how = f"Install it: {PROGRAMS['viz'].install_line}"
        raise SettingsError(f"REPLAY=1 needs plugrad-viz, which compares recordings. {how}", name="REPLAY")
    before = latest_of(sys.argv, recording.parent)
    if before is None:
        return lambda: print("REPLAY: nothing to compare with, this is the program's first recording")
    return lambda: explorer.main([str(recording), "--against", str(before)])


def latest_of(program: list[str], folder: Path) -> Path | None:
    """Return the recording in `folder` that the same command line wrote last, or None."""
    newest_first = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    return next((path for path in newest_first if _program_of(path) == program), None)


def _program_of(recording: Path) -> object:
    """Return the command line in a recording's first line, or None where that is damaged."""
    with recording.open(encoding="utf-8") as file:
        try:
            return json.loads(file.readline()).get("program")
        except (ValueError, AttributeError):
            return None
