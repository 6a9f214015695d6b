"""Tests of plugrad.observe.rule_source."""

from plugrad.observe.rule_source import source_of
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
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
