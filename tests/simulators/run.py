"""Run a command where a device is simulated: python tests/simulators/run.py NAME FOLDER COMMAND ...

NAME is a folder beside this file; its stand-ins are built in FOLDER, unless they are there already.
"""

import os
import runpy
import subprocess
import sys
from pathlib import Path


def main(name: str, folder: str, *command: str) -> int:
    """Build the stand-ins, run the command with them, and return its exit status."""
    build = runpy.run_path(str(Path(__file__).with_name(name) / "build.py"))["build"]
    settings: dict[str, str] = build(Path(folder).absolute())
    return subprocess.run(command, env=os.environ | settings, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
