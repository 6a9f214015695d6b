import pytest

from plugrad.dtype import dtypes
from plugrad.engine.arena import prepare
from plugrad.engine.realize import schedule
from plugrad.engine.schedule_cache import cached_schedule, canonicalize, clear_schedules
from plugrad.schedule import create
from plugrad.schedule.create import Schedule
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import put


def buffer(device: str = "PYTHON", size: int = 4) -> UOp:
    return UOp.new_buffer(device, (size,), dtypes.float32)


def test_graphs_that_differ_in_their_buffers_have_one_canonical_form() -> None:
    first = canonicalize([buffer() + buffer()])
    second = canonicalize([buffer() + buffer()])
    assert first.sink is second.sink


def test_a_buffer_that_is_used_twice_is_one_in_the_canonical_form() -> None:
    x = buffer()
    assert canonicalize([x + x]).sink is not canonicalize([x + buffer()]).sink


def test_shapes_dtypes_and_devices_make_a_difference() -> None:
    forms = {
        canonicalize([x + 1]).sink
        for x in (buffer(), buffer(size=5), buffer("PYTHON:1"), buffer().cast(dtypes.float64))
    }
    assert len(forms) == 4


def test_numbered_buffers_are_none_that_anybody_has() -> None:
    # a remembered graph that held a user's BUFFER would keep its memory
    x = buffer()
    canonical = canonicalize([x + 1])
    (numbered,) = canonical.buffers
    assert canonical.buffers[numbered] is x
    assert numbered.arg.ident < 0


def test_bound_values_are_taken_out() -> None:
    n = UOp.variable("n", 1, 4)
    x = buffer()
    forms = [canonicalize([x.shrink(((0, n.bind(value)),)) + 1]) for value in (2, 3)]
    assert forms[0].sink is forms[1].sink
    assert [form.values for form in forms] == [{"n": 2}, {"n": 3}]
    assert forms[0].bindings == {n: n.bind(2)}


def test_what_gradients_alone_see_makes_no_difference() -> None:
    x, y = buffer(), buffer()
    detached = (x + 1).detach()
    canonical = canonicalize([detached * y])
    assert canonical.sink is canonicalize([(x + 1) * y]).sink
    assert canonical.nodes[detached] is canonical.nodes[x + 1]


def test_each_node_is_found_again_in_the_canonical_form() -> None:
    x = buffer()
    canonical = canonicalize([x + 1])
    assert canonical.nodes[x + 1] is canonical.sink.src[0]


def test_a_schedule_is_made_once() -> None:
    made: list[int] = []

    def create() -> object:
        made.append(1)
        return prepare(Schedule((), (), {}))

    sink = UOp.sink(buffer())
    clear_schedules()
    first = cached_schedule(sink, "PYTHON", create)  # type: ignore[arg-type]
    assert cached_schedule(sink, "PYTHON", create) is first  # type: ignore[arg-type]
    cached_schedule(sink, "PYTHON:1", create)  # type: ignore[arg-type]
    cached_schedule(sink, "PYTHON", create, frozenset(sink.src))  # type: ignore[arg-type]
    assert len(made) == 3
    clear_schedules()


def test_only_the_schedules_used_last_are_kept() -> None:
    clear_schedules()
    sinks = [UOp.sink(buffer(size=n)) for n in (1, 2, 3)]
    made: list[UOp] = []

    def ask(sink: UOp) -> None:
        def create() -> object:
            made.append(sink)
            return prepare(Schedule((), (), {}))

        cached_schedule(sink, "PYTHON", create)  # type: ignore[arg-type]

    with context(CACHE_SCHEDULES=2):
        for number in (0, 1, 0, 2, 0, 1):
            ask(sinks[number])
    assert made == [sinks[0], sinks[1], sinks[2], sinks[1]]
    clear_schedules()


def test_equal_computations_on_other_memory_run_the_same_kernel() -> None:
    (first,), (second,) = schedule([put([1.0, 2.0]) * 7]), schedule([put([3.0, 4.0]) * 7])
    assert first.ast is second.ast
    assert first.ast.op is Ops.SINK
    assert first.bufs[1] is not second.bufs[1]


def test_parts_of_a_graph_are_known_to_later_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    x = put([1.0, 2.0, 3.0, 4.0])

    def deep(layers: int) -> UOp:
        value = x
        for _ in range(layers):
            value = (value.flip((0,)) * value.exp2()).contiguous()
        return value

    clear_schedules()
    first = schedule([deep(3)])
    monkeypatch.setattr(create, "loops_of", None)
    deeper = schedule([deep(5)])
    assert {item.ast for item in deeper} == {item.ast for item in first}
    clear_schedules()
    with pytest.raises(TypeError):
        schedule([deep(5)])
