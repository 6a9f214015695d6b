"""The one test that looks back at all others runs last."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == "test_rule_tables.py")
