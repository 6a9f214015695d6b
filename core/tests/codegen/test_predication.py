from collections.abc import Sequence

from plugrad.codegen.predication import lower_gates, simplify_gates
from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(2))
i, j = UOp.range(16, 0), UOp.range(4, 1)
always, never = (UOp.const(dtypes.bool, value) for value in (True, False))
zero = UOp.const(dtypes.float32, 0.0)


def test_a_gated_load_gives_zero_where_its_gate_is_closed() -> None:
    got = lower_gates(UOp.sink(out.index(i).store(x.index(i, i < 5).load(), i)))
    assert got is UOp.sink(out.index(i).store(x.index(i).load(zero, i < 5), i))


def test_a_gated_vector_load_gives_a_vector_of_zeros() -> None:
    four = dtypes.float32.vec(4)
    got = lower_gates(x.index(i, i < 5).load(dtype=four))
    assert got is x.index(i).load(UOp.const(four, 0.0), i < 5, dtype=four)


def test_open_gates_go() -> None:
    got = lower_gates(UOp.sink(out.index(i, always).store(x.index(i, always).load(), i)))
    assert got is UOp.sink(out.index(i).store(x.index(i).load(), i))


def test_what_is_never_loaded_is_zero() -> None:
    assert lower_gates(x.index(i, never).load()) is zero


def test_what_is_never_stored_goes() -> None:
    kept = out.index(i).store(zero, i)
    assert lower_gates(UOp.sink(kept, out.index(i + 1, never).store(zero, i))) is UOp.sink(kept)


def test_addresses_use_what_their_gate_says() -> None:
    gated = UOp.sink(out.index(i % 8, (i < 8) & (i < 9)).store(zero, i))
    assert simplify_gates(gated) is UOp.sink(out.index(i, i < 8).store(zero, i))


def test_a_gate_that_always_holds_goes() -> None:
    got = simplify_gates(UOp.sink(out.index(i).store(x.index(i, i < 16).load(), i)))
    assert got is UOp.sink(out.index(i).store(x.index(i).load(), i))


def rows(condition: UOp, in_place: Sequence[int] = (0, 1)) -> UOp:
    """Return a kernel that writes 1 to elements of 16 rows of 4, or what they have."""
    place = out.index(i * 4 + j)
    choices = [zero + 1, place.load()]
    return UOp.sink(place.store(condition.where(*(choices[n] for n in in_place)), i, j))


def test_rows_that_keep_what_they_have_are_not_stored() -> None:
    place = out.index(i * 4 + j, i < 5)
    assert simplify_gates(rows(i < 5)) is simplify(UOp.sink(place.store(zero + 1, i, j)))
    assert simplify_gates(rows(i >= 5, in_place=(1, 0))) is simplify_gates(rows(i < 5))


def test_single_elements_that_keep_what_they_have_are_chosen_by_lanes() -> None:
    assert simplify_gates(rows(j < 2)) is simplify(rows(j < 2))


def test_a_choice_by_the_gate_of_a_load_is_the_load() -> None:
    two = dtypes.float32.vec(2)
    gate, other = i < 5, x.index(i).load() < 3
    both = UOp(Ops.VECTORIZE, dtypes.bool.vec(2), (gate, gate))
    load = x.index(i, gate & other).load(dtype=two)
    assert lower_gates(both.where(load, load.const_like(0.0))) is lower_gates(load)


def test_a_choice_by_more_than_the_gate_of_a_load_stays() -> None:
    gate, other = i < 5, x.index(i).load() < 3
    load = x.index(i, gate).load()
    kept = [
        other.where(load, zero),
        gate.where(load, zero.const_like(-0.0)),
        gate.where(load, load.const_like(1)),
    ]
    for choice in kept:
        assert lower_gates(choice).op is Ops.WHERE
