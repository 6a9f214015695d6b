"""Show how often rewrite rules were tried, how often they matched, and what they took."""

from plugrad.observe.rule_source import source_of
from plugrad.observe.style import cut, duration
from plugrad.uop.rule_times import rule_times

# a rule's source is cut to a line
_MOST_CHARACTERS = 70


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
