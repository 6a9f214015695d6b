"""Tests of plugrad.observe.match_stats."""

from plugrad.events import RewriteEvent
from plugrad.observe.match_stats import MatchStats


def test_firings_are_counted_by_rule() -> None:
    stats = MatchStats()
    for rewrite, rule in [("fold", "a.py:1"), ("clean", "a.py:1"), ("fold", "a.py:2")]:
        stats(RewriteEvent(rewrite, rule, None, None))
    assert stats.table().splitlines() == [
        "   count  rule and its pattern",
        "       2  a.py:1",
        "       1  a.py:2",
        "       3  rewrites by 2 rules",
    ]


def test_rules_are_cut_at_the_edge_of_the_terminal() -> None:
    stats = MatchStats()
    stats(RewriteEvent("fold", "a.py:1 UPat(ADD|MUL:u, (x, CONST:c0))", None, None))
    assert stats.table(width=30).splitlines()[1] == "       1  a.py:1 UPat(ADD|M..."


def test_firings_can_be_told_apart_by_rewrite() -> None:
    stats = MatchStats(by_rewrite=True)
    stats(RewriteEvent("fold", "a.py:1", None, None))
    stats(RewriteEvent("clean", "a.py:1", None, None))
    assert dict(stats.counts) == {"fold: a.py:1": 1, "clean: a.py:1": 1}
