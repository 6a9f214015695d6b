import pytest

from plugrad.codegen.lanes import vectorize
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

out, x, y = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(3))
ints = UOp(Ops.PARAM, dtypes.int32, (), (3, 64))
i, lane = UOp.range(4, 0), UOp.range(4, 1, AxisType.LANE)
k = UOp.range(8, 2, AxisType.REDUCE)
four = dtypes.float32.vec(4)
_ALL = frozenset(STORABLE)
VECTORS, MEMORY = Capabilities(_ALL, _ALL, vector_bits=128), Capabilities(_ALL, _ALL)


def vectorized(value: UOp, place: UOp | None = None, capabilities: Capabilities = VECTORS) -> UOp:
    """Return the value that is stored along the lanes."""
    place = out.index(i * 4 + lane) if place is None else place
    return vectorize(UOp.sink(place.store(value, i, lane)), capabilities).src[0].src[1]


def test_contiguous_loads_and_stores_become_wide() -> None:
    got = vectorize(
        UOp.sink(out.index(i * 4 + lane).store(x.index(i * 4 + lane).load() * 2.0, i, lane)), VECTORS
    )
    wide = x.index(i * 4).load(dtype=four)
    assert got is UOp.sink(out.index(i * 4).store(wide * UOp.const(four, 2.0), i))


def test_what_does_not_depend_on_the_lane_is_broadcast() -> None:
    scalar = y.index(i).load()
    got = vectorized(x.index(lane).load() + scalar)
    zero = UOp.const(dtypes.index, 0)
    assert got is x.index(zero).load(dtype=four) + scalar.broadcast(4)


@pytest.mark.parametrize("idx", [lane * 3, lane * -2 + 6, ints.index(lane).load().cast(dtypes.index)])
def test_places_that_jump_are_gathered(idx: UOp) -> None:
    got = vectorized(x.index(idx).load())
    assert got.op is Ops.VECTORIZE
    assert all(s.op is Ops.LOAD and s.dtype is dtypes.float32 for s in got.src)


def test_addresses_that_are_loaded_are_computed_as_vectors() -> None:
    got = vectorized(x.index(ints.index(lane).load().cast(dtypes.index) + i).load())
    loaded = ints.index(UOp.const(dtypes.index, 0)).load(dtype=dtypes.int32.vec(4))
    places = loaded.cast(dtypes.index.vec(4)) + i.broadcast(4)
    assert got.src == tuple(x.index(places.gep(n)).load() for n in range(4))


def test_a_choice_by_the_number_of_the_lane_is_made_for_each_lane() -> None:
    parts = [y.index(i + n).load() for n in range(1, 5)]
    value = parts[0]
    for n in range(1, 4):
        value = lane.eq(n).where(parts[n], value)
    assert vectorized(value).src == tuple(parts)


def test_one_number_in_some_lanes_is_masked() -> None:
    number = y.index(i).load()
    masked, kept = (lane < 2).where(number, 0.0), (lane < 2).where(number, 1.0)
    assert vectorized(masked).op is Ops.WHERE
    assert vectorized(kept).op is Ops.VECTORIZE


def test_lanes_behind_a_closed_gate_load_the_first_element() -> None:
    place = ints.index(lane).load().cast(dtypes.index)
    got = vectorized(x.index(place, place < 9).load())
    places = ints.index(UOp.const(dtypes.index, 0)).load(dtype=dtypes.int32.vec(4)).cast(dtypes.index.vec(4))
    inside = places < UOp.const(dtypes.index.vec(4), 9)
    assert got.op is Ops.WHERE
    assert got.src[0] is inside
    first = inside.where(places, UOp.const(dtypes.index.vec(4), 0))
    assert got.src[1].src == tuple(x.index(first.gep(n)).load() for n in range(4))


def test_addresses_are_kept_in_the_bounds_of_their_gate_where_these_are_in_memory() -> None:
    place = ints.index(lane).load().cast(dtypes.index)
    for most, is_inside in ((9, True), (99, False)):
        gate = (place < most) & ~(place < 0)
        got = vectorized(x.index(place + i * 4, gate).load())
        assert got.op is Ops.WHERE
        index = got.src[1].src[0].src[0].src[1]
        assert (index.bounds == (0, 8 + 3 * 4)) is is_inside
    closed = vectorized(x.index(place, place.eq(3)).load())
    assert closed.op is Ops.WHERE


def test_a_gate_that_all_lanes_share_stays_at_their_loads() -> None:
    place = ints.index(lane).load().cast(dtypes.index)
    got = vectorized(x.index(place, i < 3).load())
    assert all(s.src[0].src[2] is (i < 3) for s in got.src)


def test_every_other_element_is_picked_from_two_wide_loads() -> None:
    got = vectorized(x.index(i * 8 + lane * 2 + 1).load())
    first, second = (x.index(i * 8 + start).load(dtype=four) for start in (1, 4))
    # the second load ends with the last lane: nothing beyond is read
    assert got.src == (first.gep(0), first.gep(2), second.gep(1), second.gep(3))


