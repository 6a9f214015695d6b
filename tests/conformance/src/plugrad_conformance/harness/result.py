"""Do a case, and say how it went."""

import time
import traceback
from dataclasses import dataclass
from typing import Literal

from plugrad_conformance.case import Case
from plugrad_conformance.claims import Claims
from plugrad_conformance.harness.bench import Bench

Outcome = Literal["pass", "fail", "xfail", "xpass", "unsupported", "skip", "not run"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "xfail", "xpass", "unsupported", "skip", "not run")
#: Outcomes that make a run fail.
BAD = frozenset({"fail", "xpass"})


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of one case.

    Attributes:
        reason: why, for everything but a plain pass; what a passing case had to say.
        max_ulp: the largest error it showed.
        launches: kernels it ran on the device.
    """

    id: str
    outcome: Outcome
    reason: str = ""
    max_ulp: float = 0.0
    ms: float = 0.0
    launches: int = 0
    details: str = ""


def run_case(bench: Bench, case: Case, claims: Claims) -> Row:
    """Do `case` on the device of `bench`, under the claims of its backend."""
    if case.id in claims.unsupported:
        return Row(case.id, "unsupported", claims.unsupported[case.id])
    if case.layer != "plugin" and (lacks := bench.unmet_need(case)) is not None:
        if case.profile == "minimal":
            return Row(case.id, "fail", f"{lacks}, and no backend may lack that")
        return Row(case.id, "unsupported", lacks)
    bench.worst_ulp = 0.0
    before = bench.launches.copy()
    started = time.perf_counter()
    details = ""
    with bench.watched():
        try:
            note = _run_guarded(bench, case, before)
            failure = ""
        except Exception as error:  # any exception of a backend is a failure of the case, and no more
            note, failure = None, f"{type(error).__name__}: {error}".strip()
            details = "".join(traceback.format_exception(error))
    ms = (time.perf_counter() - started) * 1e3
    launches = bench.launches[bench.name] - before[bench.name]
    expected = claims.xfail.get(case.id)
    if expected is not None:
        outcome, reason = (
            ("xfail", expected) if failure else ("xpass", f"it was expected to fail: {expected}")
        )
        return Row(case.id, outcome, reason, bench.worst_ulp, ms, launches)
    return Row(
        case.id, "fail" if failure else "pass", failure or note or "", bench.worst_ulp, ms, launches, details
    )


def _run_guarded(bench: Bench, case: Case, before: dict[str, int]) -> str | None:
    if case.layer == "plugin":
        return bench.do(case)
    operations = bench.guard.operations
    note = bench.do(case)
    violations = bench.guard.check()
    assert not violations, "; ".join(violations[:3])
    if case.layer == "memory":
        assert bench.guard.operations > operations, "the case did not use the device's memory"
        return note
    assert bench.launches[bench.name] > before.get(bench.name, 0), f"no kernel ran on {bench.name}"
    others = {
        d: n - before.get(d, 0) for d, n in bench.launches.items() if d != bench.name and n > before.get(d, 0)
    }
    assert not (case.alone and others), f"kernels ran on another device: {others}"
    return note
