"""The suite as one test function for any test file, without a pytest plugin."""

from collections.abc import Callable
from functools import cache

import pytest

from plugrad_conformance.case import Case
from plugrad_conformance.catalogue import cases_of
from plugrad_conformance.harness.outcome import raise_outcome
from plugrad_conformance.harness.session import Session


def suite(device: str, profile: str = "minimal") -> Callable[..., None]:
    """Return a test function that pytest runs once for each case of `profile` on `device`.

    Claims are read from the `conformance.toml` beside the plugin's module.

    Example:
        >>> test_conformance = suite("PYTHON", profile="contract")
    """
    cases = cases_of(profile)

    @cache
    def session() -> Session:
        made = Session(device, profile)
        made.plan(cases)
        assert not made.claims.problems, "\n".join(made.claims.problems)
        return made

    @pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])
    def test_conformance(case: Case) -> None:
        raise_outcome(session().run(case))
        if case is cases[-1]:
            session().bench.close()

    return test_conformance
