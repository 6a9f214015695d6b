"""Turn the rules of a table into one Python function for each op.

A pattern that matches in several ways (either order of a commutative op, alternatives) is taken apart into
patterns that match in one way. Each of those is a list of conditions and assignments, which become nested
`if`s: a failed condition falls through to the next rule. Variables are named by their place in the graph
(`u_0_1` is `u.src[0].src[1]`), so neighbouring rules that start with the same conditions share them.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from plugrad._frozen import frozen
from plugrad.dtype import DType
from plugrad.uop.ops import BINARY, TERNARY, UNARY, Ops
from plugrad.uop.rule_times import timed, times_rules
from plugrad.uop.upat import ANY_ARG, UPat

if TYPE_CHECKING:
    from plugrad.uop.rewrite import Rule
    from plugrad.uop.uop import UOp

Matcher = Callable[["UOp", Any], "tuple[UOp, Rule] | None"]


@frozen
class _Way:
    """One way to match a pattern: its own requirements, and one way for each source."""

    pattern: UPat
    names: tuple[str, ...]
    src: "tuple[_Way, ...]"
    sources: Literal["any", "fixed", "prefix", "each"]


def _ways(pattern: UPat, names: tuple[str, ...] = ()) -> "Iterator[_Way]":
    if pattern.name is not None:
        names = (*names, pattern.name)
    if pattern.alternatives:
        for alternative in pattern.alternatives:
            yield from _ways(alternative, names)
        return
    if pattern.sources == "each" or pattern.sources == "any":
        yield _Way(pattern, names, (), pattern.sources)
        return
    orders: list[tuple[UPat, ...]] = [pattern.src]
    if pattern.sources == "commutative":
        orders = list(dict.fromkeys(itertools.permutations(pattern.src)))
    for order in orders:
        for src in itertools.product(*map(list[_Way], map(_ways, order))):
            yield _Way(pattern, names, src, "prefix" if pattern.sources == "prefix" else "fixed")


class _Scope:
    """The objects that the source of a function refers to, by name."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.known: dict[int, str] = {}

    def name(self, value: Any) -> str:
        found = self.known.get(id(value))
        if found is None:
            found = self.known[id(value)] = f"k{len(self.known)}"
            self.names[found] = value
        return found


# a line of a function, and whether what follows is nested in it
_Line = tuple[str, bool]


def compile_matcher(op: Ops, rules: "Sequence[Rule]") -> Matcher | None:
    """Return a function that tries `rules` in order on `op`; None without rules."""
    scope = _Scope()
    bodies: list[tuple[list[_Line], list[str]]] = []
    for rule in rules:
        # most rules are about other ops: taking their patterns apart would take most of the time
        if _is_about(rule.pattern, op):
            ways = (way for way in _ways(rule.pattern) if _is_about(way.pattern, op))
            bodies.extend(_body(scope, rule, way, op) for way in ways)
    if not bodies:
        return None
    lines = ["def match(u, ctx):"]
    before: list[_Line] = []
    for conditions, action in bodies:
        shared = _shared(before, conditions)
        depth = 1 + sum(nests for _, nests in conditions[:shared])
        for text, nests in conditions[shared:]:
            lines.append(" " * depth + text)
            depth += nests
        lines.extend(" " * depth + text for text in action)
        before = conditions
    return _function("\n".join(lines), "match", f"<rules for {op.name}>", scope)


def _is_about(pattern: UPat, op: Ops) -> bool:
    if pattern.alternatives:
        return any(_is_about(alternative, op) for alternative in pattern.alternatives)
    return pattern.ops is None or op in pattern.ops


def _shared(before: list[_Line], after: list[_Line]) -> int:
    count = 0
    for left, right in zip(before, after, strict=False):
        if left != right:
            break
        count += 1
    return count


def _function(source: str, name: str, title: str, scope: _Scope) -> Any:
    exec(compile(source, title, "exec"), scope.names)
    return scope.names[name]


