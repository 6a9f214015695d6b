"""The support matrix: reports of several devices side by side, in Markdown."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugrad_conformance.case import PROFILES

Report = dict[str, Any]

_EVIDENCE = {
    "E0": "E0 (golden text)",
    "E1": "E1 (accepted by the vendor's compiler)",
    "E2": "E2 (simulated)",
    "E3": "E3 (executed)",
}
_WORDS = {"unsupported": "unsupported", "xfail": "expected to fail", "skip": "skipped"}


def support_matrix(every: Sequence[Report]) -> str:
    """Return the Markdown page of reports; the profile `perf` gives only figures of speed."""
    reports = [r for r in every if r["profile"] != "perf"]
    parts = [
        "# Support matrix",
        "Generated from conformance reports by `plugrad report`; not written by hand.",
        _devices(reports),
        "## Passed, by area",
        _areas(reports),
        "## Dtypes",
        _dtypes(reports),
        "## Largest errors, in ULP",
        _errors(reports),
        *_perf(every),
        "## What does not pass",
        _exceptions(reports),
    ]
    return "\n\n".join(parts) + "\n"


def titles(reports: Sequence[Report]) -> list[str]:
    """Return titles of reports' columns; compilers tell reports of one device apart."""
    names = [_title(report) for report in reports]
    compilers = [report["device"].get("compiler", "").partition("|")[0] for report in reports]
    of_name: dict[str, set[str]] = {}
    for name, compiler in zip(names, compilers, strict=True):
        of_name.setdefault(name, set()).add(compiler)
    return [
        f"{name} ({compiler})" if len(of_name[name]) > 1 else name
        for name, compiler in zip(names, compilers, strict=True)
    ]


def _title(report: Report) -> str:
    compiler = report["device"].get("notes", {}).get("compiler", "")
    return (
        f"{report['device']['name']} ({' '.join(compiler.split()[:2])})"
        if compiler
        else report["device"]["name"]
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _devices(reports: Sequence[Report]) -> str:
    rows = [
        [
            name,
            f"{r['plugin']['distribution']} {r['plugin']['version']}",
            r["device"].get("description", "") or r["device"]["arch"],
            _EVIDENCE.get(r["device"]["evidence"], r["device"]["evidence"]),
            r["profile"],
            f"{r['totals']['pass']} of {sum(r['totals'].values())}",
            str(r["launches"]),
            r["status"],
        ]
        for name, r in zip(titles(reports), reports, strict=True)
    ]
    head = ("device", "distribution", "hardware", "evidence", "profile", "passed", "launches", "status")
    kits = sorted(
        {
            f"kit {r['kit']}, core {r['core']}, spec {r['spec']}, must-pass list {r['must_pass'][:12]}"
            for r in reports
        }
    )
    return f"{_table(head, rows)}\n\n{'; '.join(kits)}.\n\n{_denominators(reports)}"


def _denominators(reports: Sequence[Report]) -> str:
    """Count the cases of each profile, and mark disagreements of reports."""
    counts = {
        profile: sorted({r["denominators"][profile] for r in reports if profile in r["denominators"]})
        for profile in PROFILES
    }
    said = ", ".join(
        f"{profile} {' or '.join(map(str, found))}" for profile, found in counts.items() if found
    )
    stale = any(len(found) > 1 for found in counts.values())
    return f"Cases of each profile: {said}." + (
        " These are reports of different lists of cases: make those with fewer anew." if stale else ""
    )


def _areas(reports: Sequence[Report]) -> str:
    areas = dict.fromkeys(_area(c["id"]) for r in reports for c in r["cases"])
    ordered = sorted(areas, key=lambda a: PROFILES.index(a.split("/")[0]))
    rows = [[area, *(_passed(r, area) for r in reports)] for area in ordered]
    return _table(["area", *titles(reports)], rows)


def _area(case_id: str) -> str:
    return "/".join(case_id.split("/")[:2])


def _passed(report: Report, area: str) -> str:
    outcomes = Counter(c["outcome"] for c in report["cases"] if _area(c["id"]) == area)
    total = sum(outcomes.values())
    if not total:
        return ""
    rest = ", ".join(f"{n} {_WORDS.get(name, name)}" for name, n in outcomes.items() if name != "pass")
    return f"{outcomes['pass']}/{total}" + (f" ({rest})" if rest else "")


def _dtypes(reports: Sequence[Report]) -> str:
    names = sorted({name for r in reports for name in r["device"]["dtypes"]}, key=_dtype_order)
    rows = [[name, *("yes" if name in r["device"]["dtypes"] else "" for r in reports)] for name in names]
    return _table(["stored and computed", *titles(reports)], rows)


def _dtype_order(name: str) -> tuple[str, int]:
    return name.rstrip("0123456789"), int("".join(filter(str.isdigit, name)) or 0)


def _errors(reports: Sequence[Report]) -> str:
    worst: dict[str, dict[int, float]] = {}
    for number, report in enumerate(reports):
        for case in report["cases"]:
            error = case["max_ulp"]
            if isinstance(error, float) and error > 0.5 and case["outcome"] == "pass":
                worst.setdefault(case["id"], {})[number] = error
    rows = [
        [i, *(f"{found[n]:.2f}" if n in found else "" for n in range(len(reports)))]
        for i, found in worst.items()
    ]
    return _table(["more than rounding", *titles(reports)], rows) if rows else "None is above half a unit."


def _perf(reports: Sequence[Report]) -> list[str]:
    measured = [r for r in reports if r["perf"]]
    if not measured:
        return []
    names = dict.fromkeys(
        (name, unit) for r in measured for name, values in r["perf"].items() for unit in values
    )
    rows = [
        [
            f"{name} {_words(unit)}",
            *(_figure(r, name, unit) for r in measured),
        ]
        for name, unit in names
    ]
    loads = [f"{r['host'].get('load', '')} on {r['host'].get('cores', '')} cores" for r in measured]
    return [
        "## Speed (measured, never judged)",
        "Figures compare only where machines did nothing else: a load says how many processes wanted a core.",
        _table(["", *titles(measured)], [*rows, ["load of the machine", *loads]]),
    ]


def _words(unit: str) -> str:
    """Return a unit in words: `to_host_gb_per_s` is `to host GB/s`."""
    words = unit.replace("gflop_per_s", "GFLOP/s").replace("gb_per_s", "GB/s").replace("per_s", "per second")
    return words.replace("_", " ")


def _figure(report: Report, name: str, unit: str) -> str:
    value = report["perf"].get(name, {}).get(unit)
    return "" if value is None else f"{value:.3g}"


def _exceptions(reports: Sequence[Report]) -> str:
    rows = [
        [
            name,
            c["id"],
            _WORDS.get(c["outcome"], c["outcome"]),
            c["reason"].splitlines()[0][:160] if c["reason"] else "",
        ]
        for name, r in zip(titles(reports), reports, strict=True)
        for c in r["cases"]
        if c["outcome"] != "pass"
    ]
    return _table(["device", "case", "outcome", "reason"], rows) if rows else "Everything passes."
