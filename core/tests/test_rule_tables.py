"""Every rule of every table in the package fires in some test of this run."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import plugrad
from plugrad.uop.rewrite import PatternMatcher, Rule


def tables() -> Iterator[tuple[str, PatternMatcher]]:
    for info in pkgutil.walk_packages(plugrad.__path__, "plugrad."):
        if info.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, PatternMatcher):
                yield f"{info.name}.{name}", value


def test_every_rule_of_every_table_fires_in_some_test(request: pytest.FixtureRequest) -> None:
    ran = {item.path for item in request.session.items}
    missing = sorted(path.name for path in Path(__file__).parent.rglob("test_*.py") if path not in ran)
    if missing:
        pytest.skip(f"this run leaves out {len(missing)} files of tests, such as {missing[0]}")
    silent: dict[Rule, str] = {}
    for table, matcher in tables():
        silent.update({rule: table for rule in matcher.rules if rule.hits == 0})
    assert not silent, "no test makes these rules fire:\n" + "\n".join(f"{t}: {r}" for r, t in silent.items())
