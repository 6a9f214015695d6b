"""The lines in which rewrite rules are written, and what rules took."""

import linecache

from plugrad.observe.style import cut, duration
from plugrad.uop.rewrite import Rule
from plugrad.uop.rule_times import rule_times

# a rule that is a function, with its signature
_MOST_LINES = 24
# a pattern above its lambda
_MOST_ABOVE = 6
# of a rule in the table, on one line
_MOST_CHARACTERS = 70


def source_of(rule: object) -> str:
    """Return the source of a rule, its table row or function, empty if unknown."""
    code = rule.code if isinstance(rule, Rule) else None
    if code is None:
        return ""
    first = code.co_firstlineno
    last = max((line for _, _, line in code.co_lines() if line is not None), default=first)
    if code.co_name == "<lambda>":
        first = _row_start(code.co_filename, first)
    lines = [linecache.getline(code.co_filename, number) for number in range(first, last + 1)]
    shown = [line.rstrip() for line in lines[:_MOST_LINES]]
    indent = min((_indent(line) for line in shown if line), default=0)
    return "\n".join(line[indent:] for line in shown)


def _row_start(filename: str, number: int) -> int:
    """Return the first line of the table row whose lambda ends at line `number`."""
    indent = _indent(linecache.getline(filename, number))
    for start in range(number, max(number - _MOST_ABOVE, 0), -1):
        above = linecache.getline(filename, start)
        if above.lstrip().startswith("(") and _indent(above) <= indent:
            return start
    return number


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def times_table(limit: int = 50, width: int | None = None) -> str:
    """Return the `limit` rules that took longest as text: time, tries, hits, place and source.

    A rule is tried when its pattern has matched, and hits when its function gives a replacement.
    Lines are cut to `width` columns.
    """
    times = rule_times()
    lines = [f"{'time':>9s} {'tries':>9s} {'hits':>9s}  rule"]
    for rule, each in list(times.items())[:limit]:
        source = " ".join(source_of(rule).split())
        numbers = f"{duration(each.seconds):>9s} {each.tries:9d} {each.hits:9d}"
        lines.append(cut(f"{numbers}  {rule.place}  {cut(source, _MOST_CHARACTERS)}", width))
    total = duration(sum(each.seconds for each in times.values()))
    return "\n".join([*lines, f"{total:>9s} in the functions of {len(times)} rules"])
