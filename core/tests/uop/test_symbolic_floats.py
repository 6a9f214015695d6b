"""The table of what changes bits of floats is whole, and says of each rule what it breaks and no more."""

import importlib
import itertools
import pkgutil
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import plugrad
from plugrad import events
from plugrad.builtin import arithmetic
from plugrad.codegen import decompositions
from plugrad.dtype import FLOAT8, DType, dtypes, is_float
from plugrad.target import Capabilities
from plugrad.uop.ops import ALU, COMPARE, Ops
from plugrad.uop.rewrite import PatternMatcher, Rule, graph_rewrite
from plugrad.uop.symbolic import pm_symbolic
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat

Array = NDArray[Any]
FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
PAGE = Path(__file__).parents[3] / "docs/floats.md"
#: What each function breaks: the third column of the page's table, by the last one.
LISTED = {
    row[6].strip(" `"): set(row[3].strip().split(", "))
    for row in (line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines())
    if len(row) == 8 and row[6].strip().startswith("`")
}
CONSTANTS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 4.0, -8.0, 0.1, -0.1, 1e-7, 1e4, 1e8, 65504.0, 12582912.0),
    *(-12582912.0, 1e30, 1e-30, np.inf, -np.inf, np.nan),
)
#: Tables whose rules move values, or change integers and conditions only.
MOVING = {
    "plugrad.schedule.prepare.normalize.pm_normalize",
    "plugrad.codegen.predication.pm_gates",
    "plugrad.codegen.predication.pm_kept_rows",
    "plugrad.uop.validity.pm_simplify_validity",
}


class Graphs:
    """Random graphs of floats, and what they compute from values of all magnitudes."""

    def __init__(self, seed: int, count: int) -> None:
        self.rng = random.Random(seed)
        self.count = count
        self.leaves: dict[UOp, Array] = {}
        for dtype in (*FLOATS, dtypes.int32, dtypes.bool):
            for name in "ab":
                u = UOp(Ops.DEFINE_VAR, dtype, (), (name, 0, 1))
                self.leaves[u] = np.random.default_rng(len(self.leaves)).permutation(_values(dtype, count))
        self.step = UOp.range(1, 0)

    def constant(self, dtype: DType) -> UOp:
        return UOp.const(dtype, self.rng.choice(CONSTANTS) if is_float(dtype) else self.rng.randint(0, 3))

    def graph(self, dtype: DType, depth: int) -> UOp:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            mine = [u for u in self.leaves if u.dtype is dtype]
            return self.constant(dtype) if rng.random() < 0.45 else rng.choice(mine)
        if dtype is dtypes.bool:
            return self.condition(depth)
        if dtype is dtypes.int32:
            return self.graph(rng.choice((dtypes.bool, dtypes.int32)), depth - 1).cast(dtype)
        choice = rng.random()
        if choice < 0.12:
            x = self.graph(rng.choice((*FLOATS, dtypes.int32, dtypes.bool)), depth - 1)
            return UOp(Ops.CAST, dtype, (x,))
        if choice < 0.15:
            whole = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[dtype.itemsize]
            x = self.graph(dtype, depth - 1)
            return UOp(Ops.BITCAST, dtype, (rng.choice((x, x.bitcast(whole))),))
        x = self.graph(dtype, depth - 1)
        if choice < 0.2:
            return x.alu(rng.choice((Ops.NEG, Ops.NEG, Ops.RECIP, Ops.SQRT, Ops.TRUNC, Ops.EXP)))
        if choice < 0.3:
            return self.graph(dtypes.bool, depth - 1).where(x, self.graph(dtype, depth - 1))
        if choice < 0.32:
            return x.reduce(Ops.ADD, self.step)
        y = x if choice < 0.35 else self.graph(dtype, depth - 1 if choice < 0.6 else 0)
        op = rng.choice((Ops.ADD, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MUL, Ops.MAX, Ops.MAX, Ops.FDIV, Ops.FMOD))
        if choice > 0.97:
            return x.alu(Ops.MULACC, y, self.graph(dtype, 0))
        return x.alu(op, y)

    def condition(self, depth: int) -> UOp:
        dtype = self.rng.choice((dtypes.bool, *FLOATS))
        x, y = self.graph(dtype, depth - 1), self.graph(dtype, depth - 1)
        choices = (
            (Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ) if dtype is not dtypes.bool else (Ops.AND, Ops.OR, Ops.XOR)
        )
        return x.alu(self.rng.choice(choices), y)

    def evaluate(self, root: UOp) -> Array:
        """Return what `root` means for each set of values, each operation rounded once."""
        done = dict(self.leaves)
        for u in root.toposort(lambda u: u not in self.leaves):
            src = [done[s] for s in u.src if s in done]
            if u.op is Ops.CONST:
                done[u] = np.full(self.count, u.arg, arithmetic.lane_dtype(_plain(u.dtype)))
            elif u.op is Ops.REDUCE:
                add = arithmetic.function(Ops.ADD, u.dtype, (u.dtype, u.dtype))
                done[u] = reduce(add, src, np.zeros_like(src[0]))
            elif u.op is not Ops.RANGE:
                done[u] = np.asarray(_meaning(u)(*src))
        return done[root]


