import pytest

from plugrad.codegen.linearizer import linearize, remove_unused
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.renderer import CpuRenderer, cpu_capabilities
from plugrad_cpu_clang.spilling import spilled_accumulators

CAPABILITIES = cpu_capabilities(this_machine())
i32 = dtypes.int32
out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 20)) for slot in range(2))


def loop(size: int, ident: int) -> UOp:
    like = UOp.range(size, ident, AxisType.REDUCE)
    return UOp(Ops.RANGE, i32, (UOp.const(i32, size),), like.arg)


def program_of(*results: UOp) -> list[UOp]:
    stores = (out.index(UOp.const(i32, i)).store(u) for i, u in enumerate(results))
    return remove_unused(linearize(UOp.sink(*stores), CAPABILITIES))


def sum_of_sums(number: int) -> UOp:
    o, s = loop(16, 0), loop(256, 1)
    value = x.index((o * 256 + s) * 4 + number).load()
    return value.reduce(Ops.ADD, s).reduce(Ops.ADD, o)


def outermost(program: list[UOp]) -> set[UOp]:
    """Return the accumulators that are declared before the first loop."""
    first = next(i for i, u in enumerate(program) if u.op is Ops.RANGE)
    return {u for u in program[:first] if u.op is Ops.DEFINE_ACC}


def test_sums_of_pieces_wait_where_registers_are_short() -> None:
    program = program_of(*map(sum_of_sums, range(3)))
    assert len(outermost(program)) == 3
    # three wait while three change, and the factors of a step take four
    assert spilled_accumulators(program, 9) == outermost(program)
    assert spilled_accumulators(program, 10) == frozenset()


def test_a_plain_sum_waits_for_nothing() -> None:
    k = loop(4096, 0)
    assert spilled_accumulators(program_of(x.index(k).load().reduce(Ops.ADD, k)), 0) == frozenset()


def test_a_sum_that_is_stored_before_the_next_loop_does_not_wait() -> None:
    k, m = loop(64, 0), loop(64, 1)
    alone = [x.index(k).load().reduce(Ops.ADD, k), x.index(m + 64).load().reduce(Ops.ADD, m)]
    names = [u.op for u in program_of(*alone)]
    assert names.index(Ops.STORE) < len(names) - 1 - names[::-1].index(Ops.RANGE)
    assert spilled_accumulators(program_of(*alone), 0) == frozenset()


@pytest.mark.parametrize(("count", "is_kept"), [(2, False), (40, True)])
def test_what_waits_is_declared_to_be_in_memory(count: int, is_kept: bool) -> None:
    program = program_of(*map(sum_of_sums, range(count)))
    source = CpuRenderer(CAPABILITIES).render(program, "sums")
    assert ("volatile float" in source) == is_kept
