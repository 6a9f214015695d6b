"""The report lists what is there, what failed and why, and what could be installed."""

import json
from typing import Any

import pytest

from plugrad.plugin.hints import HINTS
from plugrad.plugin.report import BackendReport, State, backend_reports


def by_name(reports: tuple[BackendReport, ...]) -> dict[str, BackendReport]:
    return {report.name: report for report in reports}


def test_a_working_backend_is_shown_with_its_devices(site: Any) -> None:
    site.install_good()
    report = by_name(backend_reports(site.manager()))["CHIP"]
    assert report.state is State.READY
    assert (report.distribution, report.version, report.spec_version) == ("plugrad-chip", "1.0", "1.0")
    assert [device.target.name for device in report.devices] == ["CHIP", "CHIP:1"]


def test_a_failed_plugin_is_shown_with_its_traceback(site: Any) -> None:
    site.install("plugrad-bad", {"bad": "broken_bad"}, "2.5", broken_bad="1 / 0")
    report = by_name(backend_reports(site.manager()))["BAD"]
    assert report.state is State.FAILED
    assert "ZeroDivisionError" in report.reason
    assert "broken_bad.py" in report.traceback
    assert (report.distribution, report.version) == ("plugrad-bad", "2.5")


def test_a_backend_without_devices_says_why_and_what_would_help(site: Any) -> None:
    site.install_good(
        **{"return Probe(": "return Probe(reason='no driver', remedy='Load it.')\n    return Probe("}
    )
    report = by_name(backend_reports(site.manager()))["CHIP"]
    assert (report.state, report.reason, report.remedy) == (State.NO_DEVICE, "no driver", "Load it.")


def test_a_probe_that_raises_is_a_failure_with_its_traceback(site: Any) -> None:
    site.install_good(**{"return Probe(": "1 / 0; return Probe("})
    report = by_name(backend_reports(site.manager()))["CHIP"]
    assert report.state is State.FAILED
    assert "broken_chip.py" in report.traceback


def test_known_backends_that_are_missing_come_with_their_install_line(site: Any) -> None:
    report = by_name(backend_reports(site.manager()))["CUDA"]
    assert report.state is State.NOT_INSTALLED
    assert report.remedy == HINTS[1].install_line


def test_duplicates_are_shown_as_one_failure_each(site: Any) -> None:
    site.install_good()
    site.install("plugrad-rival", {"chip": "broken_rival"}, broken_rival=site.good("chip"))
    failed = [report for report in backend_reports(site.manager()) if report.state is State.FAILED]
    assert sorted(report.distribution for report in failed) == ["plugrad-chip", "plugrad-rival"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_broken_addition_is_shown_beside_its_device(site: Any) -> None:
    site.install_good()
    site.install("plugrad-addition", {"chip": "broken_addition"}, broken_addition="1 / 0")
    states = {report.distribution: report.state for report in backend_reports(site.manager())}
    assert states["plugrad-chip"] is State.READY
    assert states["plugrad-addition"] is State.FAILED


def test_an_addition_is_shown_with_the_hooks_that_it_replaces(site: Any) -> None:
    site.install_good()
    source = (
        "from plugrad.plugin import hookimpl\n"
        "@hookimpl\ndef plugrad_compiler(target): return None\n"
        "@hookimpl(wrapper=True)\ndef plugrad_renderer(target): return (yield)\n"
    )
    site.install("plugrad-chip-more", {"chip": "broken_more"}, broken_more=source)
    report = by_name(backend_reports(site.manager()))["CHIP"]
    assert report.additions == ("plugrad-chip-more 1.0: plugrad_compiler, around plugrad_renderer",)


def test_the_report_is_json(site: Any) -> None:
    site.install_good()
    site.install("plugrad-bad", {"bad": "broken_bad"}, broken_bad="1 / 0")
    data = json.loads(json.dumps([report.as_json() for report in backend_reports(site.manager())]))
    assert data[0]["devices"][1] == {
        "name": "CHIP:1",
        "arch": "v1",
        "description": "chip 1",
        "evidence": "E3",
        "memory_bytes": 0,
        "priority": 50,
        "detail": {},
        "notes": {},
    }
