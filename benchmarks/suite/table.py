"""Results as a table: times, rates beside the machine's limit, and peers as multiples of plugrad's time."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suite.cases import Case

OURS = "plugrad"


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one library in one case.

    Attributes:
        seconds: of one call, the median over processes of each process's best; 0 where a rate was measured.
        rate: a second, where one was measured.
        error: why there is neither.
    """

    seconds: float = 0.0
    rate: float = 0.0
    error: str = ""


Results = Mapping[tuple[str, str], Result]
"""From case name and library to what was measured."""


def headings(libraries: Sequence[str], machine: Mapping[str, float]) -> list[str]:
    """Return the titles of the columns."""
    ours = [OURS] if OURS in libraries else []
    limits = ["of the limit"] if ours and machine else []
    others = [library for library in libraries if library != OURS]
    best = ["best / plugrad"] if ours and others else []
    return ["case", "aim", *ours, *limits, *best, *others]


def row(case: Case, results: Results, libraries: Sequence[str], machine: Mapping[str, float]) -> list[str]:
    """Return the cells of one case."""
    mine = results.get((case.name, OURS))
    cells = [case.title, case.aim]
    if OURS in libraries:
        cells.append(_cell(case, mine, None))
        if machine:
            cells.append(_of_limit(case, mine, machine))
    others = [library for library in libraries if library != OURS]
    if OURS in libraries and others:
        ratio = best_ratio(case, results)
        cells.append(f"{ratio:.2f}" if ratio else "")
    cells += [_cell(case, results.get((case.name, library)), mine) for library in others]
    return cells


def best_ratio(case: Case, results: Results) -> float:
    """Return how many times plugrad's time the fastest of the others takes; 0 if there is none."""
    times = {library: found.seconds for (name, library), found in results.items() if name == case.name}
    ours = times.pop(OURS, 0.0)
    others = [seconds for seconds in times.values() if seconds]
    return min(others) / ours if ours and others else 0.0


def summary(cases: Sequence[Case], results: Results) -> str:
    """Return a sentence on the ratios of all cases that compute; nothing if there are no others."""
    ratios = [ratio for case in cases if case.computes and (ratio := best_ratio(case, results))]
    if not ratios:
        return ""
    mean, ahead = statistics.geometric_mean(ratios), sum(ratio >= 1 for ratio in ratios)
    return (
        f"The fastest other library takes {mean:.2f} times as long as plugrad in the geometric mean of "
        f"{len(ratios)} workloads; plugrad is ahead in {ahead}."
    )


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return the first row as the headings of a Markdown table of the others."""
    widths = [max(len(line[i]) for line in rows) for i in range(len(rows[0]))]
    padded = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])


def show_limits(machine: Mapping[str, float]) -> str:
    """Return the machine's limits in one line."""
    fma, copy, through, read = (
        f"{machine[name] / 1e9:.0f}" for name in ("fma", "copy", "copy_through_caches", "read")
    )
    return (
        f"{fma} GFLOP/s of float32 multiply-adds; memory: copy {copy} GB/s ({through} through the caches), "
        f"read {read} GB/s"
    )


def _cell(case: Case, result: Result | None, mine: Result | None) -> str:
    if result is None:
        return "-"
    if result.error:
        return "fails"
    if result.rate:
        return f"{result.rate:,.0f}" if result.rate < 1e5 else f"{result.rate / 1e3:,.0f}k"
    text = show_time(result.seconds)
    if case.flops:
        text += f", {case.flops / result.seconds / 1e9:.0f} GFLOP/s"
    elif case.nbytes:
        text += f", {case.nbytes / result.seconds / 1e9:.0f} GB/s"
    if mine is not None and mine.seconds:
        text += f" (x {result.seconds / mine.seconds:.2g})"
    return text


def _of_limit(case: Case, result: Result | None, machine: Mapping[str, float]) -> str:
    if result is None or not result.seconds or not case.limit:
        return ""
    return f"{(case.flops or case.nbytes) / result.seconds / machine[case.limit]:.0%}"


def show_time(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
