"""`plugrad conformance`: run the shared test suite on a device."""

import argparse
from pathlib import Path

from plugrad.cli.kit import load_kit

NAME = "conformance"
SUMMARY = "Run the conformance suite on a device, and write its report."
PROFILES = ("contract", "minimal", "core", "full", "edges", "dtypes", "perf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
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


def run(arguments: argparse.Namespace) -> int:
    """Run the suite by pytest.

    Raises:
        PlugradError: the suite is not installed.
    """
    more = ["-k", arguments.select] if arguments.select else []
    more += ["-x"] if arguments.stop else []
    status: int = load_kit().run_suite(
        arguments.device, arguments.profile, arguments.report, arguments.claims, more
    )
    return status