def _values(dtype: DType, count: int) -> Array:
    rng = np.random.default_rng(0)
    if dtype is dtypes.bool:
        return rng.random(count) < 0.5
    if not is_float(dtype):
        return rng.integers(-100, 100, count).astype(np.int32)
    values = np.concatenate([CONSTANTS, [1e-40, 3e38, 1e300, 7e-8, -3e38, 1e-310]])
    rest = rng.standard_normal(count - len(values))
    rest[::2] *= 2.0 ** rng.integers(-40, 40, len(rest[::2]))
    values = np.concatenate([values, rest])
    with np.errstate(all="ignore"):
        if dtype is dtypes.bfloat16:
            return arithmetic.round_to_bfloat16(values)
        return values.astype(arithmetic.lane_dtype(dtype))


_EXACT = {
    Ops.EXP: np.exp,
    Ops.EXP2: np.exp2,
    Ops.LOG2: np.log2,
    Ops.SIN: np.sin,
    Ops.COS: np.cos,
    Ops.POW: np.power,
}


def _plain(dtype: DType) -> DType:
    return dtypes.int64 if dtype is dtypes.index else dtype


def _meaning(u: UOp) -> Any:
    if (exact := _EXACT.get(u.op)) is None:
        return arithmetic.function(u.op, _plain(u.dtype), tuple(_plain(s.dtype) for s in u.src))
    to = arithmetic.cast(dtypes.float64, u.dtype)
    return lambda *x: to(exact(*[values.astype(np.float64) for values in x]))


def _broken(before: Array, after: Array) -> set[str]:
    if before.dtype.kind != "f":
        return {"values"} if (before != after).any() else set()
    numbers = ~np.isnan(before) & ~np.isnan(after)
    ends = numbers & (np.isinf(before) | np.isinf(after)) & (before != after)
    found = {
        "NaN": np.isnan(before) != np.isnan(after),
        "overflow": ends,
        "-0.0": numbers & (before == after) & (np.signbit(before) != np.signbit(after)),
        "rounding": numbers & (before != after) & ~ends,
    }
    return {name for name, where in found.items() if where.any()}


def measure(table: PatternMatcher, graphs: Graphs, roots: Iterator[UOp]) -> dict[Rule, set[str]]:
    """Return the rules that floats met while `roots` were rewritten, each with what it broke."""
    found: defaultdict[Rule, set[str]] = defaultdict(set)

    def see(event: events.RewriteEvent) -> None:
        before, after = event.before, event.after
        assert isinstance(before, UOp)
        assert isinstance(after, UOp)
        if before.dtype.kind != "void" and any(is_float(u.dtype) for u in (before, *before.src)):
            assert isinstance(event.rule, Rule)
            found[event.rule] |= _broken(graphs.evaluate(before), graphs.evaluate(after))

    with np.errstate(all="ignore"), events.subscribe(events.RewriteEvent, see):
        for root in roots:
            graph_rewrite(root, table)
    return found


def name_of(rule: Rule) -> str:
    function: Any = rule.function
    return f"{function.__module__}.{function.__qualname__}".removeprefix("plugrad.")


def assert_listed(found: dict[Rule, set[str]], below: str) -> None:
    broken: defaultdict[str, set[str]] = defaultdict(set)
    for rule, breaks in found.items():
        broken[name_of(rule)] |= breaks
    wrong = {name: breaks for name, breaks in broken.items() if not breaks <= LISTED.get(name, set())}
    assert not wrong, "these break more than docs/floats.md says"
    # which zero NumPy's maximum takes depends on the machine
    unseen = {
        name: breaks - broken[name] - {"-0.0"} for name, breaks in LISTED.items() if name.startswith(below)
    }
    assert not any(unseen.values()), "these break less than docs/floats.md says"


def silent(table: PatternMatcher, found: dict[Rule, set[str]]) -> list[Rule]:
    # events name rules by their text, which rules of one function for several dtypes share
    fired = set(map(repr, found))
    return [rule for rule in table.rules if repr(rule) not in fired and computes_floats(rule.pattern)]


def computes_floats(pattern: UPat) -> bool:
    """Say whether a pattern matches an operation that takes or gives floats."""
    if pattern.ops is None or not pattern.ops & (ALU | {Ops.CAST, Ops.BITCAST, Ops.REDUCE}):
        return False
    operands = pattern.src[1:] if pattern.ops == {Ops.WHERE} else pattern.src
    result = () if pattern.ops <= COMPARE else (pattern,)
    if pattern.ops <= {Ops.CAST, Ops.BITCAST}:
        return any(map(_may_be_float, (pattern, *operands)))
    return all(map(_may_be_float, (*result, *operands)))


