"""Lanes of several vectors come side by side by shuffles of two."""

import pytest

from plugrad.codegen.lanes import shuffle_pairs, turns_of
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
VECTORS = Capabilities(_ALL, _ALL, vector_bits=256, max_load_bits=256)
eight = dtypes.float32.vec(8)
x, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(2))
vectors = [x.index(UOp.const(dtypes.index, 8 * n)).load(dtype=eight) for n in range(8)]


def in_turn(count: int, first: int) -> UOp:
    """Return as many lanes as a vector has: of each of `count` vectors in turn, from `first` on."""
    lanes = tuple(v.gep(first + i) for i in range(8 // count) for v in vectors[:count])
    return UOp(Ops.VECTORIZE, eight, lanes)


def lanes_of(u: UOp) -> list[tuple[int, int]]:
    """Return the vector and the lane that each lane is taken from."""
    if u.op is Ops.LOAD:
        return [(vectors.index(u), lane) for lane in range(8)]
    return [lanes_of(s.src[0])[s.arg[0]] for s in u.src]


@pytest.mark.parametrize("count", [4, 8])
def test_shuffles_of_two_give_the_same_lanes_and_are_shared(count: int) -> None:
    wholes = [in_turn(count, first) for first in range(0, 8, 8 // count)]
    sink = UOp.sink(*(out.index(UOp.const(dtypes.index, 8 * n)).store(u) for n, u in enumerate(wholes)))
    found = shuffle_pairs(sink, VECTORS)
    shuffles = [u for u in found.toposort() if u.op is Ops.VECTORIZE]
    assert all(len({s.src[0] for s in u.src}) == 2 for u in shuffles)
    assert len(shuffles) == count * (count.bit_length() - 1)
    assert [lanes_of(store.src[1]) for store in found.src] == [lanes_of(u) for u in wholes]


def test_lanes_of_two_vectors_are_a_shuffle_already() -> None:
    i = UOp.range(2, 0, AxisType.LOOP)
    sink = UOp.sink(out.index(i * 8).store(in_turn(2, 0), i))
    assert shuffle_pairs(sink, VECTORS) is sink


def test_scalar_targets_shuffle_nothing() -> None:
    sink = UOp.sink(out.index(UOp.const(dtypes.index, 0)).store(in_turn(4, 0)))
    assert shuffle_pairs(sink, Capabilities(_ALL, _ALL)) is sink


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (0, 1, 2)])
def test_lanes_out_of_turn_are_none(order: tuple[int, ...]) -> None:
    lanes = [vectors[n].gep(i) for i in range(2) for n in order]
    lanes[-1] = vectors[order[-1]].gep(5)
    assert turns_of(lanes) is None
