"""Turn the row of a case into what pytest knows."""

import pytest

from plugrad_conformance.harness.result import Row


def raise_outcome(row: Row) -> None:
    """Fail, skip or xfail the running test as `row` says."""
    if row.outcome in ("fail", "xpass"):
        pytest.fail(f"{row.id}: {row.reason}\n{row.details}".rstrip(), pytrace=False)
    if row.outcome in ("unsupported", "skip"):
        pytest.skip(row.reason)
    if row.outcome == "xfail":
        pytest.xfail(row.reason)
