from hypothesis import given
from hypothesis import strategies as st

from plugrad.schedule.memory_planner import Lifetime, plan_memory


@st.composite
def lifetimes(draw: st.DrawFn) -> list[Lifetime]:
    spans = draw(
        st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(0, 5000)), max_size=25)
    )
    return [Lifetime(first, first + length, nbytes) for first, length, nbytes in spans]


@given(lifetimes())
def test_values_that_are_alive_together_do_not_overlap(values: list[Lifetime]) -> None:
    plan = plan_memory(values)
    for i, a in enumerate(values):
        for j, b in enumerate(values[:i]):
            if a.first <= b.last and b.first <= a.last:
                apart = (
                    plan.offsets[i] + a.nbytes <= plan.offsets[j]
                    or plan.offsets[j] + b.nbytes <= plan.offsets[i]
                )
                assert apart or not a.nbytes or not b.nbytes


@given(lifetimes())
def test_every_value_lies_in_the_arena_on_a_cache_line(values: list[Lifetime]) -> None:
    plan = plan_memory(values)
    assert all(offset % 64 == 0 for offset in plan.offsets)
    assert all(o + v.nbytes <= plan.nbytes for o, v in zip(plan.offsets, values, strict=True))


@given(lifetimes())
def test_the_arena_is_no_larger_than_all_values_side_by_side_a_line_apart(values: list[Lifetime]) -> None:
    assert plan_memory(values).nbytes <= sum((v.nbytes // 64 + 1) * 64 for v in values)


def test_values_of_whole_pages_begin_in_sets_of_the_cache_of_their_own() -> None:
    offsets = plan_memory([Lifetime(0, 8, 4 << 12) for _ in range(40)]).offsets
    assert len({offset % 4096 for offset in offsets}) == 40
    assert plan_memory([Lifetime(0, 1, 1000)] * 2).offsets == (0, 1024)


def test_a_chain_needs_the_memory_of_two_neighbours() -> None:
    chain = [Lifetime(step, step + 1, 1024) for step in range(10)]
    assert plan_memory(chain).nbytes == 2048


def test_a_value_that_is_written_when_another_is_read_last_gets_other_memory() -> None:
    a, b = plan_memory([Lifetime(0, 1, 64), Lifetime(1, 2, 64)]).offsets
    assert a != b


def test_nothing_needs_nothing() -> None:
    assert plan_memory([]).nbytes == 0
