from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import graph_rewrite
from plugrad.uop.symbolic import pm_symbolic, simplify
from plugrad.uop.uop import UOp
from plugrad.uop.validity import (
    conjuncts,
    facts_of,
    pm_simplify_validity,
    simplify_gate,
    simplify_under,
)

r, s = UOp.range(8, 0), UOp.range(3, 1)
buffer = UOp(Ops.PARAM, dtypes.float32, (), (0, 100))
pm = pm_symbolic + pm_simplify_validity


def place(idx: UOp, gate: UOp) -> UOp:
    return graph_rewrite(buffer.index(idx, gate), pm)


@pytest.mark.parametrize(
    ("idx", "gate", "simpler"),
    [
        (r // 4 * 100 + r % 4, r < 4, r),
        (r // 4 * 100 + r % 4, ~(r < 4), r + 96),
        (r // 4 * 100 + r % 4, (r < 6) & ~(r < 4), r + 96),
        ((r + s - 1) // 6 * 50 + (r + s - 1) % 6, ~(r + s < 1) & (r + s < 7), r + s - 1),
        ((r * 8 + s - 1) // 8 * 50 + (r * 8 + s - 1) % 8, ~(s < 1), r * 50 + s - 1),
        (r // 4, r.eq(5), UOp.const(dtypes.index, 1)),
        (r.maximum(UOp.const(dtypes.index, 3)), ~(r < 5), r),
    ],
)
def test_address_is_simplified_under_its_gate(
    idx: UOp, gate: UOp, simpler: UOp, try_all: Callable[..., None]
) -> None:
    found = place(idx, gate)
    assert found.src[1] is simplify(simpler)
    assert found.src[2] is simplify(gate)
    try_all(idx, found.src[1], given=gate)


def test_gate_that_always_holds_is_dropped() -> None:
    assert place(r, r < 9) is buffer.index(r)


def test_closed_gate_leaves_any_address() -> None:
    closed = buffer.index(UOp.const(dtypes.index, 0), UOp.const(dtypes.bool, False))
    assert place(r * 3, (r < 3) & ~(r < 5)) is closed
    assert place(r * 3, r < 0) is closed


def test_conditions_that_others_imply_are_dropped() -> None:
    assert simplify_gate((r < 5) & (r < 3)) is (r < 3)
    assert simplify_gate((r < 3) & (r < 5) & (s < 2)) is (r < 3) & (s < 2)
    assert simplify_gate((r < 2) & (r // 4 < 1) & (r % 4 < 2)) is (r < 2)


def test_gate_of_loaded_values_is_left_alone() -> None:
    loaded = UOp(Ops.PARAM, dtypes.bool, (), (1, 8)).index(r).load()
    assert place(r // 4, loaded).src == (buffer, r // 4, loaded)


def test_index_choice_is_simplified_under_its_condition() -> None:
    u = (r < 4).where(r // 4, r)
    assert graph_rewrite(u, pm) is (r < 4).where(UOp.const(dtypes.index, 0), r)


def test_facts_come_from_both_sides_of_comparisons() -> None:
    assert facts_of(conjuncts(simplify((r < 5) & ~(r < 2)))) == {r: (2, 4)}
    assert facts_of(conjuncts(simplify((r * -1) < -2))) == {r: (3, 7)}


@given(data=st.data())
def test_simplified_address_agrees_wherever_the_gate_holds(
    data: st.DataObject, try_all: Callable[..., Any]
) -> None:
    terms = st.tuples(st.integers(-3, 3), st.integers(-2, 2), st.integers(-5, 12))
    limits = st.lists(st.tuples(terms, st.booleans()), min_size=1, max_size=3)

    def make(t: tuple[int, int, int]) -> UOp:
        return r * t[0] + s * t[1] + t[2]

    gate = UOp.const(dtypes.bool, True)
    for t, negated in data.draw(limits):
        term = make(t) < 4
        gate = gate & (~term if negated else term)
    n, d = make(data.draw(terms)), data.draw(st.sampled_from([2, 3, 4, 6]))
    idx = n // d * 10 + n % d
    before = simplify(gate)
    try_all(before, simplify_gate(before))
    try_all(idx, simplify_under(simplify(idx), facts_of(conjuncts(before))), given=gate)
    out = place(idx, gate)
    try_all(gate, out.src[2] if len(out.src) > 2 else UOp.const(dtypes.bool, True))
    try_all(idx, out.src[1], given=gate)


def test_the_gate_of_a_load_in_an_address_stays() -> None:
    position = UOp(Ops.PARAM, dtypes.int32, (), (1, 100)).index(r).load().cast(dtypes.index)
    gate = ~(position < 0) & (position < 4)
    inner = UOp(Ops.PARAM, dtypes.int32, (), (2, 4)).index(position, gate).load()
    idx = (inner < 0).where(inner + 4, inner).cast(dtypes.index)
    assert inner in place(idx, gate & (position < 3)).src[1].toposort()
