import pickle
import sys
from functools import partial
from typing import Any

import pytest

from plugrad import events
from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, RewriteLoopError, VerifyError
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pconsts, pvars

i, j = UOp.variable("i", 0, 9), UOp.variable("j", 0, 9)
x, y = pvars("x y")
c0, c1 = pconsts("c0 c1")

pm_add = PatternMatcher(
    (UPat(Ops.ADD, src=(x, UPat.const(0))), lambda x: x),
    (UPat(Ops.ADD, src=(c0, c1)), lambda c0, c1: c0.const_like(c0.arg + c1.arg)),
    (UPat(Ops.ADD, src=(UPat(Ops.ADD, src=(x, c0)), c1)), lambda x, c0, c1: x + (c0.arg + c1.arg)),
)
pm_mul = PatternMatcher((UPat(Ops.MUL, src=(x, UPat.const(1))), lambda x: x))


def test_first_matching_rule_wins_and_none_means_no_match() -> None:
    pm = PatternMatcher(
        (x + y, lambda x, y: None),
        (x + y, lambda x, y: x * y),
        (x + y, lambda x, y: x),
    )
    assert pm.rewrite(i + j) is i * j
    assert pm.rewrite(i * j) is None


def test_rules_may_be_one_list() -> None:
    pm = PatternMatcher([(x + 0, lambda x: x), (x * 1, lambda x: x)])
    assert graph_rewrite((i + 0) * 1, pm) is i
    assert graph_rewrite((i + 0) * 1, PatternMatcher([*pm.rules])) is i
    assert PatternMatcher([]).rewrite(i) is None


class _Scaling:
    factor = 3

    def scaled(self, x: UOp) -> UOp:
        return x * self.factor

    def __call__(self, c0: UOp, x: UOp) -> UOp:
        return x * (c0.arg * self.factor)


def _times(factor: int, x: UOp, extra: int = 0) -> UOp:
    return x * (factor + extra)


@pytest.mark.parametrize(
    ("function", "factor"),
    [
        (_Scaling().scaled, 3),
        (_Scaling(), 6),
        (partial(_times, 5), 5),
        (partial(_times, factor=5), 5),
        (partial(_times, 5, extra=2), 7),
        (partial(partial(_times, extra=2), 5), 7),
        (lambda x, factor=4: x * factor, 4),
        (lambda x, *, c0: x * c0.arg, 2),
    ],
)
def test_rule_may_be_a_method_a_partial_or_have_defaults(function: Any, factor: int) -> None:
    pm = PatternMatcher((x + c0, function))
    assert pm.rewrite(i + 2) is i * factor
    assert pm.rules[0].place


def test_rule_that_takes_what_its_pattern_does_not_bind_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"takes y, but its pattern binds c0, x\."):
        PatternMatcher((x + c0, lambda x, y: x))
    with pytest.raises(ArgumentError, match="takes x, but its pattern binds nothing"):
        # a pattern for all sources binds none of them
        PatternMatcher((UPat(Ops.ADD, src=x), lambda x: x))
    PatternMatcher((UPat.any(x + 0, y * 1), lambda x, y: x or y))


def test_name_that_only_another_way_of_matching_binds_is_none() -> None:
    pm = PatternMatcher((UPat.any(x + 0, y * 1), lambda x, y: x or y))
    assert pm.rewrite(i + 0) is i
    assert pm.rewrite(j * 1) is j


def test_rewriting_goes_on_to_a_fixed_point() -> None:
    graph = (((i + 1) + 2) + -3) * 1
    assert graph_rewrite(graph, pm_add) is i * 1
    assert graph_rewrite(graph, pm_add + pm_mul) is i


def test_sum_of_tables_tries_the_left_one_first_and_counts_in_its_parts() -> None:
    first, second = PatternMatcher((x + y, lambda x, y: x)), PatternMatcher((x + y, lambda x, y: y))
    assert (first + second).rewrite(i + j) is i
    assert (second + first).rewrite(i + j) is j
    assert (first + second + first).rewrite(i * j) is None
    assert [rule.hits for rule in first.rules] == [1]


def test_replacement_is_rewritten_too() -> None:
    pm = PatternMatcher((x * 2, lambda x: (x + 1) + 1)) + pm_add
    assert graph_rewrite(i * 2, pm) is i + 2


def test_shared_nodes_are_rewritten_once() -> None:
    calls: list[UOp] = []
    pm = PatternMatcher((x * c0, lambda x, c0: calls.append(x) or None))
    shared = i * 3
    graph_rewrite((shared + shared) + (shared + j), pm)
    assert calls == [i]


def test_context_reaches_rules_that_ask_for_it() -> None:
    pm = PatternMatcher(
        (UPat.var("x", dtypes.index) * c0, lambda ctx, x, c0: x * ctx[c0.arg] if c0.arg in ctx else None)
    )
    assert graph_rewrite(i * 3 + j * 4, pm, {3: 5}) is i * 5 + j * 4


