"""Tests of plugrad.observe.match_stats."""

from plugrad.observe.match_stats import times_table
from plugrad.settings import context
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.rule_times import clear_rule_times
from plugrad.uop.uop import UOp
from plugrad.uop.upat import pvars

(x,) = pvars("x")


def test_rules_are_listed_with_tries_and_hits_and_cut_at_the_edge_of_the_terminal() -> None:
    clear_rule_times()
    table = PatternMatcher(
        (x * 1, lambda x: x),
    )
    with context(TRACK_MATCH_STATS=True):
        graph_rewrite(UOp.variable("i", 0, 9) * 1, table)
    head, rule, total = times_table().splitlines()
    assert head.split() == ["time", "tries", "hits", "rule"]
    assert rule.split()[1:3] == ["1", "1"]
    assert "(x * 1, lambda x: x)" in rule
    assert total.endswith("in the functions of 1 rules")
    assert all(len(line) <= 40 for line in times_table(width=40).splitlines())
    clear_rule_times()
