from plugrad.dtype import dtypes
from plugrad.schedule.parts import GraphPart, split
from plugrad.schedule.versions import part_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def parts(*values: UOp, stored: frozenset[UOp] = frozenset(), takes_parts: bool = True) -> list[GraphPart]:
    return split(UOp.sink(*values), stored, lambda device: takes_parts)


def read_by(part: GraphPart) -> list[UOp]:
    return [given.version for given in part.inputs.values()]


def test_a_graph_without_memory_inside_is_its_only_part() -> None:
    x, y = buffer(4), buffer(4)
    (only,) = parts(x.exp2() + y)
    assert only.sink is UOp.sink(x.exp2() + y)
    assert read_by(only) == [x, y]


def test_equal_layers_between_memory_are_equal_parts() -> None:
    x, weights = buffer(4), [buffer(4) for _ in range(5)]
    values = [x]
    for w in weights:
        values.append((values[-1] * w).exp2().contiguous())
    found = parts(values[-1])
    # what the first one reads is there before and afterwards
    assert len({part.key for part in found[1:]}) == 1
    assert [read_by(part) for part in found] == [list(pair) for pair in zip(values, weights, strict=False)]


def test_values_that_share_no_computation_are_parts() -> None:
    x, y = buffer(4), buffer(4)
    first, second = parts(x.exp2(), y.exp2())
    assert first.key == second.key


def test_what_is_asked_for_and_read_on_is_memory() -> None:
    x = buffer(4)
    asked = x.exp2()
    assert len(parts(asked, asked.sin())) == 1
    assert len(parts(asked, asked.sin(), stored=frozenset((asked, asked.sin())))) == 2


def test_numbers_and_views_join_no_parts() -> None:
    places = UOp.iota(4).cast(dtypes.float32) * 2
    x = buffer(2, 2).exp2().contiguous()
    flat = x.reshape((4,))
    assert len(parts((flat + places).contiguous(), (flat * places).contiguous())) == 3


def test_all_that_happens_to_one_memory_is_one_part() -> None:
    x, y = buffer(4), buffer(4)
    first = x.after(x.shrink(((0, 2),)).assign(y.shrink(((0, 2),)).exp2()))
    second = first.after(first.shrink(((2, 4),)).assign(y.shrink(((2, 4),)).sin()))
    other, own = parts(second, (second * 2).contiguous())[::-1]
    assert {u.op for u in own.nodes if u.op is Ops.ASSIGN}
    (version,) = other.inputs.values()
    assert (version.version, version.owner) == (second, x)


def test_an_assigned_part_of_memory_is_read_where_it_is_written() -> None:
    x = buffer(4)
    part = x.shrink(((0, 2),)).assign(buffer(2))
    assert len(parts((part * 2).contiguous())) == 1


def test_consecutive_elements_of_memory_are_told_apart_by_no_number() -> None:
    memory, x = buffer(128), buffer(32)
    values = [(memory.shrink(((at, at + 32),)) * x).contiguous() for at in (0, 32, 96)]
    found = parts(*values)
    assert len({part.key for part in found}) == 1
    numbered = next(iter(found[1].inputs))
    assert found[1].memory(numbered, ()) is part_of(memory, 32, 32)
    inner = part_of(numbered, 8, 8)
    assert found[1].memory(inner, ()) is part_of(memory, 40, 8)


def test_consecutive_elements_that_another_part_makes_are_told_apart_by_no_number() -> None:
    made, x = (buffer(128) + 1).contiguous(), buffer(32)
    _, first, second = parts(*[(made.shrink(((at, at + 32),)) * x).contiguous() for at in (0, 96)])
    assert first.key == second.key
    assert read_by(second) == [made, x]
    assert second.memory(next(iter(second.inputs)), ()) is part_of(made, 96, 32)


def test_a_view_that_is_made_has_memory_of_its_own() -> None:
    made = (buffer(4, 32) + 1).reshape((128,))
    (part,) = parts(made)
    assert part.memory(part_of(made, 32, 32), (made,)) is part_of(made, 32, 32)


def test_elements_of_what_was_written_are_told_apart_by_no_number() -> None:
    memory, x = buffer(128), buffer(32)
    written = memory.after(memory.assign(buffer(128)))
    rows = written.reshape((4, 32))
    values = [(rows.shrink(((row, row + 1), (0, 32))).reshape((32,)) * x).contiguous() for row in (1, 2)]
    first, second = (part for part in parts(*values) if part.nodes[part.sink.src[0]] in values)
    assert first.key == second.key
    assert [read_by(part)[0] for part in (first, second)] == [written, written]
    assert second.memory(next(iter(second.inputs)), ()) is part_of(memory, 64, 32)


def test_other_slices_stay_slices() -> None:
    odd = [(buffer(128).shrink(((at, at + 8),)) * 2).contiguous() for at in (3, 5)]
    assert len({part.key for part in parts(*odd)}) == 2
    columns = [(buffer(64, 64).shrink(((0, 64), (at, at + 16))) * 2).contiguous() for at in (0, 16)]
    assert len({part.key for part in parts(*columns)}) == 2
    even = [(buffer(128).shrink(((at, at + 16),)) * 2).contiguous() for at in (0, 16)]
    assert len({part.key for part in parts(*even, takes_parts=False)}) == 2


def test_a_value_of_a_symbolic_shape_is_no_boundary() -> None:
    n = UOp.variable("n", 1, 4)
    some = buffer(4).shrink(((0, n),)).exp2().contiguous()
    assert len(parts(some + 1)) == 1
