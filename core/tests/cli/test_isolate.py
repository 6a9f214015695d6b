"""Plugins are asked in processes of their own: what ends one of them is a line of the report."""

import json
import sys
import time
from collections.abc import Iterator

import pytest

from plugrad.cli import devices, isolate, main
from plugrad.cli.isolate import default_among, explain_isolated, groups
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.manager import PluginManager
from plugrad.plugin.report import BackendReport, State
from plugrad.plugin.source import PluginSource
from plugrad.target import Evidence, Target
from plugrad_conformance.broken_plugins import BROKEN, PluginSite, site

__all__ = ["site"]

PROCESSES = [broken for broken in BROKEN.values() if broken.shows == "process"]

CRASHES = ("crashes-when-imported", "crashes-when-probed")


@pytest.fixture
def install(site: PluginSite) -> Iterator[PluginManager]:
    """Install plugins that no test may load in this process."""
    site.install_good(**{"    return Probe(": "    print('noise')\n    return Probe("})
    for broken in (*PROCESSES, BROKEN["probe-raises"]):
        site.install_broken(broken)
    manager = site.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    yield manager
    assert not site.modules & set(sys.modules)


def only(manager: PluginManager, *names: str) -> PluginManager:
    return manager.only([source for source in manager.sources() if source.name in names])


def test_plugins_that_end_their_process_are_lines_of_the_report(install: PluginManager) -> None:
    answering = install.only([source for source in install.sources() if source.name != "HANGS"])
    reports = {report.name: report for report in explain_isolated(answering, 120)}
    assert reports["CHIP"].state is State.READY
    assert reports["CHIP"].devices[0].description == "chip 0"
    assert reports["NULL"].state is State.READY
    for broken in (*PROCESSES, BROKEN["probe-raises"]):
        if broken.name == "hangs":
            continue
        report = reports[broken.entry_point.upper()]
        assert report.state is State.FAILED, broken.name
        assert broken.says[0] in report.reason
        assert report.distribution == broken.distribution
        assert broken.distribution in report.remedy
    for name in CRASHES:
        broken = BROKEN[name]
        assert f"{broken.module}.py" in reports[broken.entry_point.upper()].traceback


def test_a_plugin_that_hangs_is_ended(install: PluginManager) -> None:
    started = time.monotonic()
    (report, *_) = explain_isolated(only(install, "HANGS"), 1.5)
    assert time.monotonic() - started < 60
    assert report.reason == "loading and probing it did not answer within 1.5 seconds"
    assert report.remedy.startswith("Upgrade or uninstall plugrad-broken-hangs")


def test_a_broken_wrapper_is_one_line_and_its_devices_are_ready(
    site: PluginSite, install: PluginManager
) -> None:
    site.install_wrapper("log", "1 / 0")
    reports = explain_isolated(only(install, "CHIP", "NULL", "LOG"))
    assert [report.name for report in reports[:3]] == ["CHIP", "NULL", "LOG"]
    assert [report.state for report in reports[:3]] == [State.READY, State.READY, State.FAILED]


def test_a_wrapper_that_crashes_is_named(site: PluginSite, install: PluginManager) -> None:
    site.install_wrapper("log", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    reports = {report.name: report for report in explain_isolated(only(install, "CHIP", "LOG"))}
    assert "plugrad-log" in reports["LOG"].remedy
    assert reports["LOG"].reason == "loading and probing it crashed the process: SIGKILL"


def test_what_is_known_and_not_there_comes_last(install: PluginManager) -> None:
    reports = explain_isolated(only(install, "CHIP", "NULL"))
    assert [report.name for report in reports[:2]] == ["CHIP", "NULL"]
    assert {report.state for report in reports[2:]} == {State.NOT_INSTALLED}


def test_a_device_and_its_aliases_and_additions_are_asked_together() -> None:
    names = [("CL", "cl.plugin"), ("CHIP", "chip"), ("OPENCL", "cl.plugin"), ("OPENCL", "better")]
    sources = [PluginSource(name, value, "dist") for name, value in names]
    assert groups(sources) == [(sources[1],), (sources[0], sources[2], sources[3])]


def test_the_default_is_what_the_automatic_choice_takes() -> None:
    def report(name: str, priority: int, *devices: ProbedDevice) -> BackendReport:
        return BackendReport(name, State.READY, priority=priority, devices=devices)

    own = report("OWN", 90, ProbedDevice(Target("OWN")))
    simulated = report("SIMULATED", 70, ProbedDevice(Target("SIMULATED"), evidence=Evidence.E2))
    mixed = report("MIXED", 60, ProbedDevice(Target("MIXED"), priority=5), ProbedDevice(Target("MIXED", 1)))
    chip = report("CHIP", 50, ProbedDevice(Target("CHIP")))
    assert default_among([own, simulated, mixed, chip], ["OWN"]) == "MIXED:1"
    assert default_among([own, simulated], ["OWN"]) == "OWN"
    assert default_among([simulated], []) is None


def test_the_command_asks_in_processes(
    install: PluginManager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = only(install, "CHIP", "ENDS_THE_PROCESS")
    monkeypatch.setattr(devices, "plugins", some)
    monkeypatch.setattr(isolate, "plugins", some)
    monkeypatch.setattr(
        devices, "explain_isolated", lambda timeout_seconds: explain_isolated(some, timeout_seconds)
    )
    monkeypatch.delenv("DEVICE", raising=False)
    assert main(["devices", "--isolate", "--json", "--timeout", "60"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["default"] == "CHIP"
    states = {backend["name"]: backend["state"] for backend in report["backends"]}
    assert (states["CHIP"], states["ENDS_THE_PROCESS"]) == ("ready", "failed")
