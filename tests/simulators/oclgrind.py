"""Run a command where Debian's oclgrind is the OpenCL device: python tests/simulators/oclgrind.py COMMAND ...

It executes kernels work-item by work-item, and reports what real devices do in silence: races between
work-items, accesses outside of a buffer, barriers that not all items reach. A report makes the command fail.

Its other check, of uninitialised values, crashes on vectors in version 21.10, so it is not asked for.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = tuple(Path(folder) / "oclgrind" for folder in ("/usr/lib", "/usr/local/lib"))


def find_driver() -> Path | None:
    """Return the library that OpenCL's loader opens, or None."""
    return next((path for folder in FOLDERS if (path := folder / "liboclgrind-rt-icd.so").is_file()), None)


def settings(driver: Path, log: Path) -> dict[str, str]:
    """Return the environment in which oclgrind is the only OpenCL device."""
    checks = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_MAX_ERRORS": "20"}
    return {"OCL_ICD_VENDORS": str(driver), "OCLGRIND_LOG": str(log), **checks}


def main(*command: str) -> int:
    """Run the command and print reports; return its exit status, or 1 for a report."""
    driver = find_driver()
    if driver is None:
        print(f"skipped: no liboclgrind-rt-icd.so in {', '.join(map(str, FOLDERS))}")
        return 0
    with tempfile.TemporaryDirectory(prefix="plugrad-oclgrind-") as folder:
        log = Path(folder) / "log"
        status = subprocess.run(command, env=os.environ | settings(driver, log), check=False).returncode
        reported = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    print(reported, end="", file=sys.stderr)
    return status or int(bool(reported.strip()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