def _may_be_float(pattern: UPat) -> bool:
    integers = {Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.CMOD, Ops.CDIV, Ops.FLOORDIV, Ops.FLOORMOD}
    if pattern.ops is not None and pattern.ops <= integers | COMPARE | {Ops.THREEFRY}:
        return False
    if pattern.dtypes is None:
        return all(map(_may_be_float, pattern.src)) if pattern.ops in ({Ops.ADD}, {Ops.MUL}) else True
    return any(map(is_float, pattern.dtypes))


def _rarely_drawn(graphs: Graphs) -> Iterator[UOp]:
    c, d = (u for u in graphs.leaves if u.dtype is dtypes.bool)
    for dtype in FLOATS:
        x, y = (u for u in graphs.leaves if u.dtype is dtype)
        yield from (c.cast(dtype).ne(0.0), c.cast(dtype).eq(0.0))
        yield from (c.where(d.where(x, y), y), c.where(x, d.where(x, y)), c.where(c.where(x, y), x + y))
        yield from (x + 0.5 + 2.7, x * 3.0 * 1.1, x.const_like(-0.0).maximum(0.0))


def test_simplification_breaks_what_the_table_says() -> None:
    graphs = Graphs(seed=1, count=400)
    drawn = (graphs.graph(graphs.rng.choice(FLOATS), graphs.rng.choice((2, 3))) for _ in range(5000))
    found = measure(pm_symbolic, graphs, itertools.chain(_rarely_drawn(graphs), drawn))
    assert_listed(found, "uop.symbolic.")
    assert not silent(pm_symbolic, found), "no float met these rules: let the graphs above draw them"


# floats of a byte have the rules of float16, made by one function
ALL_FLOATS = frozenset((*FLOATS, *FLOAT8))
WIDE = ALL_FLOATS - {dtypes.float16, dtypes.bfloat16}
TARGETS = (
    Capabilities(ALL_FLOATS, ALL_FLOATS, native_ops=frozenset({"FDIV"})),
    Capabilities(ALL_FLOATS, ALL_FLOATS, native_ops=frozenset({"RECIP"})),
    Capabilities(ALL_FLOATS, WIDE, native_ops=frozenset({"FDIV"})),
)


def _single_operations(graphs: Graphs) -> Iterator[UOp]:
    for dtype in FLOATS:
        x, y = (u for u in graphs.leaves if u.dtype is dtype)
        unary = (Ops.NEG, Ops.RECIP, Ops.EXP, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.SQRT, Ops.TRUNC)
        binary = (Ops.SUB, Ops.FDIV, Ops.FMOD, Ops.MAX, Ops.POW, Ops.ADD, Ops.MUL, *COMPARE)
        yield from (x.alu(op) for op in unary)
        yield from (x.alu(op, y) for op in binary)
        yield from (x.alu(Ops.POW, x.const_like(n)) for n in (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.5))
        yield from (x.cast(other) for other in (*FLOATS, dtypes.int32))
        yield from (x.alu(Ops.MULACC, y, z) for z in (x, x.const_like(-np.inf), x.const_like(1e30)))
        yield x.alu(Ops.MULACC, x.const_like(2.0), -x)
        yield from ((x * factor).sqrt() for factor in (1.5, 3.0, 5.0, 7.0))
        for values in ((x, y, x, -x), (x, x, -x, y)):
            yield UOp(Ops.REDUCE, dtype, (*values, graphs.step), (Ops.ADD, 4))


def test_decompositions_break_what_the_table_says() -> None:
    graphs = Graphs(seed=2, count=1 << 14)
    found: defaultdict[Rule, set[str]] = defaultdict(set)
    for target in TARGETS:
        for rule, breaks in measure(decompositions.rules(target), graphs, _single_operations(graphs)).items():
            found[rule] |= breaks
    assert_listed(found, "codegen.decompositions.")
    assert not [rule for target in TARGETS for rule in silent(decompositions.rules(target), found)]


def test_every_table_of_rules_is_measured_or_only_moves_values() -> None:
    measured = {*pm_symbolic.rules, *(rule for t in TARGETS for rule in decompositions.rules(t).rules)}
    tables = {
        f"{info.name}.{name}": table
        for info in pkgutil.walk_packages(plugrad.__path__, "plugrad.")
        if not info.name.endswith("__main__")
        for name, table in vars(importlib.import_module(info.name)).items()
        if isinstance(table, PatternMatcher)
        and any(rule.function.__module__ == info.name for rule in table.rules)
    }
    unknown = {name for name, table in tables.items() if not measured.issuperset(table.rules)}
    assert unknown == MOVING


@pytest.mark.parametrize("where", LISTED)
def test_entry_names_what_is_there(where: str) -> None:
    module, _, name = where.rpartition(".")
    assert callable(getattr(importlib.import_module(f"plugrad.{module}"), name))
    assert LISTED[where] <= {"rounding", "overflow", "-0.0", "NaN"}