def test_what_runs_backwards_is_turned_around() -> None:
    got = vectorized(x.index(lane * -1 + 3).load())
    wide = x.index(UOp.const(dtypes.index, 0)).load(dtype=four)
    assert got is wide.gep(3, 2, 1, 0)


@pytest.mark.parametrize("idx", [lane * 2, lane * -1 + 3])
def test_targets_without_vector_registers_gather(idx: UOp) -> None:
    got = vectorized(x.index(idx).load(), capabilities=MEMORY)
    assert all(s.op is Ops.LOAD and s.dtype is dtypes.float32 for s in got.src)


def test_truths_are_not_shuffled() -> None:
    truths = UOp(Ops.PARAM, dtypes.bool, (), (4, 64))
    got = vectorized(truths.index(lane * 2).load().cast(dtypes.float32))
    assert all(s.dtype is dtypes.bool for s in got.src[0].src)


def test_a_load_whose_gate_depends_on_the_lane_is_gathered() -> None:
    got = vectorized(x.index(i * 4 + lane, lane < 3).load())
    assert [s.src[0].src[2].arg for s in got.src] == [True, True, True, False]


def test_a_load_whose_gate_does_not_depend_on_the_lane_stays_wide() -> None:
    got = vectorized(x.index(i * 4 + lane, i < 3).load())
    assert got is x.index(i * 4, i < 3).load(dtype=four)


def test_stores_that_jump_are_scattered() -> None:
    got = vectorize(UOp.sink(out.index(lane * 8 + i).store(x.index(lane).load(), i, lane)), VECTORS)
    assert [s.src[0].src[1] for s in got.src] == [i, *(i + 8 * n for n in range(1, 4))]


def test_a_constant_is_stored_along_the_lanes() -> None:
    value = UOp.const(dtypes.float32, 1.0)
    assert vectorized(value) is UOp.const(four, 1.0)
    got = vectorize(UOp.sink(out.index(lane * 8).store(value, lane)), VECTORS)
    assert {s.src[1] for s in got.src} == {value}


def test_lanes_of_a_sum_are_added_after_the_loop() -> None:
    total = x.index(k * 4 + lane).load().reduce(Ops.ADD, k, lane)
    got = vectorize(UOp.sink(out.index(i).store(total, i)), VECTORS)
    vector = x.index(k * 4).load(dtype=four).reduce(Ops.ADD, k)
    pair = vector.gep(0, 1) + vector.gep(2, 3)
    assert got is UOp.sink(out.index(i).store(pair.gep(0) + pair.gep(1), i))


def test_a_sum_beside_the_lanes_has_vector_registers() -> None:
    total = (x.index(k * 4 + lane).load() * y.index(k).load()).reduce(Ops.ADD, k)
    assert vectorized(total).op is Ops.REDUCE
    assert vectorized(total).dtype is four


def test_the_lane_itself_is_a_vector_of_its_steps() -> None:
    got = vectorized(lane.cast(dtypes.float32))
    steps = UOp(Ops.VECTORIZE, dtypes.index.vec(4), tuple(lane.const_like(n) for n in range(4)))
    assert got is UOp(Ops.CAST, four, (steps,))


def test_a_store_without_the_lane_stays() -> None:
    store = y.index(i).store(x.index(i).load(), i)
    sink = UOp.sink(out.index(lane).store(x.index(lane).load(), lane), store)
    assert vectorize(sink, VECTORS).src[1] is store


def test_local_memory_is_written_along_the_lanes() -> None:
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 4))
    barrier = UOp(Ops.BARRIER, dtypes.void, (memory.index(lane).store(x.index(lane).load(), lane),))
    got = vectorized(memory.after(barrier).index(lane).load())
    zero = UOp.const(dtypes.index, 0)
    written = memory.index(zero).store(x.index(zero).load(dtype=four))
    assert got is memory.after(UOp(Ops.BARRIER, dtypes.void, (written,))).index(zero).load(dtype=four)


@pytest.mark.parametrize("op", [Ops.CMPEQ, Ops.CMPNE, Ops.CMPLT])
def test_lanes_wider_than_registers_are_compared_with_a_number_as_narrow_as_they_are(op: Ops) -> None:
    number = UOp(Ops.PARAM, dtypes.int64, (), (4, 64)).index(i).load()
    loaded = ints.index(lane).load()

    def has_wide_lanes(moving: UOp) -> bool:
        nodes = vectorized(UOp(op, dtypes.bool, (number, moving.cast(dtypes.int64)))).toposort()
        return any(u.dtype == dtypes.int64.vec(4) for u in nodes)

    assert not has_wide_lanes(lane + i * 4)
    assert not has_wide_lanes(loaded & 15)
    # there is no number that is greater than all of these
    assert has_wide_lanes(loaded)
