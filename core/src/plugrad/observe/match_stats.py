"""Count the matches of each rewrite rule."""

from collections import Counter

from plugrad.events import RewriteEvent


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

    def table(self, limit: int = 50) -> str:
        """Return the `limit` most frequent rules as text."""
        lines = [f"{count:8d}  {rule}" for rule, count in self.counts.most_common(limit)]
        return "\n".join([*lines, f"{self.counts.total():8d}  rewrites by {len(self.counts)} rules"])
