"""Plugins are asked in processes of their own: what ends one of them is a line of the report."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad.cli import devices, isolate, main
from plugrad.cli.isolate import default_among, explain_isolated, groups
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.explain import BackendReport, State
from plugrad.plugin.manager import PluginManager
from plugrad.plugin.source import PluginSource
from plugrad.target import Evidence, Target

GOOD = """
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.target import Target

@hookimpl
def plugrad_backend_info():
    return BackendInfo("NAME", spec_version="1.1", priority=50)

@hookimpl
def plugrad_probe():
    print("noise")
    return Probe((ProbedDevice(Target("NAME"), "a chip"),))

@hookimpl
def plugrad_allocator(target): pass
"""
PROBE = "    print("
CRASH = "    import ctypes; ctypes.string_at(0)\n" + PROBE
EXIT = "    import os; os._exit(3)\n" + PROBE
LEAVE = "    import os; os._exit(0)\n" + PROBE
HANG = "    import time; time.sleep(600)\n" + PROBE
RAISE = "    1 / 0\n" + PROBE


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluginManager]:
    """Install a zoo of distributions, whose plugins no test may load in this process."""
    monkeypatch.syspath_prepend(str(tmp_path))
    zoo = {
        "good": GOOD,
        "crashes": GOOD.replace(PROBE, CRASH),
        "crashes_at_import": "import ctypes; ctypes.string_at(0)",
        "exits": GOOD.replace(PROBE, EXIT),
        "leaves": GOOD.replace(PROBE, LEAVE),
        "hangs": GOOD.replace(PROBE, HANG),
        "raises": GOOD.replace(PROBE, RAISE),
    }
    for name, source in zoo.items():
        info = tmp_path / f"zoo_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: zoo-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[plugrad.backends]\n{name} = isolated_{name}\n")
        (tmp_path / f"isolated_{name}.py").write_text(source.replace('"NAME"', f'"{name.upper()}"'))
    sources = tuple(PluginSource(name.upper(), f"isolated_{name}", f"zoo-{name}", "1.0") for name in zoo)
    manager = PluginManager(lambda: sources)
    manager.register_builtin("NULL", "plugrad.builtin.null")
    yield manager
    assert not [name for name in sys.modules if name.startswith("isolated_")]


def test_plugins_that_end_their_process_are_lines_of_the_report(install: PluginManager) -> None:
    answering = install.only([source for source in install.sources() if source.name != "HANGS"])
    reports = {report.name: report for report in explain_isolated(answering, 120)}
    assert reports["GOOD"].state is State.READY
    assert reports["GOOD"].devices[0].description == "a chip"
    assert reports["NULL"].state is State.READY
    reasons = {
        "CRASHES": "crashed the process: SIGSEGV",
        "CRASHES_AT_IMPORT": "crashed the process: SIGSEGV",
        "EXITS": "ended the process with status 3",
        "LEAVES": "ended the process before it answered",
        "RAISES": "plugrad_probe raised ZeroDivisionError",
    }
    for name, reason in reasons.items():
        assert reports[name].state is State.FAILED, name
        assert reason in reports[name].reason
        assert reports[name].distribution == f"zoo-{name.lower()}"
        assert f"zoo-{name.lower()}" in reports[name].remedy
    assert "isolated_crashes.py" in reports["CRASHES"].traceback
    assert "isolated_crashes_at_import.py" in reports["CRASHES_AT_IMPORT"].traceback


def test_a_plugin_that_hangs_is_ended(install: PluginManager) -> None:
    started = time.monotonic()
    (report, *_) = explain_isolated(install.only([s for s in install.sources() if s.name == "HANGS"]), 1.5)
    assert time.monotonic() - started < 60
    assert report.reason == "loading and probing it did not answer within 1.5 seconds"
    assert report.remedy.startswith("Upgrade or uninstall zoo-hangs")


def test_what_is_known_and_not_there_comes_last(install: PluginManager) -> None:
    reports = explain_isolated(install.only([s for s in install.sources() if s.name in ("GOOD", "NULL")]))
    assert [report.name for report in reports[:2]] == ["GOOD", "NULL"]
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
    some = install.only([s for s in install.sources() if s.name in ("GOOD", "EXITS")])
    monkeypatch.setattr(devices, "plugins", some)
    monkeypatch.setattr(isolate, "plugins", some)
    monkeypatch.setattr(
        devices, "explain_isolated", lambda timeout_seconds: explain_isolated(some, timeout_seconds)
    )
    monkeypatch.delenv("DEVICE", raising=False)
    assert main(["devices", "--isolate", "--json", "--timeout", "60"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["default"] == "GOOD"
    states = {backend["name"]: backend["state"] for backend in report["backends"]}
    assert (states["GOOD"], states["EXITS"]) == ("ready", "failed")
