"""The suite as pytest sees it, one test a case; collected only with `plugrad_conformance.plugin`."""

from plugrad_conformance.case import Case
from plugrad_conformance.harness.outcome import raise_outcome
from plugrad_conformance.harness.session import Session


def test_case(case: Case, session: Session) -> None:
    """Do one case."""
    raise_outcome(session.run(case))
