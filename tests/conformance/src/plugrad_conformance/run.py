"""Start the suite: what `plugrad conformance` and `plugrad report` call."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from plugrad_conformance.matrix import support_matrix
from plugrad_conformance.report import read_report


def run_suite(
    device: str,
    profile: str = "core",
    report: Path | None = None,
    claims: Path | None = None,
    more: Sequence[str] = (),
) -> int:
    """Run a profile on a device by pytest and return the exit status.

    Args:
        device: the device's name.
        profile: how much to do.
        report: where to write the JSON report.
        claims: the backend's `conformance.toml`.
        more: further options of pytest, such as `-k` and `-x`.
    """
    package = Path(str(files("plugrad_conformance")))
    arguments = [
        "-c",
        str(package / "pytest.ini"),
        "--rootdir",
        str(package),
        "-q",
        "-p",
        "plugrad_conformance.plugin",
    ]
    arguments += ["--pyargs", "plugrad_conformance", "--device", device, "--profile", profile]
    # pytest changes no folder, so relative paths mean what the caller meant
    arguments += [] if report is None else ["--report", str(report.absolute())]
    arguments += [] if claims is None else ["--claims", str(claims.absolute())]
    return int(pytest.main([*arguments, *more]))


def compare_reports(paths: Sequence[Path]) -> str:
    """Return the support matrix of several reports, in Markdown.

    Raises:
        ValueError: a file is no report.
    """
    return support_matrix([read_report(path) for path in paths])
