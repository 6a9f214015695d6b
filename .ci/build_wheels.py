"""Build the wheels of all distributions, and constraints that let pip install no others.

python .ci/build_wheels.py FOLDER [ADDRESS]    # needs hatchling; FOLDER is emptied first
pip install --constraint FOLDER/constraints.txt plugrad-plugin-opencl

ADDRESS is that of the repository on its forge, which a release gives: wheels then say where documentation,
sources and issues are, and errors link to their help pages.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    ROOT / "core",
    *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml")),
    *sorted(path.parent for path in ROOT.glob("apps/*/pyproject.toml")),
    ROOT / "tests/conformance",
)
PIP_WHEEL = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps")
# as GitHub has them; plugrad.messages reads where the documentation is
URLS = """
[project.urls]
Homepage = "{address}"
Documentation = "{address}/tree/v{version}/docs"
Source = "{address}/tree/v{version}"
Changelog = "{address}/blob/v{version}/CHANGELOG.md"
Issues = "{address}/issues"
"""


def addressed(source: Path, address: str, parent: Path) -> Path:
    """Copy a distribution to a folder below `parent`, with the URLs of its project."""
    copy = parent / source.relative_to(ROOT)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    settings = copy / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    settings.write_text(text + URLS.format(address=address.rstrip("/"), version=version), encoding="utf-8")
    return copy


def main(folder: Path, address: str = "") -> None:
    """Build them in `folder`, for the repository at `address` if there is one."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as copies:
        sources = [addressed(source, address, Path(copies)) for source in SOURCES] if address else SOURCES
        subprocess.run([*PIP_WHEEL, "--wheel-dir", str(folder), *map(str, sources)], check=True)
    wheels = sorted(folder.glob("*.whl"))
    lines = [f"{wheel.name.partition('-')[0].replace('_', '-')} @ {wheel.as_uri()}\n" for wheel in wheels]
    (folder / "constraints.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *sys.argv[2:])
