"""Build the page of the explorer from its sources: python apps/viz/build.py.

Needs node; `npm ci` brings what package-lock.json names. The result is committed, since who installs a wheel
or runs the tests has no node.
"""

import shutil
import subprocess
from pathlib import Path

WEB = Path(__file__).resolve().parent / "web"


def main() -> None:
    """Install what is missing, check types, and build."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("there is no npm: install node 20 or newer")
    if not (WEB / "node_modules").is_dir():
        subprocess.run([npm, "ci"], cwd=WEB, check=True)
    subprocess.run([npm, "run", "build"], cwd=WEB, check=True)


if __name__ == "__main__":
    main()
