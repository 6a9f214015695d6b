"""Count calls of the functions of rules and their time, where a setting asks.

A rule is tried when its pattern has matched. Tables whose rules were compiled before the setting was there
are not counted: it belongs into the environment.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plugrad.settings import settings

if TYPE_CHECKING:
    from plugrad.uop.rewrite import Rule


class RuleTime:
    """The calls of one rule's function."""

    def __init__(self) -> None:
        self.tries = self.hits = 0
        self.seconds = 0.0


def times_rules() -> bool:
    """Say whether rules are timed, for the table at exit or for a recording."""
    return settings.VIZ or settings.TRACK_MATCH_STATS


_times: "dict[Rule, RuleTime]" = {}


def timed(rule: "Rule") -> Callable[..., Any]:
    """Return the function of a rule with a clock around it."""
    function: Callable[..., Any] = rule.function
    own = _times.setdefault(rule, RuleTime())

    def call(**nodes: Any) -> Any:
        started = time.perf_counter()
        result = function(**nodes)
        own.seconds += time.perf_counter() - started
        own.tries += 1
        own.hits += result is not None
        return result

    return call


def rule_times() -> "dict[Rule, RuleTime]":
    """Return the times of all rules that were tried, the longest first."""
    tried = [(rule, each) for rule, each in _times.items() if each.tries]
    return dict(sorted(tried, key=lambda item: -item[1].seconds))


def clear_rule_times() -> None:
    """Forget the times of all rules, which go on being counted."""
    for each in _times.values():
        each.tries, each.hits, each.seconds = 0, 0, 0.0
