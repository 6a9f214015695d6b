"""Broken plugins, installed as pip would: each is a line of the report, and what is good goes on working."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from plugrad_conformance.broken_plugins import BROKEN

EARLY = [broken for broken in BROKEN.values() if broken.shows in ("load", "probe", "process")]
IN_PROCESS = [broken.entry_point for broken in BROKEN.values() if broken.shows != "process"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run Python where all of them is installed."""
    folder = tmp_path_factory.mktemp("broken") / "site"
    subprocess.run([sys.executable, "-m", "plugrad_conformance.broken_plugins", str(folder)], check=True)
    paths = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    settings = {"PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1", "COLUMNS": "200"}

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        surroundings = {**os.environ, **settings, **environment}
        return subprocess.run(command, capture_output=True, text=True, env=surroundings, check=False)

    return call


@pytest.fixture(scope="module")
def report(run: Run) -> dict[str, Any]:
    """What `plugrad devices` finds, each plugin in a process of its own."""
    done = run("-m", "plugrad", "devices", "--isolate", "--timeout", "30", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("broken", EARLY, ids=lambda broken: broken.name)
def test_each_is_reported_with_its_distribution_and_its_reason(report: dict[str, Any], broken: Any) -> None:
    (line,) = (line for line in report["backends"] if line["distribution"] == broken.distribution)
    assert line["state"] == "failed"
    assert all(part in line["reason"] for part in broken.says), line["reason"]
    assert line["remedy"]


def test_the_good_ones_are_ready_and_the_best_is_the_default(report: dict[str, Any]) -> None:
    states = {line["name"]: line["state"] for line in report["backends"] if line["state"] != "failed"}
    assert {states[name] for name in ("CHIP", "SLOW", "PYTHON")} == {"ready"}
    assert report["default"] not in ("", None, *(name.upper() for name in IN_PROCESS))


def test_one_that_is_slow_to_import_is_found_by_its_time(report: dict[str, Any]) -> None:
    times = {line["name"]: line["import_ms"] for line in report["backends"] if line["state"] == "ready"}
    assert times["SLOW"] >= 300 > times["CHIP"]


def test_rivals_are_both_named_and_a_setting_chooses(run: Run, report: dict[str, Any]) -> None:
    rivals = [line for line in report["backends"] if line["name"] == "CONTESTED"]
    names = ["plugrad-contested-first", "plugrad-contested-second"]
    assert [line["distribution"] for line in rivals] == names
    assert all(name in line["reason"] for line in rivals for name in names)
    program = "from plugrad.plugin.manager import plugins; print(plugins.backend('CONTESTED').source.owner)"
    assert "neither is used" in run("-c", program).stderr
    assert run("-c", program, PLUGRAD_PREFER=names[1]).stdout == f"{names[1]} 1.0\n"


def test_what_names_a_device_meets_none_of_them(run: Run) -> None:
    program = "from plugrad import Tensor; print((Tensor([1.0, 2.0], device='PYTHON') * 3).tolist())"
    done = run("-W", "error", "-c", program)
    assert (done.stdout, done.stderr) == ("[3.0, 6.0]\n", "")


@pytest.mark.parametrize("name", ["import-error", "claims-a-device", "claims-to-compute"])
def test_who_asks_for_a_broken_one_is_told_why(run: Run, name: str) -> None:
    broken = BROKEN[name]
    program = "from plugrad import Tensor; (Tensor([1.0, 2.0]) + 1).tolist()"
    done = run("-c", program, DEVICE=broken.entry_point.upper())
    message = " ".join(done.stderr.splitlines()[-1:])
    assert message.startswith("plugrad.errors.PluginError") or "PluginRefused" in message
    assert f"of {broken.distribution} 1.0" in message
    assert all(part in message for part in broken.says)
