"""The table of costs says how many operations the decompositions make."""

import pytest

from plugrad.codegen.decompositions import decompose
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop.op_cost import op_cost
from plugrad.uop.ops import ALU, BINARY, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

FUNCTIONS = (Ops.EXP, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW, Ops.FMOD, Ops.THREEFRY)
PLAIN = Capabilities(
    storage_dtypes=frozenset({dtypes.float32, dtypes.uint64}),
    compute_dtypes=frozenset({dtypes.float32, dtypes.uint64, dtypes.uint32, dtypes.int32}),
    native_ops=frozenset(op.name for op in ALU - set(FUNCTIONS) - {Ops.FLOORDIV, Ops.FLOORMOD}),
)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_a_function_costs_about_as_many_operations_as_it_is_lowered_to(op: Ops) -> None:
    dtype = dtypes.uint64 if op is Ops.THREEFRY else dtypes.float32
    place = UOp.const(dtypes.index, 0)
    values = [UOp(Ops.PARAM, dtype, (), (slot, 1)).index(place).load() for slot in (0, 1)]
    made = simplify(decompose(UOp.sink(UOp(op, dtype, tuple(values[: 1 + (op in BINARY)]))), PLAIN))
    # a fused multiply-add is two plain operations
    computed = sum((u.op in ALU | {Ops.CAST, Ops.BITCAST}) + (u.op is Ops.MULACC) for u in made.toposort())
    assert op_cost(op) == pytest.approx(computed, rel=0.02)


def test_what_computes_nothing_costs_nothing() -> None:
    assert op_cost(Ops.CAST) == op_cost(Ops.LOAD) == 0
