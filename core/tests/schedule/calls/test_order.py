import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.calls.order import VersionConflict, order
from plugrad.uop.uop import UOp

KERNEL = UOp.sink()


def buffer() -> UOp:
    return UOp.new_buffer("PYTHON", (4,), dtypes.float32)


def call(root: UOp, *reads: UOp, target: UOp | None = None) -> KernelCall:
    return KernelCall(KERNEL, (), root, reads, target, "PYTHON")


def ordered(*calls: KernelCall) -> list[UOp]:
    graph = UOp.sink(*(c.root for c in calls)).toposort()
    return [c.root for c in order(calls, graph)]


def test_a_value_is_computed_before_it_is_read() -> None:
    a = buffer() + 1
    b = a * 2
    assert ordered(call(b, a), call(a)) == [a, b]


def test_independent_calls_keep_their_order() -> None:
    roots = [buffer() + i for i in range(5)]
    assert ordered(*map(call, roots)) == roots


def test_the_last_reader_of_much_memory_comes_first() -> None:
    large = UOp.new_buffer("PYTHON", (100,), dtypes.float32) + 1
    small, other = large.shrink(((0, 1),)) * 2, buffer() * 3
    reader = KernelCall(KERNEL, (small, large), small, (large,), None, "PYTHON")
    calls = [KernelCall(KERNEL, (large,), large, (), None, "PYTHON"), call(other), reader]
    assert ordered(*calls) == [large, small, other]
    # what stays anyway is not freed by reading it
    graph = UOp.sink(small, other).toposort()
    assert [c.root for c in order(calls, graph, {large})] == [large, other, small]


def test_a_call_waits_for_what_it_does_not_read() -> None:
    a, b = buffer() + 1, buffer() + 2
    waiting = KernelCall(KERNEL, (), a, (), None, "PYTHON", (b,))
    assert ordered(waiting, call(b)) == [b, a]


def test_a_version_is_written_before_it_is_read() -> None:
    x = buffer()
    one = x.assign(x + 1)
    reader = one * 2
    assert ordered(call(reader, one), call(one, x, target=x)) == [one, reader]


def test_a_version_is_read_before_it_is_overwritten() -> None:
    x = buffer()
    one = x.assign(x + 1)
    reader = x * 2
    assert ordered(call(one, x, target=x), call(reader, x)) == [reader, one]


def test_writes_run_one_after_the_other() -> None:
    x = buffer()
    one = x.assign(x + 1)
    two = one.assign(buffer() + 0)
    reader = one * 2
    assert ordered(call(two, target=one), call(reader, one), call(one, x, target=x)) == [one, reader, two]


def test_parts_are_written_before_the_whole_is_read() -> None:
    x = buffer()
    low = x.shrink(((0, 2),)).assign(x.shrink(((2, 4),)) + 1)
    high = x.shrink(((2, 4),)).assign(low)
    whole = x.after(low, high)
    reader = whole * 2
    assert ordered(call(reader, whole), call(high, low, target=x), call(low, x, target=x)) == [
        low,
        high,
        reader,
    ]


def test_a_reader_of_one_part_runs_before_the_next_write() -> None:
    x = buffer()
    low = x.shrink(((0, 2),)).assign(x.shrink(((2, 4),)) + 1)
    reader = low * 2
    after = x.after(low)
    two = after.assign(after + 1)
    assert ordered(call(two, after, target=after), call(reader, low), call(low, x, target=x)) == [
        low,
        reader,
        two,
    ]


def test_swapping_is_a_conflict() -> None:
    a, b = buffer(), buffer()
    into_a, into_b = a.assign(b), b.assign(a)
    with pytest.raises(VersionConflict) as caught:
        ordered(call(into_a, b, target=a), call(into_b, a, target=b))
    assert caught.value.versions == {a, b}


def test_a_write_that_reads_an_older_version_is_a_conflict() -> None:
    x = buffer()
    one = x.assign(x + 1)
    two = one.assign(x + one)
    with pytest.raises(VersionConflict) as caught:
        ordered(call(one, x, target=x), call(two, x, one, target=one))
    assert x in caught.value.versions


def test_a_reader_of_two_versions_is_a_conflict_that_names_the_older() -> None:
    x = buffer()
    changed = x.assign(x + 1)
    both = x + changed
    with pytest.raises(VersionConflict) as caught:
        ordered(call(changed, x, target=x), call(both, x, changed))
    assert caught.value.versions == {x}
