"""The pytest plugin: options, the session's bench, and the report at the end.

    pytest -p plugrad_conformance.plugin --pyargs plugrad_conformance --device CPU --profile core

It is never loaded on its own.
"""

import gc
import warnings
from pathlib import Path
from typing import Any

import pytest

from plugrad_conformance.case import PROFILES
from plugrad_conformance.catalogue import cases_of
from plugrad_conformance.harness.session import Session
from plugrad_conformance.report import summary

SUITE_FILE = "conformance_suite.py"
KEY = pytest.StashKey[Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of the suite."""
    group = parser.getgroup("plugrad conformance")
    group.addoption("--device", help="the device to test, such as CPU or CUDA:1")
    group.addoption("--profile", default="core", choices=PROFILES, help="how much to test (default: core)")
    group.addoption("--report", type=Path, help="where to write the JSON report")
    group.addoption("--claims", type=Path, help="the backend's conformance.toml (default: beside its plugin)")


def pytest_configure(config: pytest.Config) -> None:
    """Make the suite's file collectable, and open the session."""
    config.addinivalue_line("python_files", SUITE_FILE)
    # holds a test for the backends that are made of it
    config.addinivalue_line("norecursedirs", "backend_template")
    device = config.getoption("--device")
    if not device:
        raise pytest.UsageError("the conformance suite needs --device NAME; `plugrad devices` lists them")
    profile: Any = config.getoption("--profile")
    config.stash[KEY] = Session(device, profile, config.getoption("--claims"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each case of the profile."""
    if metafunc.function.__name__ == "test_case" and "session" in metafunc.fixturenames:
        profile: Any = metafunc.config.getoption("--profile")
        cases = cases_of(profile)
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


@pytest.hookimpl(trylast=True)  # when -k has left out what it does
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tell the bench what will be done."""
    calls: list[Any] = [item for item in items if hasattr(item, "callspec")]
    selected = [call.callspec.params["case"] for call in calls if "case" in call.callspec.params]
    config.stash[KEY].plan(selected)


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among what was collected.

    Graphs are many objects that live for a while: looking at all of them again and again takes a sixth of all
    time.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Session:
    """The session on the device."""
    return request.config.stash[KEY]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report; claims that are wrong fail the run."""
    mine = session.config.stash.get(KEY, None)
    if mine is None or session.config.getoption("collectonly"):
        return
    report = mine.finish(session.config.getoption("--report"))
    if mine.claims.problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if report["totals"]["not run"]:
        warnings.warn(f"{report['totals']['not run']} cases were not run: this is no full run", stacklevel=1)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the report in a few lines."""
    mine = config.stash.get(KEY, None)
    if mine is not None and mine.report is not None:
        terminalreporter.section("plugrad conformance")
        terminalreporter.write_line(summary(mine.report))
