"""Every rule of every table in the package fires in some test of this run."""

from collections.abc import Callable
from pathlib import Path

import pytest


def test_every_rule_of_every_table_fires_in_some_test(
    request: pytest.FixtureRequest, silent_rules: Callable[[], list[str]]
) -> None:
    ran = {item.path for item in request.session.items}
    missing = sorted(path.name for path in Path(__file__).parent.rglob("test_*.py") if path not in ran)
    if missing:
        pytest.skip(f"this run leaves out {len(missing)} files of tests, such as {missing[0]}")
    silent = silent_rules()
    assert not silent, "no test makes these rules fire:\n" + "\n".join(silent)
