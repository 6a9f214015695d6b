"""The one test that looks back at all others runs last, or after all processes that share the tests."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import plugrad
from plugrad.uop.rewrite import PatternMatcher, Rule

# of the processes that have ended: the rules that fired, and whether all tests ran
_fired: set[str] = set()
_complete = pytest.StashKey[bool]()
_silent = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == "test_rule_tables.py")


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
