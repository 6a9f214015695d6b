"""Tests of plugrad.cli.devices."""

import json

import pytest

from plugrad.cli import devices, main
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.report import BackendReport, State
from plugrad.settings import context
from plugrad.target import Evidence, Target

READY = BackendReport(
    "TOY",
    State.READY,
    "plugrad-toy",
    "1.2",
    "1.0",
    aliases=("PLAYTHING",),
    additions=("toy-compiler 3.0",),
    summary="a toy",
    devices=(
        ProbedDevice(
            Target("TOY", arch="t1"), "Toy Model T", Evidence.E3, 2_000_000_000, (("compiler", "toycc 9"),)
        ),
    ),
)
BROKEN = BackendReport(
    "BAD",
    State.FAILED,
    "plugrad-bad",
    "0.1",
    reason="import failed",
    remedy="reinstall it",
    traceback="in bad.py",
)


@pytest.fixture(autouse=True)
def _two_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("DEVICE", raising=False)
    monkeypatch.setattr(devices, "backend_reports", lambda: (READY, BROKEN))


def test_a_device_is_shown_with_origin_evidence_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--no-isolate"]) == 0
    text = capsys.readouterr().out
    for part in ("TOY", "(PLAYTHING)", "ready", "plugrad-toy 1.2", "hooks 1.0", "toy-compiler 3.0"):
        assert part in text
    for part in ("Toy Model T t1, 2.0 GB, evidence E3", "compiler: toycc 9", "default: TOY"):
        assert part in text


def test_a_failure_is_shown_with_reason_and_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    main(["devices", "--no-isolate"])
    text = capsys.readouterr().out
    assert "import failed" in text
    assert "reinstall it" in text
    assert "in bad.py" not in text


def test_the_traceback_of_a_failure_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    main(["devices", "--no-isolate", "--traceback"])
    assert "in bad.py" in capsys.readouterr().out


def test_json_holds_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--no-isolate", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["default"] == "TOY"
    assert [backend["state"] for backend in report["backends"]] == ["ready", "failed"]
    assert report["backends"][0]["devices"][0]["evidence"] == "E3"


def test_the_default_is_what_the_setting_says(capsys: pytest.CaptureFixture[str]) -> None:
    with context(DEVICE="null:1"):
        main(["devices", "--no-isolate"])
    assert "default: NULL:1" in capsys.readouterr().out


def test_there_may_be_no_default(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "backend_reports", lambda: (BROKEN,))
    main(["devices", "--no-isolate"])
    assert "default: none" in capsys.readouterr().out


def test_a_command_that_installs_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    command = "pip install /home/somebody/projects/checkouts/plugrad/plugins/gone"
    gone = BackendReport("GONE", State.NOT_INSTALLED, "", "", remedy=command)
    monkeypatch.setattr(devices, "backend_reports", lambda: (READY, gone))
    main(["devices", "--no-isolate"])
    assert f"GONE: {command}\n" in capsys.readouterr().out