def _body(scope: _Scope, rule: "Rule", way: _Way, op: Ops) -> tuple[list[_Line], list[str]]:
    bound: dict[str, str] = {}
    conditions = list(_conditions(scope, way, bound, op))
    # by name, since a partial may have given the first parameters
    arguments = [f"{n}={'ctx' if n == 'ctx' else bound.get(n)}" for n in rule.parameters]
    function = timed(rule) if times_rules() else rule.function
    action = [
        f"r = {scope.name(function)}({', '.join(arguments)})",
        f"if r is not None and r is not u: return r, {scope.name(rule)}",
    ]
    return conditions, action


def _conditions(scope: _Scope, way: _Way, bound: dict[str, str], op: Ops | None) -> Iterator[_Line]:
    """Yield the conditions on `u` level by level, ops before dtypes, most selective first."""
    level = [("u", way)]
    first = True
    while level:
        following: list[tuple[str, _Way]] = []
        for place, at in level:
            if not first:
                yield from _op_condition(scope, place, at.pattern)
        for place, at in level:
            yield from _own_conditions(scope, place, at, bound)
        for place, at in level:
            places = [f"{place}_{i}" for i in range(len(at.src))]
            yield from _source_conditions(scope, place, at, places, op if first else None)
            following += zip(places, at.src, strict=True)
        level, first = following, False


def _op_condition(scope: _Scope, place: str, pattern: UPat) -> Iterator[_Line]:
    if pattern.ops is not None and len(pattern.ops) == 1:
        yield f"if {place}.op is {scope.name(next(iter(pattern.ops)))}:", True
    elif pattern.ops is not None:
        yield f"if {place}.op in {scope.name(pattern.ops)}:", True


def _own_conditions(scope: _Scope, place: str, way: _Way, bound: dict[str, str]) -> Iterator[_Line]:
    pattern = way.pattern
    if pattern.dtypes is not None:
        yield _dtype_condition(scope, place, pattern.dtypes), True
    for name in way.names:
        if name not in bound:
            bound[name] = place
        elif bound[name] != place:
            yield f"if {place} is {bound[name]}:", True
    if pattern.arg is not ANY_ARG:
        yield f"if {place}.arg == {scope.name(pattern.arg)}:", True


def _dtype_condition(scope: _Scope, place: str, dtypes: frozenset[DType]) -> str:
    # a pattern's dtype stands for its vectors too: they share its name
    if any(d.count > 1 for d in dtypes):
        return f"if {place}.dtype in {scope.name(dtypes)} or {place}.dtype.scalar() in {scope.name(dtypes)}:"
    if len(dtypes) == 1:
        return f"if {place}.dtype.name == {next(iter(dtypes)).name!r}:"
    return f"if {place}.dtype.name in {{{', '.join(sorted(repr(d.name) for d in dtypes))}}}:"


def _source_conditions(
    scope: _Scope, place: str, way: _Way, places: list[str], op: Ops | None
) -> Iterator[_Line]:
    if way.sources == "each":
        yield f"if all(map({scope.name(compile_predicate(way.pattern.src[0]))}, {place}.src)):", True
    if way.sources not in ("fixed", "prefix"):
        return
    ops = way.pattern.ops if op is None else (op,)
    count, targets = len(places), ", ".join(places) + ","
    if way.sources == "prefix":
        yield f"if len({place}.src) >= {count}:", True
    elif ops is None or not all(_ARITY.get(o) == count for o in ops):
        yield f"if len({place}.src) == {count}:", True
    if count:
        yield f"{targets} = {place}.src" + (f"[:{count}]" if way.sources == "prefix" else ""), False


_ARITY = {**dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), **dict.fromkeys(TERNARY, 3), Ops.CAST: 1}


def compile_predicate(pattern: UPat) -> "Callable[[UOp], bool]":
    """Return a function that says whether `pattern` matches a node."""
    scope = _Scope()
    lines = ["def matches(u):"]
    for way in _ways(pattern):
        depth = 1
        for text, nests in itertools.chain(
            _op_condition(scope, "u", way.pattern), _conditions(scope, way, {}, None)
        ):
            lines.append(" " * depth + text)
            depth += nests
        lines.append(" " * depth + "return True")
    lines.append(" return False")
    return _function("\n".join(lines), "matches", f"<{pattern}>", scope)