def test_marked_nodes_are_skipped_by_rewrites_with_the_same_table() -> None:
    matched: list[UOp] = []
    pm = PatternMatcher((UPat(Ops.ADD, name="u"), lambda u: matched.append(u)), (x + x, lambda x: x * 2))
    a, b = UOp.variable("marked_a", 0, 9), UOp.variable("marked_b", 0, 9)
    kept, doubled = a + b, b + b
    result = graph_rewrite(kept + doubled, pm, marks=True)
    assert result is kept + b * 2
    matched.clear()
    assert graph_rewrite(result + doubled, pm) is result + b * 2
    assert matched == [doubled, result + b * 2]
    other = PatternMatcher((x + UPat.var("y"), lambda x, y: x))
    assert graph_rewrite(result, other) is a


def test_a_sink_of_marked_nodes_matches_again_only_what_a_rule_changes_and_what_is_above() -> None:
    matched: list[UOp] = []
    pm = PatternMatcher((UPat(Ops.ADD, name="u"), lambda u: matched.append(u)), (x + x, lambda x: x * 2))
    a, b = UOp.variable("sunk_a", 0, 9), UOp.variable("sunk_b", 0, 9)
    kept, doubled = a + b, b + b
    result = graph_rewrite(UOp.sink(kept, doubled + a), pm, marks=True)
    assert result is UOp.sink(kept, b * 2 + a)
    assert matched == [kept, doubled, doubled, b * 2 + a]
    matched.clear()
    assert graph_rewrite(result, pm, marks=True) is result
    assert not matched


def test_rules_that_chase_each_other_are_named() -> None:
    def to_mul(x: UOp, y: UOp) -> UOp:
        return x * y

    def to_add(x: UOp, y: UOp) -> UOp:
        return x + y

    pm = PatternMatcher((UPat(Ops.ADD, src=(x, y)), to_mul), (UPat(Ops.MUL, src=(x, y)), to_add))
    with pytest.raises(RewriteLoopError, match="test_rewrite") as caught:
        graph_rewrite((i + j) // 2, pm, name="chase")
    message = str(caught.value)
    assert "in chase" in message
    assert "ADD" in message
    assert "MUL" in message


def test_rule_that_keeps_what_it_matches_is_a_loop() -> None:
    pm = PatternMatcher((UPat(Ops.ADD, src=(x, y), name="u"), lambda x, y, u: u * 1))
    with pytest.raises(RewriteLoopError, match=r"test_rewrite.py:\d+ UPat\(ADD"):
        graph_rewrite(i + j, pm)


def test_rule_that_grows_its_node_without_end_is_a_loop() -> None:
    pm = PatternMatcher((UPat(Ops.DEFINE_VAR, name="u"), lambda u: UOp.variable(u.arg[0] + "x", 0, 9)))
    with pytest.raises(RewriteLoopError):
        graph_rewrite(i + j, pm)


def test_rule_that_grows_sources_to_match_is_a_loop() -> None:
    pm = PatternMatcher((x * c0, lambda x, c0: x * (c0.arg + 1) + c0))
    with pytest.raises(RewriteLoopError, match=r"test_rewrite.py:\d+ UPat\(MUL"):
        graph_rewrite(i * 2, pm)


def test_rule_that_returns_its_own_node_does_not_match() -> None:
    pm = PatternMatcher((UPat(Ops.ADD, src=(x, y)), lambda x, y: x + y))
    assert graph_rewrite(i + j, pm) is i + j


def test_deep_graphs_take_no_recursion() -> None:
    u: UOp = i
    for _ in range(50_000):
        u = u + j
    pm = PatternMatcher(
        (UPat(Ops.DEFINE_VAR, name="u"), lambda u: UOp.const(dtypes.index, 1) if u.arg[0] == "j" else None)
    )
    out = graph_rewrite(u, pm)
    assert out.vmax == 9 + 50_000
    assert sys.getrecursionlimit() < 50_000


def test_rewrites_are_reported_to_who_listens() -> None:
    seen: list[Any] = []
    with events.subscribe(events.RewriteEvent, seen.append):
        graph_rewrite((i + 0) * 1, pm_add + pm_mul, name="watched")
    assert [(e.before, e.after) for e in seen] == [(i + 0, i), (i * 1, i)]
    assert seen[0].rewrite == "watched"
    assert "test_rewrite.py" in str(seen[0].rule)


def test_tables_refuse_to_be_pickled() -> None:
    with pytest.raises(TypeError, match="import the table"):
        pickle.dumps(pm_add)


def test_never_fired_rules_are_found(never_fired: Any) -> None:
    silent = never_fired(pm_mul + pm_add, lambda: graph_rewrite((i + 0) * 1, pm_add + pm_mul))
    assert silent == list(pm_add.rules[1:])


def test_a_rule_that_returns_no_node_is_named() -> None:
    wrong: Any = PatternMatcher((UPat.var("x") + 0, lambda x: 7))  # pyright: ignore[reportArgumentType]
    with pytest.raises(VerifyError, match=r"turned ADD of .* into 7 \(int\), .*test_rewrite\.py") as caught:
        graph_rewrite(i + 0, wrong, name="fold")
    assert caught.value.pass_name == "fold"
    assert "Return a UOp" in str(caught.value)
