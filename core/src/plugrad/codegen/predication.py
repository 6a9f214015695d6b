"""Gates: simpler addresses behind them, and what a load gives where its gate is closed."""

from typing import Any

from plugrad.dtype import dtypes
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, simplify
from plugrad.uop.node.terms import operands_of
from plugrad.uop.strides import coefficient
from plugrad.uop.validity import pm_simplify_validity

_buffer, _idx, _gate = UPat.var("buffer"), UPat.var("idx"), UPat.var("gate")
_cond, _zero = UPat.var("cond"), UPat.cvar("zero")
_open, _closed = UPat.const(True, dtypes.bool), UPat.const(False, dtypes.bool)

# sources of an INDEX without a gate
UNGATED = 2


def _gated_index(gate: UPat) -> UPat:
    return UPat(Ops.INDEX, src=(_buffer, _idx, gate))


def _without_closed_stores(sink: UOp) -> UOp | None:
    gates = {s: s.src[0].src[2] for s in sink.src if s.op is Ops.STORE and len(s.src[0].src) > 2}
    kept = tuple(s for s in sink.src if s not in gates or gates[s].op is not Ops.CONST or gates[s].arg)
    return None if len(kept) == len(sink.src) else sink.replace(src=kept)


def _without_its_gate(cond: UOp, load: UOp, zero: UOp) -> UOp | None:
    """Drop a choice that a load makes itself, of the same condition in all lanes."""
    gate = cond.src[0] if cond.op is Ops.VECTORIZE and len(set(cond.src)) == 1 else cond
    is_known = set(operands_of(gate, Ops.AND)).issubset(operands_of(load.src[2], Ops.AND))
    return load if zero is load.src[1] and is_known else None


def _without_kept_rows(store: UOp) -> UOp | None:
    """Make the choice between new rows and those there a gate of the store.

    Where elements of one row are kept and others not, lanes choose: stores of single lanes take longer.
    """
    place, value, *ended = store.src
    if store.arg is not None or value.op is not Ops.WHERE or len(place.src) > UNGATED:
        return None
    cond, new, old = value.src
    there = place.load()
    if new is there:
        cond, new, old = ~cond, old, new
    in_rows = any(abs(coefficient(place.src[1], r) or 0) == 1 and r not in cond.ranges for r in ended)
    if old is not there or not in_rows:
        return None
    return store.replace(src=(place.replace(src=(*place.src, cond)), new, *ended))


pm_kept_rows = PatternMatcher((UPat(Ops.STORE, name="store"), _without_kept_rows))

pm_gates = PatternMatcher(
    (
        UPat(Ops.WHERE, src=(_cond, UPat(Ops.LOAD, src=(UPat(), UPat(), UPat()), name="load"), _zero)),
        _without_its_gate,
    ),
    (_gated_index(_open), lambda buffer, idx: buffer.index(idx)),
    (UPat(Ops.LOAD, src=(_gated_index(_closed),), name="load"), lambda buffer, idx, load: load.const_like(0)),
    (
        UPat(Ops.LOAD, src=(_gated_index(_gate),), name="load"),
        lambda buffer, idx, gate, load: buffer.index(idx).load(load.const_like(0), gate, dtype=load.dtype),
    ),
    (UPat(Ops.SINK, name="sink"), _without_closed_stores),
)


def simplify_gates(sink: UOp, _: Any = None) -> UOp:
    """Drop implied conditions, and simplify addresses by their gates.

    before: INDEX(buffer, i % 8, i < 8 & i < 9), i of 16
    after:  INDEX(buffer, i, i < 8)

    before: STORE(INDEX(buffer, 64*i + j), WHERE(i == 3, x, LOAD(INDEX(buffer, 64*i + j))), i, j)
    after:  STORE(INDEX(buffer, 64*i + j, i == 3), x, i, j)
    """
    return simplify(graph_rewrite(sink, pm_simplify_validity + pm_kept_rows, name="simplify_gates"))


def lower_gates(sink: UOp, _: Any = None) -> UOp:
    """Turn gated loads into loads with an alternative, and drop closed ones.

    before: LOAD(INDEX(buffer, idx, gate))
    after:  LOAD(INDEX(buffer, idx), 0, gate)

    before: WHERE(gate, LOAD(INDEX(buffer, idx, gate)), 0)
    after:  LOAD(INDEX(buffer, idx), 0, gate)
    """
    op = Ops.INDEX
    if not any([u.op is op and len(u.src) > UNGATED for u in sink.toposort()]):
        return sink
    return graph_rewrite(sink, pm_gates, name="lower_gates")
