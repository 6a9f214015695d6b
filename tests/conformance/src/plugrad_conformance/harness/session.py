"""One run of the suite on one device: bench, claims, and outcomes so far."""

from collections.abc import Sequence
from pathlib import Path

from plugrad_conformance.case import Case
from plugrad_conformance.catalogue import all_cases
from plugrad_conformance.claims import Claims, find_claims, load_claims
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.result import Row, run_case
from plugrad_conformance.report import Report, Run, make_report, write_report


class Session:
    """A run.

    Args:
        device: the device's name.
        profile: how much to do.
        claims: the backend's file of claims; None: the one beside its plugin, if there is one.
    """

    def __init__(self, device: str, profile: str, claims: Path | None = None) -> None:
        self.bench = Bench(device)
        self.profile = profile
        self.claims: Claims = load_claims(claims or find_claims(self.bench.facts.source.value), all_cases())
        self.bench.widened.update(self.claims.tolerance)
        self.rows: dict[str, Row] = {}
        self.report: Report | None = None

    def plan(self, cases: Sequence[Case]) -> None:
        """Take the coming cases."""
        self.bench.plan([c for c in cases if c.id not in self.claims.unsupported])

    def run(self, case: Case) -> Row:
        """Do one case and keep its row."""
        row = run_case(self.bench, case, self.claims)
        self.rows[case.id] = row
        return row

    def finish(self, path: Path | None = None) -> Report:
        """Restore the device, and return the report; write it to `path` as well."""
        self.report = make_report(Run(self.bench, self.profile, list(self.rows.values()), self.claims))
        self.bench.close()
        if path is not None:
            write_report(self.report, path)
        return self.report
