"""Ways to check that two graphs compute the same: z3 with Python's rounding, and trying all values."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import z3

from plugrad.dtype import dtypes
from plugrad.uop.fold import convert, evaluate
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher, Rule
from plugrad.uop.uop import UOp

LEAVES = (Ops.DEFINE_VAR, Ops.RANGE, Ops.SPECIAL)


def leaves_of(*graphs: UOp) -> list[UOp]:
    return list(dict.fromkeys(u for g in graphs for u in g.toposort() if u.op in LEAVES))


def z3_value(root: UOp, names: dict[UOp, Any]) -> Any:
    """Translate index and bool arithmetic; z3's division rounds like Python's for positive divisors only."""
    done: dict[UOp, Any] = dict(names)
    for u in root.toposort():
        if u not in done:
            done[u] = _z3_node(u, [done[s] for s in u.src])
    return done[root]


def _floordiv(a: Any, b: Any) -> Any:
    return z3.If(b > 0, a / b, (-a) / (-b))


def _z3_node(u: UOp, s: list[Any]) -> Any:
    if u.op is Ops.CONST:
        return z3.BoolVal(u.arg) if u.dtype is dtypes.bool else z3.IntVal(u.arg)
    is_bool = bool(u.src) and u.src[0].dtype is dtypes.bool
    rules = {
        Ops.ADD: lambda: s[0] + s[1],
        Ops.SUB: lambda: s[0] - s[1],
        Ops.NEG: lambda: -s[0],
        Ops.MUL: lambda: s[0] * s[1],
        Ops.FLOORDIV: lambda: _floordiv(s[0], s[1]),
        Ops.FLOORMOD: lambda: s[0] - s[1] * _floordiv(s[0], s[1]),
        Ops.MAX: lambda: z3.If(s[0] > s[1], s[0], s[1]),
        Ops.CMPLT: lambda: s[0] < s[1],
        Ops.CMPEQ: lambda: s[0] == s[1],
        Ops.CMPNE: lambda: s[0] != s[1],
        Ops.AND: lambda: z3.And(s[0], s[1]),
        Ops.OR: lambda: z3.Or(s[0], s[1]),
        Ops.XOR: lambda: z3.Xor(s[0], s[1]),
        Ops.WHERE: lambda: z3.If(s[0], s[1], s[2]),
    }
    assert u.op in rules, f"no meaning for {u.op}"
    assert is_bool or u.op not in (Ops.AND, Ops.OR, Ops.XOR), "bits of integers are tried out, not proved"
    return rules[u.op]()


def _prove_equal(before: UOp, after: UOp, *, given: UOp | None = None) -> None:
    """Fail with a counterexample unless both graphs are equal for all values (for which `given` holds)."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    graphs = [before, after] if given is None else [before, after, given]
    names = {u: z3.Int(f"v{i}") for i, u in enumerate(leaves_of(*graphs))}
    for u, v in names.items():
        if u.op is Ops.DEFINE_VAR:
            solver.add(v >= u.arg[1], v <= u.arg[2])
        else:
            size = u.src[0]
            solver.add(v >= 0, v < z3_value(size, names))
    if given is not None:
        solver.add(z3_value(given, names))
    solver.add(z3_value(before, names) != z3_value(after, names))
    found = solver.check()
    assert found != z3.sat, f"{before}\nis not\n{after}\nfor {solver.model() if found == z3.sat else None}"
    assert found == z3.unsat, f"z3 gave up on\n{before}\n{after}"


def _compute(root: UOp, values: dict[UOp, Any]) -> Any:
    """Evaluate a graph of numbers, given the values of some nodes."""
    done: dict[UOp, Any] = dict(values)
    for u in root.toposort(lambda u: u not in values):
        if u.op is Ops.CONST:
            done[u] = u.arg
        elif u.op is Ops.CAST:
            done[u] = convert(done[u.src[0]], u.src[0].dtype, u.dtype)
        else:
            done[u] = evaluate(u.op, u.dtype, tuple(done[s] for s in u.src))
        assert done[u] is not None, f"{u.op} is not defined for {[done[s] for s in u.src]}"
    return done[root]


def assignments(*graphs: UOp) -> Iterator[dict[UOp, int]]:
    """Yield every assignment of values to the leaves (ranges of constant size)."""
    leaves = leaves_of(*graphs)
    spaces = [range(u.vmin, u.vmax + 1) for u in leaves]
    for values in itertools.product(*spaces):
        yield dict(zip(leaves, values, strict=True))


def _try_all(before: UOp, after: UOp, *, given: UOp | None = None) -> None:
    """Compare both graphs for every assignment of values to their leaves."""
    for values in assignments(before, after):
        if given is None or _compute(given, values):
            a, b = _compute(before, values), _compute(after, values)
            assert (a, type(a)) == (b, type(b)), f"{before}\nis {a},\n{after}\nis {b} for {values}"


@pytest.fixture(scope="session")
def prove_equal() -> Callable[..., None]:
    return _prove_equal


@pytest.fixture(scope="session")
def try_all() -> Callable[..., None]:
    return _try_all


@pytest.fixture(scope="session")
def compute() -> Callable[[UOp, dict[UOp, Any]], Any]:
    return _compute


@pytest.fixture
def never_fired() -> Callable[[PatternMatcher, Callable[[], object]], list[Rule]]:
    """Return a function that gives the rules of a table that did not fire while `exercise` ran."""

    def check(table: PatternMatcher, exercise: Callable[[], object]) -> list[Rule]:
        before = {rule: rule.hits for rule in table.rules}
        exercise()
        return [rule for rule in table.rules if rule.hits == before[rule]]

    return check
