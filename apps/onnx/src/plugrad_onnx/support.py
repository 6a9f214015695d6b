"""Write the page of the standard's cases and the supported operators."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import onnx
import onnx.defs

from plugrad_onnx.conformance import Case, Result
from plugrad_onnx.registry import all_operators

_HEAD = """# What of ONNX is supported

Made by `plugrad onnx conformance --page docs/onnx-support.md`. The cases are those of the `onnx` package,
version {version}, which knows opsets up to {opset}. Outputs are compared with the package's tolerances, and
with a unit in the last place of the largest element. A refused case needs what its reason says, and loading
its model said so.

| | cases |
|---|---|
{counts}
## Cases that did not pass

| case | verdict | reason |
|---|---|---|
{rest}
## Operators

Opsets are those for which a function is right; an open end goes on to the current one. Cases count each model
that the operator stands in.

| operator | opsets | passed | refused | failed |
|---|---|---|---|---|
{operators}"""


def make_page(cases: Sequence[Case], results: Sequence[Result]) -> str:
    """Return the page in Markdown."""
    counts = Counter(result.verdict for result in results)
    rows = [f"| {verdict} | {counts[verdict]} |\n" for verdict in ("passed", "refused", "failed")]
    rest = [
        f"| {result.case} | {result.verdict} | {_shorten(result.reason)} |\n"
        for result in results
        if result.verdict != "passed"
    ]
    return _HEAD.format(
        version=onnx.__version__,
        opset=onnx.defs.onnx_opset_version(),
        counts="".join([*rows, f"| all | {len(results)} |\n"]),
        rest="".join(rest),
        operators="".join(_operator_rows(cases, results)),
    )


def _shorten(reason: str) -> str:
    """Return the first lines of a reason as one."""
    line = " ".join(reason.split()).replace("|", "/")
    return line if len(line) < 160 else line[:157] + "..."


def _operator_rows(cases: Sequence[Case], results: Sequence[Result]) -> list[str]:
    verdicts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for case, result in zip(cases, results, strict=True):
        for key in case.operators():
            verdicts[key][result.verdict] += 1
    opsets: dict[tuple[str, str], list[str]] = defaultdict(list)
    begins: dict[tuple[str, str], int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        key = (schema.domain, schema.name)
        begins[key] = min(schema.since_version, begins.get(key, schema.since_version))
    for entry in all_operators():
        key = (entry.domain, entry.name)
        last = "" if entry.until is None else entry.until
        opsets[key].append(f"{max(entry.since, begins[key])}-{last}")
    standard = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas()}
    rows: list[str] = []
    for domain, name in sorted(standard | set(opsets)):
        counts = verdicts[domain, name]
        label = f"{domain}.{name}" if domain else name
        versions = ", ".join(opsets.get((domain, name), ["none"]))
        numbers = " | ".join(str(counts[verdict]) for verdict in ("passed", "refused", "failed"))
        rows.append(f"| {label} | {versions} | {numbers} |\n")
    return rows
