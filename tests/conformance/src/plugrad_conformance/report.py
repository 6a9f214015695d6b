"""The report of one run as JSON: the device, the kit, and each case's outcome.

`status` is "pass" only where every case of the profile was done and none failed, "incomplete" where some were
not done and none of the others failed. Nothing that a device says changes `denominators`.
"""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugrad import __version__ as core_version
from plugrad.plugin.discovery import version_of
from plugrad.plugin.hookspecs import SPEC_VERSION
from plugrad.target import Evidence
from plugrad_conformance import must_pass
from plugrad_conformance.catalogue import cases_of, denominators
from plugrad_conformance.claims import Claims
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.result import BAD, OUTCOMES, Row
from plugrad_conformance.version import REPORT_SCHEMA, VERSION

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The contents of a report."""

    bench: Bench
    profile: str
    rows: Sequence[Row]
    claims: Claims


def make_report(run: Run) -> Report:
    """Return the report of a run, with cases that did not run as "not run"."""
    done = {row.id: row for row in run.rows}
    rows = [
        done.get(case.id, Row(case.id, "not run", "not selected, or the run ended before"))
        for case in cases_of(run.profile)
    ]
    totals = Counter(row.outcome for row in rows)
    failed = bool(run.claims.problems) or any(row.outcome in BAD for row in rows)
    return {
        "schema": REPORT_SCHEMA,
        "kit": VERSION,
        "core": core_version,
        "spec": SPEC_VERSION,
        "must_pass": must_pass.digest(),
        "profile": run.profile,
        "status": "fail" if failed else "incomplete" if totals["not run"] else "pass",
        "plugin": _plugin(run.bench),
        "device": _device(run.bench) | {"compiler": run.bench.compiler_key},
        "host": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load": run.bench.load,
        },
        "seed": run.bench.seed,
        "denominators": {p: n for p, n in denominators().items() if _is_included(p, run.profile)},
        "totals": {outcome: totals[outcome] for outcome in OUTCOMES},
        "launches": sum(row.launches for row in rows),
        "cases": [_row(row) for row in rows],
        "waivers": _waivers(run.claims),
        "perf": run.bench.measurements,
    }


def _is_included(profile: str, run_profile: str) -> bool:
    return any(case.profile == profile for case in cases_of(run_profile))


def _plugin(bench: Bench) -> dict[str, str]:
    source = bench.facts.source
    version = source.version or version_of(source.distribution) or (core_version if source.is_builtin else "")
    return {"distribution": source.distribution, "version": version}


def _device(bench: Bench) -> dict[str, Any]:
    """Describe the device by its plugin, of which parts may be missing."""
    probed = bench.facts.probed
    if probed is None:
        return {
            "name": bench.name,
            "arch": "",
            "driver": "",
            "evidence": "E1",
            "simulated": False,
            "dtypes": [],
        }
    return {
        "name": bench.name,
        "arch": probed.target.arch,
        "description": probed.description,
        "driver": probed.target.get("driver"),
        "notes": dict(probed.notes),
        "evidence": probed.evidence.name,
        "simulated": probed.evidence is Evidence.E2,
        "dtypes": sorted(dtype.name for dtype in bench.facts.storage_dtypes),
    }


def _row(row: Row) -> dict[str, Any]:
    ulp = row.max_ulp if row.max_ulp != float("inf") else "inf"
    return {
        "id": row.id,
        "outcome": row.outcome,
        "reason": row.reason,
        "max_ulp": round(ulp, 3) if isinstance(ulp, float) else ulp,
        "ms": round(row.ms, 2),
        "launches": row.launches,
    }


def _waivers(claims: Claims) -> dict[str, Any]:
    return {
        "unsupported": claims.unsupported,
        "xfail": claims.xfail,
        "tolerance": {i: {"ulp": t.ulp, "reason": t.reason} for i, t in claims.tolerance.items()},
        "problems": list(claims.problems),
    }


def write_report(report: Report, path: Path) -> None:
    """Write a report as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Return a report that `write_report` wrote.

    Raises:
        ValueError: it is no report, or one of another schema.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path} is no report: {error}. Write one with `plugrad conformance --report`."
        ) from error
    version = str(report.get("schema", "")) if isinstance(report, dict) else ""
    if version.split(".")[0] != REPORT_SCHEMA.split(".")[0]:
        raise ValueError(
            f"{path} has schema {version!r}, this kit reads {REPORT_SCHEMA}. Run the suite again."
        )
    return report


def summary(report: Report) -> str:
    """Return a report in a few lines, for the terminal."""
    totals, device = report["totals"], report["device"]
    counted = ", ".join(f"{n} {name}" for name, n in totals.items() if n)
    lines = [
        f"{device['name']} ({report['plugin']['distribution']} {report['plugin']['version']}), profile "
        f"{report['profile']}: {report['status'].upper()}",
        f"  {counted}; of {sum(totals.values())} cases, {report['launches']} launches",
        f"  evidence {device['evidence']} ({_meaning(device['evidence'])}), "
        f"must-pass list {report['must_pass'][:12]}",
    ]
    waivers = report["waivers"]
    lines += [f"  claims: {problem}" for problem in waivers["problems"]]
    lines += [
        f"  wider tolerance: {i}: {w['ulp']:g} ULP, {w['reason']}" for i, w in waivers["tolerance"].items()
    ]
    lines += [
        f"  {name}: " + ", ".join(f"{v:.4g} {unit}" for unit, v in values.items())
        for name, values in report["perf"].items()
    ]
    return "\n".join(lines)


def _meaning(evidence: str) -> str:
    return Evidence[evidence].value if evidence in Evidence.__members__ else "unknown"
