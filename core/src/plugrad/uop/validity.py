"""Simplify addresses under the gate that guards them.

Where a gate says `3 <= i`, `i // 4` of an i below 8 has fewer values to tell apart. What a gate says of an
expression is put into the address by giving the expression a name with those bounds, simplifying, and
putting the expression back.
"""

from collections.abc import Iterable

from plugrad.dtype import dtypes
from plugrad.uop.index_math.sums import factors_of, sum_of
from plugrad.uop.node.terms import operands_of, terms_of
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat

# Only these become simpler when the bounds of something below them tighten.
_BOUNDED = frozenset({Ops.FLOORDIV, Ops.FLOORMOD, Ops.MAX, Ops.WHERE, Ops.CMPLT, Ops.CMPEQ, Ops.CMPNE})

Facts = dict[UOp, tuple[int, int]]


def conjuncts(gate: UOp) -> list[UOp]:
    """Return the conditions that `gate` joins with AND, each once."""
    return list(dict.fromkeys(operands_of(gate, Ops.AND)))


def conjunction(conditions: Iterable[UOp]) -> UOp:
    """Return the AND of `conditions`; True of none."""
    out = None
    for c in conditions:
        out = c if out is None else out & c
    return UOp.const(dtypes.bool, True) if out is None else out


def facts_of(conditions: Iterable[UOp]) -> Facts:
    """Return the bounds of index expressions implied by canonical conditions."""
    out: Facts = {}
    for condition in conditions:
        found = _fact(condition)
        if found is not None:
            x, lowest, highest = found
            known = out.get(x, x.bounds)
            out[x] = (max(known[0], lowest), min(known[1], highest))
    return out


def _fact(condition: UOp) -> tuple[UOp, int, int] | None:
    negated = condition.op is Ops.XOR and condition.src[1].op is Ops.CONST
    u = condition.src[0] if negated else condition
    if (
        u.op not in (Ops.CMPLT, Ops.CMPEQ)
        or u.src[1].op is not Ops.CONST
        or u.src[0].dtype is not dtypes.index
    ):
        return None
    x, c = u.src[0], u.src[1].arg
    if u.op is Ops.CMPEQ:
        return None if negated else (x, c, c)
    return (x, c, x.vmax) if negated else (x, x.vmin, c - 1)


def simplify_under(u: UOp, facts: Facts) -> UOp:
    """Return a form of the index expression `u` that equals it wherever `facts` hold.

    before: (i // 4, where i < 4 by the gate)
    after:  0
    """
    for x, (lowest, highest) in facts.items():
        if not any(node.op in _BOUNDED for node in u.toposort()):
            break
        if lowest <= highest and (lowest, highest) != x.bounds:
            u = _simplify_with_bounds(u, x, lowest, highest)
    return u


def _simplify_with_bounds(u: UOp, x: UOp, lowest: int, highest: int) -> UOp:
    """Simplify with these bounds of `x`, and keep a smaller result."""
    name = UOp.variable("?", lowest, highest) if lowest < highest else UOp.const(dtypes.index, lowest)
    terms, constant = terms_of(x)
    # an atom whose factor is one can be written with the name: atom = name - the other terms
    atom = next((t for t, k in terms.items() if abs(k) == 1 and len(factors_of(t)) == 1), None)
    if atom is None or atom not in u.toposort():
        return u
    sign = terms.pop(atom)
    written = sum_of({t: -k * sign for t, k in terms.items()}, -constant * sign) + name * sign
    # a load runs whether the gate around it holds or not: what gates it stays
    kept = {node: node for node in u.toposort() if node.op is Ops.LOAD}
    under = simplify(u.substitute({**kept, atom: written}))
    out = simplify(under.substitute({name: x} if lowest < highest else {}))
    return out if _cost(out) < _cost(u) else u


def _cost(u: UOp) -> tuple[int, int]:
    nodes = u.toposort()
    return sum(node.op in _BOUNDED for node in nodes), len(nodes)


def simplify_gate(gate: UOp) -> UOp:
    """Return `gate` without the conditions that the others imply.

    before: i < 5 & i < 3
    after:  i < 3
    """
    conditions = conjuncts(simplify(gate))
    kept = list(conditions)
    for condition in conditions:
        others = [c for c in kept if c is not condition]
        facts = facts_of(others)
        if any(lowest > highest for lowest, highest in facts_of(kept).values()):
            return gate.const_like(False)
        found = _fact(condition)
        if found is not None and found[0] in facts:
            x, lowest, highest = found
            implied = lowest <= facts[x][0] and facts[x][1] <= highest
        else:
            under = simplify_under(condition, facts)
            if under.op is Ops.CONST and not under.arg:
                return under
            implied = under.op is Ops.CONST
        if implied:
            kept = others
    return gate if kept == conjuncts(gate) else conjunction(kept)


def _simplify_access(buffer: UOp, idx: UOp, gate: UOp, u: UOp) -> UOp | None:
    simpler_gate = simplify_gate(gate)
    if simpler_gate.op is Ops.CONST:
        # behind a closed gate any address will do
        return u.replace(src=(buffer, idx) if simpler_gate.arg else (buffer, idx.const_like(0), simpler_gate))
    simpler = simplify_under(idx, facts_of(conjuncts(simpler_gate)))
    return u.replace(src=(buffer, simpler, simpler_gate))


def _choice(cond: UOp, x: UOp, y: UOp) -> UOp | None:
    facts = facts_of(conjuncts(cond))
    return cond.where(simplify_under(x, facts), y) if facts else None


_idx, _gate = UPat.var("idx", dtypes.index), UPat.var("gate", dtypes.bool)

pm_simplify_validity = PatternMatcher(
    (UPat(Ops.INDEX, src=(UPat.var("buffer"), _idx, _gate), name="u"), _simplify_access),
    (UPat(Ops.WHERE, dtypes.index, (UPat.var("cond"), UPat.var("x"), UPat.var("y"))), _choice),
)
