"""Tests of plugrad.observe.rules."""

from plugrad.observe.rules import source_of, times_table
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.rule_times import clear_rule_times
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pvars

x, y = pvars("x y")


def named(x: UOp) -> UOp:
    return x


table = PatternMatcher(
    (x + 0, lambda x: x),
    (
        UPat(Ops.MUL, src=(x, y), name="a_name_long_enough_for_a_line_of_its_own"),
        lambda x, y, a_name_long_enough_for_a_line_of_its_own: y * x if x is not y else None,
    ),
    (x - 0, named),
)


def test_a_row_of_a_table_is_its_source() -> None:
    assert source_of(table.rules[0]) == "(x + 0, lambda x: x),"


def test_a_row_of_several_lines_begins_with_its_pattern() -> None:
    pattern, function = source_of(table.rules[1]).splitlines()[-2:]
    assert pattern.strip().startswith("UPat(Ops.MUL")
    assert function.strip().startswith("lambda x, y")


def test_a_function_is_shown_whole() -> None:
    assert source_of(table.rules[2]) == "def named(x: UOp) -> UOp:\n    return x"


def test_what_is_no_rule_has_no_source() -> None:
    assert source_of("a.py:1") == ""


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
