"""Which tests run on a second device, and the one that looks back at all others.

A test of several devices runs whole on PYTHON, which needs no compiler. Of each test function the first case
runs on CPU as well, and the others are wide: the table of operations has each method there, and the
conformance suite every kind of kernel. Where that takes seconds to compile, and other tests run the
same method there, the mark `wide_on_cpu` makes the first case wide too.

The test of all rules runs last, or after all processes that share the tests.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import plugrad
from plugrad.uop.rewrite import PatternMatcher, Rule

# of the processes that have ended: the rules that fired, and whether all tests ran
_fired: set[str] = set()
_complete = pytest.StashKey[bool]()
_silent = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "wide_on_cpu: runs on CPU with EVERYTHING=1 only")


@pytest.hookimpl(tryfirst=True)  # before wide tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == "test_rule_tables.py")
    here = Path(__file__).parent
    names = {item.nodeid for item in items}
    seen: set[str] = set()
    for item in items:
        on_python = re.sub(r"(?<=[\[-])CPU(?=[\]-])", "PYTHON", item.nodeid)
        if on_python == item.nodeid or on_python not in names or not item.path.is_relative_to(here):
            continue
        function = item.nodeid.partition("[")[0]
        if function in seen or item.get_closest_marker("wide_on_cpu"):
            item.add_marker(pytest.mark.wide)
        seen.add(function)


def rules() -> Iterator[tuple[str, Rule]]:
    """Yield the rules of all tables of the package, each with its table and its place there."""
    for info in pkgutil.walk_packages(plugrad.__path__, "plugrad."):
        if info.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, PatternMatcher):
                yield from ((f"{info.name}.{name}[{i}]: {rule}", rule) for i, rule in enumerate(value.rules))


@pytest.fixture
def silent_rules(request: pytest.FixtureRequest) -> Callable[[], list[str]]:
    """Return what finds the rules that no test fired; of one process among several, when all have ended."""

    def found() -> list[str]:
        config: Any = request.config
        if hasattr(config, "workeroutput"):
            config.workeroutput["is_complete"] = True
            return []
        return [name for name, rule in rules() if rule.hits == 0]

    return found


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", {})
    _fired.update(output.get("fired", ()))
    if output.get("is_complete"):
        node.config.stash[_complete] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    config: Any = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["fired"] = [name for name, rule in rules() if rule.hits]
    elif config.stash.get(_complete, False):
        config.stash[_silent] = [name for name, _ in rules() if name not in _fired]
        if config.stash[_silent]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if silent := config.stash.get(_silent, []):
        terminalreporter.section("no test makes these rules fire", red=True)
        terminalreporter.line("\n".join(silent))
