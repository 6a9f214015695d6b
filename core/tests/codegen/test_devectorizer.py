import pytest

from plugrad.codegen.devectorizer import devectorize
from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
SCALAR = Capabilities(_ALL, _ALL, max_load_bits=128)
NARROW = Capabilities(_ALL, _ALL, vector_bits=256, max_load_bits=64)
FEW_LANES = Capabilities(_ALL, _ALL, max_lanes=4, max_load_bits=128)
WIDE = Capabilities(_ALL, _ALL, vector_bits=256, max_load_bits=256)
out, x, y = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64)) for slot in range(3))
i = UOp.range(8, 0)
two, four = dtypes.float32.vec(2), dtypes.float32.vec(4)
a, b = x.index(i).load(dtype=four), y.index(i).load(dtype=four)


def stored(value: UOp) -> UOp:
    return UOp.sink(out.index(i).store(value, i))


def test_vectors_of_the_target_stay() -> None:
    assert devectorize(stored(a + b), WIDE) is stored(a + b)


def test_arithmetic_of_scalar_targets_is_taken_apart() -> None:
    lanes = tuple(a.gep(n) + b.gep(n) for n in range(4))
    assert devectorize(stored(a + b), SCALAR) is stored(UOp(Ops.VECTORIZE, four, lanes))


def test_a_copy_on_a_scalar_target_moves_whole_vectors() -> None:
    assert devectorize(stored(a), SCALAR) is stored(a)


def test_loads_and_stores_are_split_to_the_widest_access() -> None:
    got = devectorize(stored(a), NARROW)
    assert got is UOp.sink(
        out.index(i).store(x.index(i).load(dtype=two), i),
        out.index(i + 2).store(x.index(i + 2).load(dtype=two), i),
    )


def test_no_access_has_more_lanes_than_the_target_has_vectors_for() -> None:
    byte = UOp(Ops.PARAM, dtypes.uint8, (), (0, 64))
    other = UOp(Ops.PARAM, dtypes.uint8, (), (1, 64))
    copy = UOp.sink(byte.index(i).store(other.index(i).load(dtype=dtypes.uint8.vec(8)), i))
    accesses = [u for u in devectorize(copy, FEW_LANES).toposort() if u.op is Ops.LOAD]
    assert [u.dtype.count for u in accesses] == [4, 4]
    assert devectorize(copy, SCALAR) is copy


def test_pieces_keep_the_gate() -> None:
    gated = x.index(i, i < 5).load(dtype=four)
    loads = [u for u in devectorize(stored(gated), NARROW).toposort() if u.op is Ops.LOAD]
    assert [u.src[0].src[2] for u in loads] == [i < 5, i < 5]


def interleaved(*vectors: UOp) -> UOp:
    """Return the stores of each vector's lanes, in turns."""
    count = len(vectors)
    return UOp.sink(
        *(out.index(i + (n * count + v)).store(vectors[v].gep(n), i) for v in range(count) for n in range(4))
    )


@pytest.mark.parametrize("count", [2, 4])
def test_lanes_of_vectors_that_take_turns_are_stored_together(count: int) -> None:
    vectors = [x.index(i + 4 * n).load(dtype=four) for n in range(count)]
    lanes = [v.gep(n) for n in range(4) for v in vectors]
    whole = (UOp(Ops.VECTORIZE, four, tuple(lanes[n : n + 4])) for n in range(0, 4 * count, 4))
    stores = (out.index(i + 4 * n).store(value, i) for n, value in enumerate(whole))
    assert devectorize(interleaved(*vectors), WIDE) is UOp.sink(*stores)


def test_lanes_of_three_vectors_are_stored_apart() -> None:
    many = interleaved(*(x.index(i + 4 * n).load(dtype=four) for n in range(3)))
    assert len(devectorize(many, WIDE).src) == 12


def test_vectors_that_gather_what_is_contiguous_are_shuffles_of_wide_loads() -> None:
    rows = [x.index(i + 100 * n).load(dtype=four) for n in range(4)]
    gathered, shuffled = (
        [out.index(i + 4 * n).store(UOp(Ops.VECTORIZE, four, lanes(n)) + a, i) for n in range(4)]
        for lanes in (
            lambda n: tuple(x.index(i + (100 * row + n)).load() for row in range(4)),
            lambda n: tuple(row.gep(n) for row in rows),
        )
    )
    assert devectorize(UOp.sink(*gathered), WIDE) is UOp.sink(*shuffled)
    alone = UOp.sink(gathered[1])
    assert devectorize(alone, WIDE) is alone


def test_scalar_targets_store_lanes_apart() -> None:
    assert len(devectorize(interleaved(a, b), SCALAR).src) == 8


def test_vector_registers_of_scalar_targets_are_taken_apart() -> None:
    k = UOp.range(3, 1, AxisType.REDUCE)
    total = x.index(k * 4).load(dtype=four).reduce(Ops.ADD, k)
    got = devectorize(stored(total), SCALAR)
    reduces = [u for u in got.toposort() if u.op is Ops.REDUCE]
    assert [u.src[0] for u in reduces] == [x.index(k * 4).load(dtype=four).gep(n) for n in range(4)]


def test_stores_to_local_memory_are_split_behind_their_barrier() -> None:
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 4))
    zero = UOp.const(dtypes.index, 0)
    barrier = UOp(Ops.BARRIER, dtypes.void, (memory.index(zero).store(a),))
    value = memory.after(barrier).index(zero).load()
    (split,) = [u for u in devectorize(stored(value), NARROW).toposort() if u.op is Ops.BARRIER]
    assert [s.op for s in split.src] == [Ops.STORE, Ops.STORE]


def test_lanes_of_a_made_vector_are_what_it_was_made_of() -> None:
    scalars = tuple(x.index(i + n).load() for n in range(4))
    vector = UOp(Ops.VECTORIZE, four, scalars)
    assert devectorize(stored(vector.gep(2)), WIDE) is stored(scalars[2])
    assert devectorize(stored(vector.gep(1, 3)), WIDE) is stored(
        UOp(Ops.VECTORIZE, two, (scalars[1], scalars[3]))
    )


def test_a_vector_of_all_lanes_in_order_is_the_vector() -> None:
    again = UOp(Ops.VECTORIZE, four, tuple(a.gep(n) for n in range(4)))
    assert devectorize(stored(again), WIDE) is stored(a)
    assert devectorize(stored(a.gep(0, 1, 2, 3)), WIDE) is stored(a)


def test_a_lane_of_lanes_is_a_lane() -> None:
    assert devectorize(stored(a.gep(3, 1).gep(1)), WIDE) is stored(a.gep(1))


def test_a_lane_of_a_constant_is_the_constant() -> None:
    constant = UOp.const(four, 2.0)
    assert devectorize(stored(constant.gep(1)), WIDE) is stored(UOp.const(dtypes.float32, 2.0))
    made = UOp(Ops.VECTORIZE, four, (UOp.const(dtypes.float32, 2.0),) * 4)
    assert devectorize(stored(made), WIDE) is stored(constant)
