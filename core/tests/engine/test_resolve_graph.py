from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.engine.resolve_graph import overwritten_below, resolve_graph, resolved_nodes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_a_graph_resolves_to_memory_where_values_are_realized() -> None:
    x = put([1.0])
    inner = x + 1
    outer = (inner * 2).detach()
    realize([inner])
    found = resolve_graph(outer)[outer]
    assert found is storage.resolve(inner) * 2
    assert found.src[0].op is Ops.BUFFER


def test_resolving_a_very_deep_graph_needs_no_recursion() -> None:
    value = put([1.0])
    for _ in range(20_000):
        value = value + 1
    assert resolve_graph(value)[value] is value


def test_a_graph_of_memory_alone_is_resolved_in_the_order_of_a_walk() -> None:
    x, y = put([1.0]), put([2.0])
    roots = [(x + y) * x, (y * y).contiguous()]
    nodes = resolved_nodes(roots)
    assert nodes is not None
    value = UOp.sink(*roots)
    assert [*nodes, value] == list(value.toposort())
    assert nodes | {value: value} == resolve_graph(value)


def test_what_lies_in_memory_is_overwritten_or_waits_has_to_be_resolved() -> None:
    x = put([1.0])
    inner = x + 1
    assert resolved_nodes([inner * 2]) is not None
    realize([inner])
    assert resolved_nodes([inner * 2]) is None
    assert resolved_nodes([x.detach() * 2]) is None
    assert resolved_nodes([x.assign(x * 3)]) is None
    reader = x * 5
    realize([x.assign(x + 1)])
    assert resolved_nodes([reader]) is None


def test_a_detached_value_in_a_graph_needs_no_resolving() -> None:
    detached = (put([1.0]) * 3).detach()
    nodes = resolved_nodes([detached * 2])
    assert nodes is not None
    assert detached in nodes


def test_what_reads_overwritten_memory_is_found() -> None:
    x, y = put([1.0]), put([2.0])
    once = x.assign(x + 1)
    later = (once * 2) + y
    assert overwritten_below(later) is None
    realize([once])
    assert overwritten_below(later) is None
    assert overwritten_below(x * 2) is x
    now = storage.resolve(x)
    realize([now.assign(now + 1)])
    assert overwritten_below(later) is once
    assert overwritten_below(storage.resolve(x) + y) is None
    assert overwritten_below(x.assign(y)) is None


def test_a_version_that_a_later_one_of_its_schedule_overwrites_is_overwritten() -> None:
    x = put([1.0, 2.0])
    once = x.assign(x + 1)
    part = once.after(once.shrink(((0, 1),)).assign(once.shrink(((1, 2),)) * 10))
    twice = part.assign(part * 2)
    before, between, after = once * 3, part * 3, twice * 3
    realize([twice])
    assert get(twice).tolist() == [60.0, 6.0]
    assert overwritten_below(before) is once
    assert overwritten_below(between) is part
    assert overwritten_below(after) is None
    assert storage.resolve(once) is storage.resolve(part) is storage.resolve(twice)
