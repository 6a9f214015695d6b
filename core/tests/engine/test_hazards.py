from collections.abc import Callable

from plugrad.engine import storage
from plugrad.engine.hazards import pending_readers, readers_of
from plugrad.engine.realize import realize
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put

Hold = Callable[..., None]


def test_without_assigns_nobody_waits(hold: Hold) -> None:
    x = put([1.0])
    hold(x * 2)
    assert list(pending_readers([x + 1])) == []


def test_readers_of_what_is_overwritten_wait(hold: Hold) -> None:
    x, y = put([1.0]), put([2.0])
    reader, other, view = x * 2, y * 2, x.reshape((1, 1))
    hold(reader, other, view)
    assert list(pending_readers([x.assign(y)])) == [reader]


def test_readers_of_the_new_version_do_not_wait(hold: Hold) -> None:
    x = put([1.0])
    changed = x.assign(x + 1)
    hold(changed, changed * 2)
    assert list(pending_readers([changed])) == []


def test_readers_of_a_version_between_two_assigns_wait(hold: Hold) -> None:
    x = put([1.0])
    once = x.assign(x + 1)
    twice = once.assign(once + 1)
    reader = once * 2
    hold(reader)
    assert list(pending_readers([twice])) == [reader]


def test_readers_of_a_part_wait_for_the_whole(hold: Hold) -> None:
    x = put([1.0, 2.0])
    part = x.shrink(((0, 1),)).assign(put([5.0]))
    whole = x.after(part)
    reader = part * 2
    hold(reader)
    assert list(pending_readers([whole.assign(whole + 1)])) == [reader]


def test_assigns_of_readers_find_more_readers(hold: Hold) -> None:
    x, y = put([1.0]), put([2.0])
    second = y.assign(x * 2)
    third = y * 3
    hold(second, third)
    assert list(pending_readers([x.assign(x + 1)])) == [second, third]


def test_assigns_of_readers_find_more_readers_where_graphs_are_not_what_they_resolve_to(hold: Hold) -> None:
    x, y, z = put([1.0]), put([2.0]), put([5.0])
    # DETACH is left out of what is resolved
    first = y.assign(UOp(Ops.DETACH, z.dtype, (z,)) * -8)
    between = first * 2
    second = first.assign(x)
    hold(between, second)
    assert set(pending_readers([x.assign(x + 1)])) == {between, second}
    realize([x.assign(x + 1)])
    assert (get(between), get(second)) == (-80, 1)


def test_an_assign_to_a_version_that_reads_waits(hold: Hold) -> None:
    x, y = put([1.0, 2.0]), put([3.0, 4.0])
    once = y.assign(x * 2)
    part = once.shrink(((0, 1),)).assign(put([0.0]))
    hold(once.after(part))
    assert list(pending_readers([x.assign(x + 1)])) == [once.after(part)]


def test_values_that_were_realized_into_the_memory_are_copied(hold: Hold) -> None:
    value = put([1.0]) * 2
    realize([value])
    memory = storage.resolve(value)
    assert pending_readers([memory.assign(memory + 1)]) == {value: memory.contiguous()}
    assert readers_of([memory]) == {value: memory.contiguous()}
    realize([memory.assign(memory + 1)])
    assert (get(value), get(memory)) == (2, 3)
