"""Check that each wheel holds its whole package, the typing marker and the licence, and its version.

python .ci/check_wheels.py FOLDER [VERSION]
"""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    ROOT / "core/src",
    *sorted(ROOT.glob("plugins/*/src")),
    *sorted(ROOT.glob("apps/*/src")),
    ROOT / "tests/conformance/src",
)


def missing_from(names: set[str], source: Path) -> list[str]:
    """Return what the wheel with these `names` lacks of the packages under `source`."""
    files = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {path.relative_to(source).as_posix() for path in files}
    wanted |= {f"{package.name}/py.typed" for package in source.iterdir() if package.is_dir()}
    missing = sorted(wanted - names)
    if not any(name.endswith("licenses/LICENSE") for name in names):
        missing.append("LICENSE")
    return missing


def main(folder: str, version: str = "") -> int:
    """Check all wheels of `folder` and return the exit status."""
    contents = {path.name: set(zipfile.ZipFile(path).namelist()) for path in Path(folder).glob("*.whl")}
    failed = len(contents) != len(SOURCES)
    for source in SOURCES:
        package = next(path.name for path in source.iterdir() if path.is_dir() and path.suffix == "")
        wheel = next((name for name, names in contents.items() if f"{package}/__init__.py" in names), None)
        missing = missing_from(contents[wheel], source) if wheel else ["the wheel"]
        print(
            f"{package}: {wheel or 'no wheel'}, {'missing ' + ', '.join(missing) if missing else 'complete'}"
        )
        failed = failed or bool(missing)
    for name in contents:
        found = name.split("-")[1]
        if version and found != version:
            print(f"{name}: the version is {found}, not {version}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
