"""`plugrad devices`: list the devices, and explain the missing ones."""

import argparse
from collections.abc import Iterable

from rich.console import Group
from rich.text import Text

from plugrad import __version__
from plugrad.cli.isolate import TIMEOUT_SECONDS, default_among, explain_isolated
from plugrad.cli.output import add_json_option, new_table, print_json, print_rich
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.hookspecs import SPEC_VERSION
from plugrad.plugin.manager import plugins
from plugrad.plugin.report import BackendReport, State, backend_reports
from plugrad.settings import settings

NAME = "devices"
SUMMARY = "List devices: those found, and for the others why not and what would help."

_STYLES = {
    State.READY: "green",
    State.NO_DEVICE: "yellow",
    State.FAILED: "red",
    State.NOT_INSTALLED: "bright_black",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)
    parser.add_argument("--traceback", action="store_true", help="show where plugins failed")
    parser.add_argument(
        "--isolate",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="load and probe each plugin in a process of its own, where it may crash or hang",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_SECONDS,
        metavar="SECONDS",
        help="how long a plugin may take in its process (default: %(default)g)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    reports = explain_isolated(timeout_seconds=arguments.timeout) if arguments.isolate else backend_reports()
    default = settings.DEVICE.upper() or default_among(reports, plugins.builtin_names())
    if arguments.json:
        print_json(
            {
                "version": __version__,
                "spec_version": SPEC_VERSION,
                "default": default,
                "backends": [report.as_json() for report in reports],
            }
        )
        return 0
    table = new_table("device", "state", "from", "details")
    for report in reports:
        names = "\n".join([report.name, *(f"({alias})" for alias in report.aliases)])
        state = Text(report.state.value, _STYLES[report.state])
        table.add_row(Text(names), state, Text(origin(report)), details(report, arguments.traceback))
    print_rich(table, *install_lines(reports), f"default: {default or 'none'}, hooks {SPEC_VERSION}")
    return 0


def install_lines(reports: Iterable[BackendReport]) -> list[str]:
    """Return a line for each missing device: a table would break its command."""
    missing = [report for report in reports if report.state is State.NOT_INSTALLED and report.remedy]
    return [f"{report.name}: {report.remedy}" for report in missing]


def origin(report: BackendReport) -> str:
    """Return distribution and version, and that of the hooks, of each plugin of the device."""
    lines = [f"{report.distribution} {report.version}".strip(), *report.additions]
    if report.spec_version:
        lines.insert(1, f"hooks {report.spec_version}")
    return "\n".join(line for line in lines if line)


def details(report: BackendReport, with_traceback: bool) -> Group:
    """Return the device's description, its hardware, and for missing hardware the remedy."""
    lines = [Text(report.summary)] if report.summary else []
    for device in report.devices:
        lines += device_lines(device)
    if report.reason:
        lines.append(Text(report.reason, _STYLES[report.state]))
    if report.remedy and report.state is not State.NOT_INSTALLED:
        lines.append(Text(report.remedy, "bold"))
    if report.traceback and with_traceback:
        lines.append(Text(report.traceback.rstrip()))
    return Group(*lines)


def device_lines(device: ProbedDevice) -> list[Text]:
    """Return the lines of a present device: name, model, evidence, notes."""
    memory = f", {device.memory_bytes / 1e9:.1f} GB" if device.memory_bytes else ""
    words = (device.target.name, device.description, device.target.arch)
    head = f"{' '.join(word for word in words if word)}{memory}, evidence {device.evidence.name}"
    return [Text(head), *(Text(f"{name}: {value}") for name, value in device.notes)]
