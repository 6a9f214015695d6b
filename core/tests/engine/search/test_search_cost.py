"""Tests of what plugrad.engine.search.search takes a program to cost."""

from plugrad.codegen.lower import lower
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.engine.search.search import program_cost
from plugrad.target import Capabilities
from plugrad.uop.ops import KernelInfo, Ops
from plugrad.uop.uop import UOp

LOOPS = Capabilities(
    frozenset(STORABLE), frozenset(STORABLE), vector_bits=256, threads=4, native_ops=frozenset({"FDIV"})
)


def doubled(size: int) -> UOp:
    i = UOp.range(size, 0)
    source, out = (UOp(Ops.PARAM, dtypes.float32, (), (slot, size)) for slot in (1, 0))
    return UOp.sink(out.index(i).store(source.index(i).load() * 2, i), arg=KernelInfo())


def cost(size: int, *opts: Opt) -> float:
    return program_cost(lower(doubled(size), LOOPS, opts).program)


def test_each_step_costs_a_load_an_operation_and_a_store() -> None:
    assert cost(64) == 64 * 3


def test_a_vector_costs_as_much_as_an_element() -> None:
    assert cost(64, Opt(OptOps.UPCAST, (0,), 8)) < cost(64) / 3


def test_pieces_for_threads_are_as_much_work_as_one_loop() -> None:
    assert cost(64, Opt(OptOps.THREAD, (0,), 4)) >= cost(64)
