"""Count the matches of each rewrite rule, and show what rules took."""

from collections import Counter

from plugrad.events import RewriteEvent
from plugrad.observe.rule_source import source_of
from plugrad.observe.style import cut, duration
from plugrad.uop.rule_times import rule_times

# a rule's source is cut to a line
_MOST_CHARACTERS = 70


class MatchStats:
    """Observer that counts firings by rule, and by rewrite if asked.

    Args:
        by_rewrite: count a rule apart in each rewrite that runs it.
    """

    def __init__(self, *, by_rewrite: bool = False) -> None:
        self.by_rewrite = by_rewrite
        self.counts: Counter[str] = Counter()

    def __call__(self, event: RewriteEvent) -> None:
        """Count one firing."""
        self.counts[f"{event.rewrite}: {event.rule}" if self.by_rewrite else str(event.rule)] += 1

    def table(self, limit: int = 50, width: int | None = None) -> str:
        """Return the `limit` most frequent rules as text, cut to `width` columns."""
        head = f"{'count':>8s}  {'rewrite: rule' if self.by_rewrite else 'rule'} and its pattern"
        lines = [cut(f"{count:8d}  {rule}", width) for rule, count in self.counts.most_common(limit)]
        return "\n".join([head, *lines, f"{self.counts.total():8d}  rewrites by {len(self.counts)} rules"])


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
