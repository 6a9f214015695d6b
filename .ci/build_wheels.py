"""Build the wheels of all distributions, and a file of constraints that lets pip install these and no others.

python .ci/build_wheels.py FOLDER    # needs hatchling; FOLDER is emptied first
pip install --constraint FOLDER/constraints.txt plugrad-plugin-opencl
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    ROOT / "core",
    *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml")),
    *sorted(path.parent for path in ROOT.glob("apps/*/pyproject.toml")),
    ROOT / "tests/conformance",
)
PIP_WHEEL = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps")


def main(folder: Path) -> None:
    """Build them in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([*PIP_WHEEL, "--wheel-dir", str(folder), *map(str, SOURCES)], check=True)
    wheels = sorted(folder.glob("*.whl"))
    lines = [f"{wheel.name.partition('-')[0].replace('_', '-')} @ {wheel.as_uri()}\n" for wheel in wheels]
    (folder / "constraints.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
