"""The claims of a backend in `conformance.toml`: permanent and present gaps.

    [unsupported]                       # never; not run
    "core/casts/*float64*" = "the chip has no float64"

    [xfail]                             # not yet; run, and must fail
    "core/elementwise/sin-float32" = "large angles are reduced with 24 digits; next release"

    [tolerance]                         # wider than the table; printed with every report
    "core/elementwise/exp-float16" = { ulp = 2.0, reason = "the chip's own instruction" }

A key is an id, or a pattern with `*`. Each needs a reason. A key that no case has, or a claim on the minimal
profile or on the must-pass list, is an error of the claims and fails the run.
"""

import fnmatch
import importlib.util
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plugrad_conformance.case import Case
from plugrad_conformance.must_pass import is_must_pass
from plugrad_conformance.tolerance import Tolerance

FILE_NAME = "conformance.toml"


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one backend, by case id.

    Attributes:
        unsupported: reasons of the cases that are not run.
        xfail: reasons of the cases that must fail.
        tolerance: bounds that are wider than the table's.
        problems: what is wrong with the claims themselves.
    """

    unsupported: dict[str, str] = field(default_factory=dict[str, str])
    xfail: dict[str, str] = field(default_factory=dict[str, str])
    tolerance: dict[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    problems: tuple[str, ...] = ()


def find_claims(module: str) -> Path | None:
    """Return the `conformance.toml` beside the plugin's module, if there is one."""
    spec = importlib.util.find_spec(module.partition(":")[0])
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).with_name(FILE_NAME)
    return path if path.is_file() else None


def load_claims(path: Path | None, cases: Iterable[Case]) -> Claims:
    """Read a file of claims on `cases`; None is a backend without any."""
    if path is None:
        return Claims()
    return read_claims(tomllib.loads(path.read_text(encoding="utf-8")), cases)


def read_claims(tables: dict[str, Any], cases: Iterable[Case]) -> Claims:
    """Return the claims in parsed TOML, with all that is wrong with them."""
    ids = [case.id for case in cases]
    problems = [
        f"[{name}] is no table of claims"
        for name in tables
        if name not in ("unsupported", "xfail", "tolerance")
    ]
    expanded: dict[str, dict[str, Any]] = {}
    for name in ("unsupported", "xfail", "tolerance"):
        expanded[name] = {}
        for pattern, value in tables.get(name, {}).items():
            problems += _problems(name, pattern, value, ids)
            expanded[name].update(dict.fromkeys(fnmatch.filter(ids, pattern), value))
    problems += [
        f"{i} is both unsupported and xfail" for i in expanded["unsupported"] if i in expanded["xfail"]
    ]
    return Claims(
        {i: str(reason) for i, reason in expanded["unsupported"].items()},
        {i: str(reason) for i, reason in expanded["xfail"].items()},
        {i: _tolerance(v) for i, v in expanded["tolerance"].items() if isinstance(v, dict)},
        tuple(problems),
    )


def _problems(table: str, pattern: str, value: Any, ids: list[str]) -> list[str]:
    matched = fnmatch.filter(ids, pattern)
    reason = value.get("reason") if isinstance(value, dict) else value
    out: list[str] = []
    if not matched:
        out.append(f"[{table}] {pattern!r} is stale: no case has this id")
    if not isinstance(reason, str) or not reason.strip():
        out.append(f"[{table}] {pattern!r} has no reason")
    if table == "tolerance" and not (isinstance(value, dict) and isinstance(value.get("ulp"), (int, float))):
        out.append(f"[{table}] {pattern!r} needs {{ ulp = NUMBER, reason = TEXT }}")
    if table != "tolerance":
        out += [
            f"[{table}] {i} cannot be waived: every backend has to pass it"
            for i in matched
            if is_must_pass(i)
        ]
    return out


def _tolerance(value: dict[str, Any]) -> Tolerance:
    return Tolerance(float(value.get("ulp", 0.0)), str(value.get("reason", "")))
