"""Tests of plugrad.uop.rule_times."""

from collections.abc import Iterator

import pytest

from plugrad.settings import context
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.rule_times import clear_rule_times, rule_times
from plugrad.uop.uop import UOp
from plugrad.uop.upat import pconsts, pvars

(x,) = pvars("x")
(c,) = pconsts("c")
i = UOp.variable("i", 0, 9)


@pytest.fixture(autouse=True)
def _no_times() -> Iterator[None]:
    clear_rule_times()
    yield
    clear_rule_times()


def fresh_table() -> PatternMatcher:
    return PatternMatcher((x * c, lambda x, c: x if c.arg == 1 else None))


def test_tries_and_hits_are_counted_with_their_time() -> None:
    table = fresh_table()
    with context(TRACK_MATCH_STATS=True):
        graph_rewrite((i * 1) * 3, table)
    times = rule_times()[table.rules[0]]
    assert (times.tries, times.hits) == (2, 1)
    assert times.seconds > 0


def test_a_recording_counts_as_well() -> None:
    table = fresh_table()
    with context(VIZ=True):
        graph_rewrite(i * 1, table)
    assert rule_times()[table.rules[0]].hits == 1


def test_nothing_is_counted_where_nobody_asks() -> None:
    table = fresh_table()
    with context(TRACK_MATCH_STATS=False):
        graph_rewrite(i * 1, table)
    assert table.rules[0] not in rule_times()
