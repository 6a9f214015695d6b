"""Tables of rules, and rewriting a graph with one until no rule applies.

A rule is a pattern and a function of the nodes that the pattern names; the function returns the
replacement, or None for "no match after all". `graph_rewrite` gives a loop detector for free: a node that
is rewritten into a graph that needs the node itself is reported with the rules on the way.
"""

from collections.abc import Callable, Iterable
from functools import partial
from types import CodeType, FunctionType
from typing import Any, cast

from plugrad import events
from plugrad._util import inspect
from plugrad.errors import ArgumentError, RewriteLoopError, VerifyError
from plugrad.uop.match_compiler import Matcher, compile_matcher
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat

# spelled by number of arguments, which types the parameters of lambdas
RuleFunction = (
    Callable[[], "UOp | None"]
    | Callable[[Any], "UOp | None"]
    | Callable[[Any, Any], "UOp | None"]
    | Callable[[Any, Any, Any], "UOp | None"]
    | Callable[[Any, Any, Any, Any], "UOp | None"]
    | Callable[[Any, Any, Any, Any, Any], "UOp | None"]
    | Callable[[Any, Any, Any, Any, Any, Any], "UOp | None"]
)

# A chain of rewrites of one node that is longer than this grows without end; real ones stay under a hundred.
_CHAIN_LIMIT = 5000


class Rule:
    """One pattern, its function, and how often it has fired.

    Args:
        pattern: what the rule is about.
        function: takes nodes by the names that the pattern binds, and `ctx` if it wants the context of the
            rewrite; parameters with defaults that the pattern does not bind are left alone. Bound methods
            and partials will do.

    Raises:
        ArgumentError: `function` has a parameter that is neither bound nor `ctx`, and has no default.
    """

    __slots__ = ("code", "function", "hits", "parameters", "pattern")

    def __init__(self, pattern: UPat, function: RuleFunction) -> None:
        self.pattern = pattern
        self.function = function
        self.code = _code_of(function)
        given = [*pattern.names(), "ctx"]
        needed, optional = _parameters_of(function)
        self.hits = 0
        if unbound := [name for name in needed if name not in given]:
            raise ArgumentError(
                f"the rule {self!r} takes {', '.join(unbound)}, but its pattern binds "
                f"{', '.join(sorted(set(pattern.names()))) or 'nothing'}. Name a node of the pattern so, "
                "or rename the parameter."
            )
        self.parameters = (*needed, *(name for name in optional if name in given))

    @property
    def place(self) -> str:
        """File and line of the rule's function."""
        if self.code is None:
            return repr(self.function)
        return f"{self.code.co_filename.rsplit('/plugrad/', 1)[-1]}:{self.code.co_firstlineno}"

    def __repr__(self) -> str:
        return f"{self.place} {self.pattern!r}"


