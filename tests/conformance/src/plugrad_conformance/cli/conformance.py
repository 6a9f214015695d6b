"""`plugrad conformance`: run the shared test suite on a device."""

import argparse
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

PROFILES = ("contract", "minimal", "core", "full", "edges", "dtypes", "perf")


def main(words: Sequence[str]) -> int:
    """Run the suite by pytest and return the exit status.

    Example:
        >>> main(["--device", "PYTHON", "--profile", "contract"])  # doctest: +SKIP
        0
    """
    given = make_parser().parse_args(words)
    package = Path(str(files("plugrad_conformance")))
    arguments = ["-c", str(package / "pytest.ini"), "--rootdir", str(package), "-q"]
    arguments += ["-p", "plugrad_conformance.plugin", "--pyargs", "plugrad_conformance"]
    arguments += ["--device", given.device, "--profile", given.profile]
    # pytest changes no folder, so relative paths mean what the caller meant
    arguments += [] if given.report is None else ["--report", str(given.report.absolute())]
    arguments += [] if given.claims is None else ["--claims", str(given.claims.absolute())]
    arguments += ["-k", given.select] if given.select else []
    arguments += ["-x"] if given.stop else []
    return int(pytest.main(arguments))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        "plugrad conformance", description="Run the conformance suite on a device, and write its report."
    )
    parser.add_argument("--device", required=True, help="the device to test, such as CPU or NAME:1")
    parser.add_argument(
        "--profile", choices=PROFILES, default="core", help="how much to test (default: core)"
    )
    parser.add_argument("--report", type=Path, help="where to write the JSON report")
    parser.add_argument(
        "--claims", type=Path, help="the backend's conformance.toml (default: beside its plugin)"
    )
    parser.add_argument("-k", dest="select", help="only cases whose ids match, as in pytest")
    parser.add_argument("-x", dest="stop", action="store_true", help="stop at the first failure")
    return parser
