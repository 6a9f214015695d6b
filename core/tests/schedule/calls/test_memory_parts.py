from plugrad.dtype import DType, dtypes
from plugrad.schedule.calls.memory_parts import MemoryPart, take_parts
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

i = UOp.range(64, 0)


def param(slot: int, numel: int = 4096, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


out, x = param(0, 64), param(1)


def stored(*indices: UOp, dtype: DType = dtypes.float32) -> UOp:
    """Return a kernel that adds the elements of `x` at `indices`."""
    memory = param(1, dtype=dtype)
    total = memory.index(indices[0]).load()
    for index in indices[1:]:
        total = total + memory.index(index).load()
    return param(0, 64, dtype).index(i).store(total, i)


def parts_of(ast: UOp, most_buffers: int = 0) -> list[tuple[int, int]]:
    """Return the first element and the size of each part that is taken of `x`."""
    _, parts = take_parts(ast, lambda memory: memory.arg[0] == 1, most_buffers)
    assert all(part.whole.arg[0] == 1 for part in parts.values())
    return [(part.begin, memory.arg[1]) for memory, part in parts.items()]


def test_a_part_is_memory_that_begins_at_zero() -> None:
    ast, parts = take_parts(stored(i + 768), lambda memory: memory is x)
    ((part, place),) = parts.items()
    assert place == MemoryPart(x, 768)
    assert ast is out.index(i).store(part.index(i).load(), i)


def test_kernels_of_equal_parts_are_equal() -> None:
    first, second = (take_parts(stored(i + at), lambda memory: memory is x)[0] for at in (0, 1024))
    assert first is second


def test_parts_that_meet_are_one() -> None:
    assert parts_of(stored(i + 64, i + 80)) == [(64, 80)]
    assert parts_of(stored(i + 64, i + 128)) == [(64, 64), (128, 64)]


def test_all_of_a_memory_is_no_part() -> None:
    j = UOp.range(64, 1, AxisType.REDUCE)
    assert parts_of(stored(i * 64 + j)) == []
    assert parts_of(stored(i, UOp.const(dtypes.index, 4095), i * 64)) == []


def test_parts_begin_where_vectors_may() -> None:
    assert parts_of(stored(i + 8)) == []
    assert parts_of(stored(i + 8, dtype=dtypes.float64)) == [(8, 64)]


def test_gates_keep_addresses_within_memory() -> None:
    gated = x.index(i - 1, UOp.const(dtypes.index, 0) < i).load()
    assert parts_of(out.index(i).store(gated, i)) == [(0, 63)]


def test_a_place_that_is_read_from_memory_moves_with_it() -> None:
    numbers = param(2, 4096, dtypes.int32)
    place = numbers.index(i + 32).load().cast(dtypes.index).minimum(31).maximum(0) + 64
    ast, parts = take_parts(stored(place), lambda memory: memory is not out)
    assert sorted((p.whole.arg[0], p.begin, m.arg[1]) for m, p in parts.items()) == [(1, 64, 32), (2, 32, 64)]
    assert x not in ast.toposort()


def test_many_parts_and_more_than_a_kernel_takes_stay_whole() -> None:
    places = [i + 128 * n for n in range(5)]
    assert len(parts_of(stored(*places[:4]))) == 4
    assert parts_of(stored(*places)) == []
    assert parts_of(stored(*places[:4]), most_buffers=4) == []
    assert len(parts_of(stored(*places[:4]), most_buffers=5)) == 4