def _code_of(function: Any) -> CodeType | None:
    """Return the code of a function, of a method, or of what a partial calls."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__code__", None)


def _parameters_of(function: Any) -> tuple[list[str], list[str]]:
    """Return the names of parameters without a default, and of those with one."""
    if type(function) is FunctionType:
        # nearly all rules: a signature takes ten times as long, and `inspect` has to be imported
        code, defaults = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        optional = {
            *names[code.co_argcount - len(defaults) : code.co_argcount],
            *(function.__kwdefaults__ or ()),
        }
        return [name for name in names if name not in optional], [name for name in names if name in optional]
    parameters = inspect.signature(function).parameters.values()
    optional = [p.name for p in parameters if p.default is not p.empty]
    return [p.name for p in parameters if p.name not in optional], optional


AnyRule = tuple[UPat, RuleFunction] | Rule


class PatternMatcher:
    """An ordered table of rules, compiled to Python at the first node of each op.

    Tables add up: `pm_a + pm_b` tries the rules of `pm_a` first. A sum calls the functions of its parts, so a
    table that many sums share is compiled once; `PatternMatcher(*pm_a.rules, *pm_b.rules)` matches faster.

    Example:
        >>> x = UPat.var("x")
        >>> pm = PatternMatcher((x + 0, lambda x: x), (x * 1, lambda x: x))
        >>> pm = PatternMatcher([(x + 0, lambda x: x), (x * 1, lambda x: x)])
    """

    __slots__ = ("_by_op", "_parts", "rules")

    def __init__(self, *rules: "AnyRule | list[AnyRule]") -> None:
        given = rules[0] if len(rules) == 1 and isinstance(rules[0], list) else rules
        self.rules = tuple(r if isinstance(r, Rule) else Rule(*r) for r in cast(Iterable[AnyRule], given))
        self._by_op: dict[Ops, Matcher | None] = {}
        self._parts: tuple[PatternMatcher, ...] = ()

    def __add__(self, other: "PatternMatcher") -> "PatternMatcher":
        out = PatternMatcher(*self.rules, *other.rules)
        out._parts = (*(self._parts or (self,)), *(other._parts or (other,)))
        return out

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a PatternMatcher holds functions, it cannot be pickled: import the table that defines it."
        )

    def matcher(self, op: Ops) -> Matcher | None:
        """Return the compiled rules for nodes of `op`; None if there are none."""
        try:
            return self._by_op[op]
        except KeyError:
            pass
        if self._parts:
            found = _one_after_the_other([m for part in self._parts if (m := part.matcher(op)) is not None])
        else:
            found = compile_matcher(op, self.rules)
        self._by_op[op] = found
        return found

    def rewrite(self, node: UOp, ctx: Any = None) -> UOp | None:
        """Return the result of the first matching rule for `node`, or None."""
        match = self.matcher(node.op)
        found = match and match(node, ctx)
        if found is None:
            return None
        found[1].hits += 1
        return found[0]


def _one_after_the_other(matchers: list[Matcher]) -> Matcher | None:
    if len(matchers) < 2:
        return matchers[0] if matchers else None

    def match(u: UOp, ctx: Any) -> tuple[UOp, Rule] | None:
        for part in matchers:
            if (found := part(u, ctx)) is not None:
                return found
        return None

    return match


# what is still to do with a node on the stack of graph_rewrite
_ENTER, _REBUILD, _ADOPT = 0, 1, 2
# stands for the result of a node that has been entered and has no result yet
_PENDING: Any = object()
# nodes are immutable but for what is found out about them
_mark: Callable[[UOp, PatternMatcher], None] = UOp.normal_for.__set__


def graph_rewrite(
    root: UOp,
    pm: PatternMatcher,
    ctx: Any = None,
    *,
    marks: bool = False,
    name: str | None = None,
) -> UOp:
    """Rewrite `root` and everything below it with `pm` until no rule applies.

    Args:
        root: the graph.
        pm: the rules.
        ctx: handed to rules that name a parameter `ctx`.
        marks: mark the nodes of the result, which later rewrites with `pm` skip. Its rules may depend on
            nothing but nodes, since a mark lasts as long as the node.
        name: what observers call this rewrite.

    Raises:
        RewriteLoopError: rules undo each other, or grow a node without end; the message names them.
        VerifyError: a rule returned something that is no node.
    """
    if root.normal_for is pm or (marks and root.op is Ops.SINK and _is_normal(root, pm, ctx)):
        return root
    matchers = pm._by_op  # pyright: ignore[reportPrivateUsage] - the hot loop skips a call a node
    done: dict[UOp, UOp] = {}
    # nodes that a rule replaced and whose replacement has no result yet, with that rule
    chased: dict[UOp, Rule] = {}
    stack: list[tuple[int, UOp, UOp]] = [(_ENTER, root, root)]
    push, pop = stack.append, stack.pop
    watched = events.listening(events.RewriteEvent)
    while stack:
        stage, node, form = pop()
        if stage == _ENTER:
            if node in done:
                continue
            waiting = False
            for s in form.src:
                if s not in done:
                    if s.normal_for is pm:
                        done[s] = s
                        continue
                    if not waiting:
                        waiting = True
                        done[node] = _PENDING
                        push((_REBUILD, node, form))
                    push((_ENTER, s, s))
            if waiting:
                continue
        elif stage == _ADOPT:
            del chased[node]
            if (result := done[form]) is _PENDING:
                raise _loop_error(form, chased, name)
            done[node] = result
            continue
        # sources are done: rebuild the node on their results, and match that
        for s in form.src:
            if done[s] is not s:
                src = tuple([done[s] for s in form.src])
                if _PENDING in src:
                    raise _loop_error(node, chased, name)
                form = UOp(form.op, form.dtype, src, form.arg, form.tag)
                break
        if form is not node:
            known = done.get(form)
            if known is _PENDING:
                raise _loop_error(form, chased, name)
            if known is not None:
                done[node] = known
                continue
        try:
            match = matchers[form.op]
        except KeyError:
            match = pm.matcher(form.op)
        found = match and match(form, ctx)
        if found is None:
            done[node] = done[form] = form
            if marks:
                _mark(form, pm)
            continue
        result, rule = found
        if type(result) is not UOp:
            raise _no_node(result, rule, form, name)
        rule.hits += 1
        if watched:
            events.emit(events.RewriteEvent(name or "", rule, form, result))
        known = result if result.normal_for is pm else done.get(result)
        if known is not None and known is not _PENDING:
            done[node] = done[form] = known
            continue
        done[node] = _PENDING
        chased[node] = rule
        if known is _PENDING or len(chased) > _CHAIN_LIMIT:
            raise _loop_error(result, chased, name)
        push((_ADOPT, node, result))
        push((_ENTER, result, result))
    return done[root]


def _is_normal(root: UOp, pm: PatternMatcher, ctx: Any) -> bool:
    """Mark the nodes of a SINK that no rule changes; say whether these are all.

    Mostly they are, and whoever comes next walks in the same order, which a SINK keeps.
    """
    changing: set[UOp] = set()
    for node in root.toposort():
        if node.normal_for is pm:
            continue
        if changing.isdisjoint(node.src):
            match = pm.matcher(node.op)
            if match is None or match(node, ctx) is None:
                _mark(node, pm)
                continue
        changing.add(node)
    return not changing


def _no_node(result: object, rule: Rule, node: UOp, name: str | None) -> VerifyError:
    return VerifyError(
        f"a rule{f' of {name}' if name else ''} turned {node.op.name} of {node.dtype} into {result!r} "
        f"({type(result).__name__}), which is no node: {rule!r}. Return a UOp, such as "
        "node.const_like(value), or None for no match.",
        pass_name=name or "",
    )


def _loop_error(node: UOp, chased: dict[UOp, Rule], name: str | None) -> RewriteLoopError:
    chasing = list(chased.items())
    start = next((i for i, (u, _) in enumerate(chasing) if u is node), 0)
    rules = list(dict.fromkeys(repr(rule) for _, rule in chasing[start:]))
    lines = "\n".join(f"  {rule}" for rule in rules[-12:])
    return RewriteLoopError(
        f"rewriting{f' in {name}' if name else ''} does not end: {node.op.name} of {node.dtype} comes back "
        f"after\n{lines}\n"
        "One of these rules undoes another, or keeps what it matches inside its replacement. Make the "
        "replacement simpler in an order that all of them share."
    )
