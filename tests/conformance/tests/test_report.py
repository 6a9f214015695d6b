"""Tests of plugrad_conformance.report, .matrix, .run and .plugin."""

import json
import subprocess
import sys

import pytest

from plugrad_conformance.catalogue import cases_of
from plugrad_conformance.claims import Claims
from plugrad_conformance.harness.result import OUTCOMES, Row
from plugrad_conformance.matrix import support_matrix, titles
from plugrad_conformance.report import Run, make_report, read_report, summary, write_report

FIELDS = [
    "schema",
    "kit",
    "core",
    "spec",
    "must_pass",
    "profile",
    "status",
    "plugin",
    "device",
    "host",
    "seed",
    "denominators",
    "totals",
    "launches",
    "cases",
    "waivers",
    "perf",
]


def rows_of(profile, outcome="pass"):
    return [Row(case.id, outcome, "because", 0.5, 1.0, 2) for case in cases_of(profile)]


def report_of(bench, rows, claims=None, profile="minimal"):
    return make_report(Run(bench, profile, rows, claims or Claims()))


def test_a_report_has_the_fields_of_the_schema(bench):
    report = report_of(bench, rows_of("minimal"))
    assert list(report) == FIELDS
    assert list(report["totals"]) == list(OUTCOMES)
    assert report["device"]["evidence"] == "E3"
    assert report["status"] == "pass"


def test_cases_that_were_not_run_stay_in_the_denominator(bench):
    report = report_of(bench, rows_of("minimal")[:5])
    assert report["totals"]["not run"] == len(cases_of("minimal")) - 5
    assert report["status"] == "incomplete"


def test_supporting_nothing_changes_no_denominator(bench):
    full, nothing = (
        report_of(bench, rows_of("core"), profile="core"),
        report_of(bench, rows_of("core", "unsupported"), profile="core"),
    )
    assert full["denominators"] == nothing["denominators"]
    assert sum(full["totals"].values()) == sum(nothing["totals"].values())


@pytest.mark.parametrize("outcome", ["fail", "xpass"])
def test_one_bad_outcome_fails_the_run(bench, outcome):
    rows = rows_of("minimal")
    rows[3] = Row(rows[3].id, outcome)
    assert report_of(bench, rows)["status"] == "fail"


def test_wrong_claims_fail_the_run(bench):
    report = report_of(bench, rows_of("minimal"), Claims(problems=("a stale id",)))
    assert report["status"] == "fail"
    assert "claims: a stale id" in summary(report)


def test_a_report_survives_the_disk(bench, tmp_path):
    report = report_of(bench, rows_of("minimal"))
    write_report(report, tmp_path / "r" / "a.json")
    assert read_report(tmp_path / "r" / "a.json") == report


@pytest.mark.parametrize("content", ["", "[]", '{"schema": "0.9"}'])
def test_what_is_no_report_is_refused(content, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"a\.json"):
        read_report(path)


def test_the_matrix_has_a_column_for_each_report(bench):
    good, bad = report_of(bench, rows_of("minimal")), report_of(bench, rows_of("minimal", "fail"))
    page = support_matrix([good, bad])
    assert "| area | PYTHON | PYTHON |" in page
    assert "E3 (executed)" in page
    assert "| PYTHON | minimal/kernels/chain | fail | because |" in page


def test_reports_of_one_device_are_told_apart_by_their_compilers(bench):
    first, second = report_of(bench, rows_of("minimal")), report_of(bench, rows_of("minimal"))
    first["device"]["compiler"], second["device"]["compiler"] = "nvrtc 12|sm_90", "PTX|sm_90"
    assert titles([first, second]) == ["PYTHON (nvrtc 12)", "PYTHON (PTX)"]
    assert titles([first, first]) == ["PYTHON", "PYTHON"]


def test_reports_of_different_lists_of_cases_are_pointed_out(bench):
    now, before = report_of(bench, rows_of("minimal")), report_of(bench, rows_of("minimal"))
    assert "different lists" not in support_matrix([now, now])
    before["denominators"]["minimal"] -= 1
    assert "make those with fewer anew" in support_matrix([now, before])


def test_speed_is_shown_beside_the_load_of_the_machine(bench):
    report = report_of(bench, rows_of("perf"), profile="perf")
    report["perf"] = {"copy": {"to_host_gb_per_s": 2.5}}
    report["host"] |= {"load": 0.25, "cores": 8}
    page = support_matrix([report_of(bench, rows_of("minimal")), report])
    assert "| copy to host GB/s | 2.5 |" in page
    assert "| load of the machine | 0.25 on 8 cores |" in page


def test_the_suite_runs_by_the_documented_command(tmp_path):
    report = tmp_path / "out.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "plugrad_conformance.plugin",
        "--pyargs",
        "plugrad_conformance",
    ]
    command += [
        "--device",
        "PYTHON",
        "--profile",
        "minimal",
        "--report",
        str(report),
        "-k",
        "chain or zero-bytes",
    ]
    done = subprocess.run(
        [*command, "-c", "/dev/null"], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    totals = json.loads(report.read_text())["totals"]
    assert totals["pass"] == 2
    assert totals["fail"] == 0


def test_a_device_must_be_named():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "plugrad_conformance.plugin",
        "--pyargs",
        "plugrad_conformance",
        "-c",
        "/dev/null",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "needs --device NAME" in done.stderr
